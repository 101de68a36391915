"""The agent's side: commands that are killed at any moment and made again until they have an answer.

Most of them speak the local socket as `pedelec-cli` does; some are real processes.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.chaos.ledger import Ledger
from tests.chaos.pages import LIMIT_MS, MOMENT, STALE_SECONDS
from tests.chaos.schedules import Act, Schedule
from tests.harness.core_process import clean_environment

TIMEOUT_MS = 25_000
_CLI = Path(sys.executable).parent / "pedelec-cli"


class CommandDiedError(Exception):
    """The command was killed, or Core went: the agent has seen no answer."""


class Agent:
    """Makes its calls one after the other; the first command dies as the schedule says."""

    def __init__(self, schedule: Schedule, state_dir: Path, ledger: Ledger) -> None:
        self._schedule = schedule
        self._state_dir = state_dir
        self._ledger = ledger

    async def run(self, session_id: str, *, steady_core: bool) -> None:
        """Act twice side by side, and once more; then once again exactly as before, which is to run anew.

        Not where Core may have died before it took note of the acknowledgement: there it may be a replay.
        """
        keys = [f"{self._schedule.seed}.{number}" for number in range(3)]
        await asyncio.gather(*(self._act(session_id, key, first=key == keys[0]) for key in keys[:2]))
        if any(fault.act is Act.STALE for fault in self._schedule.frame_faults):
            await asyncio.sleep(STALE_SECONDS)  # what is stale has its effect now, if it has one
        await self._act(session_id, keys[2])
        if steady_core and self._schedule.handler != "slow":
            await self._act(session_id, keys[2])

    async def _act(self, session_id: str, key: str, *, first: bool = False) -> None:
        self._ledger.allowed_runs[key] += 1
        dies = self._schedule.agent_dies if first else None
        answer = None
        while answer is None:
            try:
                answer = await self._attempt(
                    session_id, key, dies, real=first and self._schedule.real_command
                )
            except (CommandDiedError, OSError):
                await asyncio.sleep(MOMENT / 5)
            dies = None
        self._ledger.answers[key] = answer
        if self._schedule.handler == "slow" and not answer["ok"] and self._ledger.has_started(key):
            self._ledger.late[key] = await self._late(answer["invocationId"])

    async def _attempt(self, session_id: str, key: str, dies: str | None, *, real: bool) -> Any:
        args = json.dumps({"key": key})
        timeout_ms = LIMIT_MS if self._schedule.handler == "slow" else TIMEOUT_MS
        if real:
            words = ["--thread-id", session_id, "tool-call", self._schedule.tool, args]
            return await self._real(key, dies, *words, "--timeout-ms", str(timeout_ms))
        request = {
            "type": "tool_call",
            "threadId": session_id,
            "tool": self._schedule.tool,
            "argsText": args,
            "timeoutMs": timeout_ms,
        }
        return await self._spoken(key, dies, request)

    async def _late(self, invocation_id: str) -> Any:
        """What the late result is; a page that is gone has none."""
        answer: Any = None
        for _ in range(200):
            with contextlib.suppress(CommandDiedError, OSError):
                answer = await self._spoken("", None, {"type": "tool_result", "invocationId": invocation_id})
                if answer["ok"] or self._schedule.loses_pages:
                    return answer
            await asyncio.sleep(MOMENT / 2)
        return answer

    async def _spoken(self, key: str, dies: str | None, request: dict[str, Any]) -> Any:
        """One request over the local socket."""
        reader, writer = await asyncio.open_unix_connection(self._state_dir / "core.sock", limit=1 << 24)
        try:
            line = json.dumps(request).encode() + b"\n"
            writer.write(line[: len(line) // 2] if dies == "connected" else line)
            await self._live_until(dies, key)
            while not (answer := await reader.readline()).startswith(b'{"ok"'):
                if not answer.endswith(b"\n"):
                    raise CommandDiedError
            if dies == "before_output":
                raise CommandDiedError
            if dies != "after_output":
                writer.write(b'{"type":"acknowledge"}\n')
            return json.loads(answer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _real(self, key: str, dies: str | None, *words: str) -> Any:
        """One `pedelec-cli` process, killed at its moment; `before_output` it finds that nobody reads it."""
        stdout = _closed_pipe() if dies == "before_output" else asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            _CLI,
            *words,
            env=clean_environment(PEDELEC_STATE_DIR=str(self._state_dir)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=stdout,
        )
        if process.stdout is None:
            os.close(stdout)
            await process.wait()
            raise CommandDiedError
        try:
            await self._live_until(dies, key)
            answer = await process.stdout.readline()
        except CommandDiedError:
            _kill(process)
            answer = await process.stdout.readline()  # what it has written, the agent has
        if dies == "after_output":
            _kill(process)
        await process.communicate()
        if not answer or b"CORE_RUNTIME_UNAVAILABLE" in answer:
            raise CommandDiedError
        return json.loads(answer)

    async def _live_until(self, dies: str | None, key: str) -> None:
        if dies in {"connected", "sent"}:
            raise CommandDiedError
        if dies in {"started", "finished"}:
            # It never starts where the page was reloaded just then.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(until(lambda: self._ledger.has_started(key)), 10 * MOMENT)
            if dies == "finished":
                await asyncio.sleep(MOMENT)
            raise CommandDiedError


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def _closed_pipe() -> int:
    """A pipe's writing end without a reader."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what has no event."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(MOMENT / 20)
