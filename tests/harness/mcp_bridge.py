"""The bridge as a process, spoken to line by line.

with Bridge(core.state_dir) as bridge:
    bridge.shake_hands()
    bridge.send(id=1, method="tools/list")
    bridge.answer(1)
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.harness import error_rules, log_rules
from tests.harness.core_process import clean_environment
from tests.harness.mcp_client import bridge_command

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message_line(**message: Any) -> bytes:
    """A message of JSON-RPC as its line."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def handshake(**capabilities: Any) -> list[bytes]:
    """What a client of 2025-11-25 says first, its request having the id 0."""
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info}
    return [
        message_line(id=0, method="initialize", params=params),
        message_line(method="notifications/initialized"),
    ]


class Bridge:
    """The bridge, with its stdin and stdout in our hands; `parent` is a command that starts it."""

    def __init__(self, state_dir: Path, *args: str, parent: Sequence[str] = ()) -> None:
        self._command = [*parent, *bridge_command(state_dir, *args)]
        self.process: subprocess.Popen[bytes]

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        _, log = self.process.communicate()
        if error is None:
            log_rules.check(log.decode())

    def send(self, **message: Any) -> None:
        self.write(message_line(**message))

    def write(self, data: bytes) -> None:
        """Write what may be no message."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        result, error = message.get("result") or {}, message.get("error") or {}
        error_rules.record_mcp(result.get("structuredContent"), error.get("data"))
        return message

    def answer(self, request_id: int) -> Any:
        """The answer to a request; notifications before it are passed over."""
        while (message := self.read()).get("id") != request_id:
            assert "id" not in message, message
        return message

    def next(self, method: str) -> Any:
        """The next message of a method; other notifications before it are passed over."""
        while (message := self.read()).get("method") != method:
            assert "id" not in message, message
        return message

    def ask(self, method: str, **params: Any) -> Any:
        """A request of 2026-07-28, and its answer."""
        self.send(id=1, method=method, params={**params, "_meta": ENVELOPE})
        return self.read()

    def shake_hands(self, **capabilities: Any) -> Any:
        """The handshake of 2025-11-25; gives what the server says of itself."""
        hello, initialized = handshake(**capabilities)
        self.write(hello)
        answer = self.read()
        self.write(initialized)
        return answer["result"]
