"""The agent's side of Core: the local socket, over connections that stay open.

Speaks the lines that `docs/protocol.md` describes, and acknowledges as `pedelec-cli` does. No two calls have
equal arguments, since an equal call that is not acknowledged yet would be answered by the first.
"""

import itertools
import json
import selectors
import socket
import statistics
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

WAIT_SECONDS = 30.0

_ACKNOWLEDGE = b'{"type":"acknowledge"}\n'
_numbers = itertools.count(1)


class AgentConnection:
    """One connection, one request at a time."""

    def __init__(self, socket_path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(WAIT_SECONDS)
        self.socket.connect(socket_path)
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def start_call(self, tool: str, thread_id: str) -> None:
        """Send a call; `finish_call` reads its answer."""
        args = json.dumps({"n": next(_numbers), "text": "hello"})
        request = {"type": "tool_call", "threadId": thread_id, "tool": tool, "argsText": args}
        self._send(request)

    def finish_call(self) -> Any:
        """Read the answer of the call that runs; returns its result.

        Raises:
            RuntimeError: the answer is an error.
            TimeoutError: there is none.
        """
        answer = json.loads(self._receive())
        if not answer["ok"]:
            raise RuntimeError(f"{answer['error']['code']}: {answer['error']['message']}")
        return answer["result"]

    def acknowledge(self) -> None:
        """Tell Core that the last answer is in hand."""
        self.socket.sendall(_ACKNOWLEDGE)

    def _send(self, request: dict[str, str]) -> None:
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def _receive(self) -> bytes:
        while b"\n" not in self._pending:
            try:
                chunk = self.socket.recv(65536)
            except TimeoutError:
                raise TimeoutError(f"Core did not answer within {WAIT_SECONDS:g} s.") from None
            if not chunk:
                raise RuntimeError("Core hung up.")
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line


def median_call_ms(agent: AgentConnection, tool: str, thread_id: str, calls: int) -> float:
    """The median duration of calls that are made one after the other, in milliseconds."""
    taken = []
    for _ in range(calls):
        started = time.perf_counter()
        agent.start_call(tool, thread_id)
        agent.finish_call()
        taken.append(time.perf_counter() - started)
        agent.acknowledge()
    return _median_ms(taken)


def calls_per_second(
    agents: Sequence[AgentConnection], tool: str, threads: Sequence[str], calls: int
) -> float:
    """How many calls get their answer in a second while each connection always has one running.

    Args:
        agents: one for each call in flight.
        tool: an echo tool that all sessions have.
        threads: the sessions over which the connections are spread evenly.
        calls: how many calls to make in all.
    """
    thread_of = {agent: threads[index % len(threads)] for index, agent in enumerate(agents)}
    with selectors.DefaultSelector() as selector:
        for agent in agents:
            selector.register(agent.socket, selectors.EVENT_READ, agent)
        begun = time.perf_counter()
        for agent in agents:
            agent.start_call(tool, thread_of[agent])
        started, finished = len(agents), 0
        while finished < calls:
            ready = selector.select(WAIT_SECONDS)
            if not ready:
                raise TimeoutError("A call got no answer.")
            for key, _ in ready:
                agent = key.data
                agent.finish_call()
                agent.acknowledge()
                finished += 1
                if started < calls:
                    started += 1
                    agent.start_call(tool, thread_of[agent])
        return calls / (time.perf_counter() - begun)


def _median_ms(seconds: Sequence[float]) -> float:
    return statistics.median(seconds) * 1000
