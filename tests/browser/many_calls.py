"""Many calls in little time: over Core's local socket, without a process for each.

`docs/protocol.md`, "The local socket", is what this speaks.
"""

import json
import socket
from typing import Any

from tests.harness import CoreProcess

WAIT_SECONDS = 20.0


def call_many(core: CoreProcess, thread: str, tool: str, count: int) -> list[Any]:
    """Call a tool `count` times, one after the other, with `{"n": …}`; the results."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(WAIT_SECONDS)
        connection.connect(core.runtime["socket"])
        lines = connection.makefile("rwb")
        return [_call(lines, thread, tool, {"n": n}) for n in range(count)]


def _call(lines: Any, thread: str, tool: str, args: dict[str, int]) -> Any:
    _write(lines, {"type": "tool_call", "threadId": thread, "tool": tool, "argsText": json.dumps(args)})
    while "type" in (answer := json.loads(lines.readline())):
        continue  # progress
    assert answer["ok"] is True, answer
    _write(lines, {"type": "acknowledge"})
    return answer["result"]


def _write(lines: Any, request: dict[str, Any]) -> None:
    lines.write(json.dumps(request).encode() + b"\n")
    lines.flush()
