"""What the SDK does while a person is asked about the page's origin, and where it does not get to Core."""

import asyncio

import pytest

from pedelec import Pedelec, PedelecError
from tests.unit.sdk.scripted_core import Json, ScriptedCore, open_session, refused, settle


@pytest.fixture
async def core() -> ScriptedCore:
    return ScriptedCore()


@pytest.fixture(autouse=True)
def _reconnect_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", 0.0)


def pending(frame: Json, timeout_ms: int) -> Json:
    return {"type": "approval_pending", "requestId": frame["requestId"], "timeoutMs": timeout_ms}


async def test_a_request_that_waits_for_a_person_outlasts_the_usual_limit(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: pending(frame, 60_000)
    opening = asyncio.create_task(open_session(core, bridge_timeout_ms=10))
    await core.until(lambda: bool(core.sent("create_session")))
    await settle()
    assert core.host.reports == [("approval", 0, 1)]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.03):
            await asyncio.shield(opening)
    (frame,) = core.sent("create_session")
    core.send(
        {"type": "response", "requestId": frame["requestId"], "ok": True, "result": {"sessionId": "s1"}}
    )
    assert (await opening).session_id == "s1"
    assert core.host.reports == [("approval", 0, 1), ("approval", 1, 1)]


async def test_a_person_who_says_no_or_nothing_is_told_as_core_told_it(core: ScriptedCore) -> None:
    for code in ("APPROVAL_REJECTED", "APPROVAL_TIMEOUT"):

        def answer(frame: Json, code: str = code) -> Json:
            core.send(pending(frame, 60_000))
            return refused(frame, code, details={"origin": "https://a.example"})

        core.answers["create_session"] = answer
        with pytest.raises(PedelecError) as caught:
            await open_session(core)
        assert caught.value.code == code
        assert "pedelec-core approve https://a.example" in str(caught.value.to_wire()["recoverySteps"])


async def test_core_that_never_answers_after_all_is_given_up(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: pending(frame, 10)
    with pytest.raises(PedelecError) as caught:
        await open_session(core, bridge_timeout_ms=20)
    assert caught.value.code == "SDK_BRIDGE_TIMEOUT"


@pytest.mark.parametrize("code", ["LOCAL_NETWORK_DENIED", "CREATE_SESSION_NOT_APPROVED"])
async def test_what_keeps_the_page_from_core_is_raised(core: ScriptedCore, code: str) -> None:
    core.refuse_connections = True
    core.host.obstacle = PedelecError(code, "The browser says no.")
    with pytest.raises(PedelecError) as caught:
        await open_session(core)
    assert (caught.value.code, caught.value.message) == (code, "The browser says no.")


async def test_a_page_without_permission_has_nothing_installed(core: ScriptedCore) -> None:
    core.refuse_connections = True
    core.host.obstacle = PedelecError("LOCAL_NETWORK_DENIED", details={"page": "https://a.example"})
    status = await Pedelec(host=core.host).get_approval_status()
    assert status == {"installed": False, "approved": False, "origin": None, "appConnected": False}


async def test_without_a_known_reason_core_is_unavailable(core: ScriptedCore) -> None:
    core.refuse_connections = True
    with pytest.raises(PedelecError) as caught:
        await open_session(core)
    assert caught.value.code == "CORE_RUNTIME_UNAVAILABLE"


async def test_a_session_whose_origin_was_revoked_while_the_page_was_away_ends(core: ScriptedCore) -> None:
    session = await open_session(core)
    ended = asyncio.Event()
    session.on_ended(ended.set)
    core.answers["resume_session"] = lambda frame: refused(frame, "CREATE_SESSION_NOT_APPROVED")
    core.transport.core_close("cut")
    async with asyncio.timeout(10):
        await ended.wait()
    assert session.get_status() == "ended"
