"""Connections that break, frames that come twice, answers that are lost: every call still runs once."""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from tests.unit.sdk.scripted_core import ScriptedCore, ok, open_session, settle

CALLS = 12


class ForgetfulCore(ScriptedCore):
    """Repeats what was not answered when a page resumes, and loses some confirmations.

    Counts results as Core does: by the call, so that one which comes twice counts once.
    """

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self.calls: dict[str, tuple[int, str]] = {}
        self.results: dict[str, Any] = {}
        self.answers["resume_session"] = self._resume
        self.answers["submit_tool_result"] = self._submit

    def call_once(self) -> None:
        call_id = self.send_call(args={"n": len(self.calls)})
        self.calls[call_id] = (len(self.calls), call_id)

    def _resume(self, frame: dict[str, Any]) -> None:
        self.send(ok(frame, sessionId="s1"))
        for number, call_id in self.calls.values():
            if call_id not in self.results:
                self.send_call(args={"n": number}, toolRequestId=call_id)

    def _submit(self, frame: dict[str, Any]) -> dict[str, Any] | None:
        previous = self.results.setdefault(frame["toolRequestId"], frame["result"])
        assert previous == frame["result"]
        return ok(frame) if self._chance.random() < 0.7 else None


@pytest.mark.parametrize("seed", range(25))
async def test_every_call_runs_once_and_its_result_arrives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", 0.0)
    chance = random.Random(seed)
    core = ForgetfulCore(chance)
    session = await open_session(core)
    runs: Counter[int] = Counter()

    async def handler(args: Any) -> int:
        runs[args["n"]] += 1
        for _ in range(chance.randrange(8)):
            await asyncio.sleep(0)
        return int(args["n"])

    session.on_tool("probe_tool", handler)
    for _ in range(CALLS):
        core.transport.copies = chance.choice([1, 1, 2])
        core.call_once()
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        if chance.random() < 0.4:
            core.transport.core_close("cut")
    core.transport.core_close("cut")
    await core.until(lambda: len(core.results) == CALLS)
    await settle()
    assert runs == Counter(range(CALLS))
    assert core.results == {call_id: number for number, call_id in core.calls.values()}
    assert session.get_status() == "idle"
