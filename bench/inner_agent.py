"""Core with an agent inside its own process, for what begins and ends at Core's agent side (`AgentDesk`).

Every way that agents come, the local socket as well as MCP, ends there; what a way costs by itself is another
figure. Run as a module (`python -m bench.inner_agent STATE_DIR SITE`) it is that process: it tells that it is
ready, then answers each line of stdin, a `Measure` as JSON, with a number. Its local socket is open, too.
"""

import asyncio
import contextlib
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from bench.browsers import ROOT
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.limits import with_settings
from pedelec_core.main import set_up_logging
from pedelec_core.server.run import Core, ServeOptions, prepared
from tests.harness import WITHOUT_RATES

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What to measure: with one call in flight its median in milliseconds, with more the calls a second.

    The calls are spread evenly over the sessions in `threads`.
    """

    tool: str
    threads: Sequence[str]
    calls: int
    in_flight: int = 1


class InnerAgent:
    """That process, seen from outside. Made by `core_with_agent`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asking: IO[str] = process.stdin
        self._telling: IO[str] = process.stdout
        self.pid = process.pid
        ready = self._read()
        self.url: str = ready["url"]
        self.socket: str = ready["socket"]

    def measure(self, what: Measure) -> float:
        """Carry out a measurement."""
        self._asking.write(json.dumps(asdict(what)) + "\n")
        self._asking.flush()
        return float(self._read())

    def _read(self) -> "dict[str, str] | float":
        line = self._telling.readline()
        if not line:
            raise RuntimeError("Core with an agent inside has ended: its log says why.")
        return json.loads(line)  # type: ignore[no-any-return]


@contextlib.contextmanager
def core_with_agent(state_dir: Path, site: Path) -> Iterator[InnerAgent]:
    """Such a Core as a process of its own, for as long as the context lasts."""
    command = [sys.executable, "-m", "bench.inner_agent", str(state_dir), str(site)]
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(state_dir.with_name(f"{state_dir.name}.log").open("ab"))
        pipe = subprocess.PIPE
        process = stack.enter_context(
            subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=log, text=True)
        )
        stack.callback(process.kill)
        yield InnerAgent(process)


async def _serve(core: Core) -> None:
    async with core.running() as running:
        print(json.dumps({"url": running.info.url, "socket": running.info.socket}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            what = Measure(**json.loads(line))
            measure = _median_ms if what.in_flight == 1 else _calls_per_second
            print(await measure(running.desk, what), flush=True)


async def _median_ms(desk: AgentDesk, what: Measure) -> float:
    taken = []
    for index in range(what.calls):
        started = time.perf_counter()
        invocation_id = await _call(desk, what.tool, what.threads[index % len(what.threads)])
        taken.append(time.perf_counter() - started)
        desk.acknowledge(invocation_id)
    return statistics.median(taken) * 1000


async def _calls_per_second(desk: AgentDesk, what: Measure) -> float:
    threads = itertools.cycle(what.threads)
    left = iter(range(what.calls))

    async def call_for_each(thread: str) -> None:
        for _ in left:
            desk.acknowledge(await _call(desk, what.tool, thread))

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as workers:
        for thread in itertools.islice(threads, what.in_flight):
            workers.create_task(call_for_each(thread))
    return what.calls / (time.perf_counter() - begun)


async def _call(desk: AgentDesk, tool: str, thread_id: str) -> str:
    """One call, its answer read as far as any way into Core reads it; returns its invocation's id."""
    args = json.dumps({"n": next(_numbers), "text": "hello"})
    running = desk.begin(ToolCallRequest(thread_id=thread_id, tool=tool, args_text=args))
    try:
        answer = await running.answer()
    finally:
        running.leave()
    if not answer.to_wire()["ok"]:
        raise RuntimeError(f"The call failed: {answer.answer.outcome.error}")
    return answer.invocation_id


def main(state_dir: str, site: str) -> None:
    """Serve and measure until stdin ends."""
    set_up_logging()
    limits = with_settings([word for word in WITHOUT_RATES if word != "--limit"])
    folders = {"state_dir": Path(state_dir), "site": Path(site)}
    with prepared(ServeOptions(host="127.0.0.1", port=0, limits=limits, **folders)) as core:
        asyncio.run(_serve(core))


if __name__ == "__main__":
    main(*sys.argv[1:])
