"""The client: connecting, asking, losing the connection and finding it again."""

import asyncio
from typing import Any

import pytest

from pedelec import Pedelec, PedelecError, PedelecSession, define_tool
from pedelec import switchboard as switchboard_module
from pedelec.outbox import MAX_ENTRIES, Outbox
from pedelec.switchboard import Switchboard
from tests.unit.sdk.scripted_core import ScriptedCore, ok, open_session, refused, settle


@pytest.fixture
async def core() -> ScriptedCore:
    return ScriptedCore()


@pytest.fixture(autouse=True)
def _reconnect_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", 0.0)


def code_of(caught: pytest.ExceptionInfo[PedelecError]) -> str:
    return caught.value.code


async def lose_and_find(core: ScriptedCore) -> None:
    before = len(core.transports)
    core.transport.core_close("cut")
    await core.until(lambda: len(core.transports) > before and bool(core.frames[-1:]))
    await settle()


# --- options


@pytest.mark.parametrize(
    "options",
    [
        {"core_url": 5},
        {"app_name": b"x"},
        {"bridge_timeout_ms": 0},
        {"bridge_timeout_ms": True},
        {"bridge_timeout_ms": 1.5},
        {"max_result_bytes": -1},
    ],
)
async def test_options_that_cannot_be_are_refused(core: ScriptedCore, options: Any) -> None:
    with pytest.raises(PedelecError) as caught:
        Pedelec(host=core.host, **options)
    assert code_of(caught) == "INVALID_INPUT"
    assert caught.value.details == {"field": next(iter(options))}


def test_outside_a_page_a_host_is_needed() -> None:
    with pytest.raises(PedelecError) as caught:
        Pedelec()
    assert code_of(caught) == "NOT_SUPPORTED"


async def test_a_client_connects_when_it_is_first_needed(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    await settle()
    assert core.transports == []
    await client.get_approval_status()
    assert [frame["type"] for frame in core.frames] == ["hello", "get_approval_status"]


# --- requests


async def test_create_session_tells_core_everything(core: ScriptedCore) -> None:
    tool = define_tool(name="a", description="A.", args_schema={"type": "object"})
    client = Pedelec(host=core.host, app_name="Board")
    session = await client.createSession("Be kind.", [tool], auto_end_on_disconnect=False)
    assert session.session_id == "s1"
    assert core.sent("create_session") == [
        {
            "type": "create_session",
            "requestId": "r1",
            "guidance": "Be kind.",
            "tools": [tool.to_wire()],
            "autoEndOnDisconnect": False,
            "appName": "Board",
        }
    ]


@pytest.mark.parametrize(
    "arguments",
    [{"guidance": 5}, {"tools": 5}, {"auto_end_on_disconnect": "yes"}, {"auto_end_on_disconnect": None}],
)
async def test_create_session_refuses_before_core_is_asked(core: ScriptedCore, arguments: Any) -> None:
    with pytest.raises(PedelecError) as caught:
        await Pedelec(host=core.host).create_session(**arguments)
    assert code_of(caught) == "INVALID_INPUT"
    assert core.frames == []


async def test_an_answer_without_a_session_is_a_protocol_error(core: ScriptedCore) -> None:
    core.answers["create_session"] = ok
    with pytest.raises(PedelecError) as caught:
        await open_session(core)
    assert code_of(caught) == "SDK_PROTOCOL_ERROR"


async def test_what_core_refuses_is_raised_as_it_was_told(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: refused(frame, "CREATE_SESSION_NOT_APPROVED", "Ask.")
    with pytest.raises(PedelecError) as caught:
        await open_session(core)
    assert (code_of(caught), caught.value.message) == ("CREATE_SESSION_NOT_APPROVED", "Ask.")


@pytest.mark.parametrize("session_id", ["", " ", None, 5])
async def test_resume_needs_an_id(core: ScriptedCore, session_id: Any) -> None:
    with pytest.raises(PedelecError) as caught:
        await Pedelec(host=core.host).resumeSession(session_id)
    assert code_of(caught) == "INVALID_INPUT"


async def test_a_resumed_session_runs_calls_with_handlers_set_afterwards(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    session = await client.resume_session("s1")
    waiting = core.send_call("a")
    await settle()
    session.on_tool("a", lambda: 1)
    assert await core.result_of(waiting) == 1
    assert core.sent("resume_session")[0] == {
        "type": "resume_session", "requestId": "r1", "sessionId": "s1", "lastSeq": 0,
    }  # fmt: skip


async def test_resuming_a_session_that_is_here_gives_the_same_object(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    session = await client.create_session()
    assert await client.resume_session("s1") is session


async def test_a_call_right_behind_the_answer_is_not_lost(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    answers = core.answers["create_session"]

    def answer_and_call(frame: Any) -> None:
        core.send(answers(frame) or {})
        core.send_call("a")

    core.answers["create_session"] = answer_and_call
    session = await client.create_session()
    session.on_tool("a", lambda: "here")
    assert await core.result_of("t1") == "here"


async def test_a_request_without_an_answer_times_out(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: None
    with pytest.raises(PedelecError) as caught:
        await open_session(core, bridge_timeout_ms=10)
    assert code_of(caught) == "SDK_BRIDGE_TIMEOUT"
    assert caught.value.error_class == "retryable"


async def test_a_late_answer_is_nobodys(core: ScriptedCore) -> None:
    core.answers["get_approval_status"] = lambda frame: None
    client = Pedelec(host=core.host, bridge_timeout_ms=1)
    with pytest.raises(PedelecError):
        await client.get_approval_status()
    core.send(ok(core.sent("get_approval_status")[0]))
    await settle()


async def test_without_core_the_first_request_fails_at_once(core: ScriptedCore) -> None:
    core.refuse_connections = True
    client = Pedelec("http://127.0.0.1:7420", host=core.host)
    with pytest.raises(PedelecError) as caught:
        await client.create_session()
    assert code_of(caught) == "CORE_RUNTIME_UNAVAILABLE"
    assert "http://127.0.0.1:7420" in caught.value.message
    assert await client.getApprovalStatus() == {
        "installed": False, "approved": False, "origin": None, "appConnected": False,
    }  # fmt: skip
    core.refuse_connections = False
    await client.create_session()


async def test_a_refused_handshake_is_the_reason_that_is_told(core: ScriptedCore) -> None:
    def refuse() -> None:
        core.send({"type": "error", "error": {"code": "SDK_PROTOCOL_ERROR", "message": "Other version."}})
        asyncio.get_running_loop().call_soon(core.transport.core_close, "protocol")

    core.welcome = refuse  # type: ignore[method-assign]
    with pytest.raises(PedelecError) as caught:
        await open_session(core)
    assert (code_of(caught), caught.value.message) == ("SDK_PROTOCOL_ERROR", "Other version.")


async def test_a_session_hears_why_it_is_not_taken_up_again(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    session = await client.create_session()
    heard: list[str] = []
    session.on_error(lambda error: heard.append(error.message))
    welcome = core.welcome

    def refuse() -> None:
        core.send({"type": "error", "error": {"code": "SDK_PROTOCOL_ERROR", "message": "Other version."}})
        asyncio.get_running_loop().call_soon(core.transport.core_close, "protocol")

    core.welcome = refuse  # type: ignore[method-assign]
    await lose_and_find(core)
    assert heard == ["Other version."]
    assert (session.get_status(), len(core.transports)) == ("error", 2)
    core.welcome = welcome  # type: ignore[method-assign]
    assert await client.resume_session("s1") is session
    await settle()
    assert session.get_status() == "idle"


async def test_pings_are_answered(core: ScriptedCore) -> None:
    await open_session(core)
    core.send({"type": "ping", "id": 7})
    await core.until(lambda: bool(core.sent("pong")))
    assert core.sent("pong") == [{"type": "pong", "id": 7}]


async def test_a_silent_core_is_asked_and_one_that_does_not_answer_is_left_for_a_new_connection(
    core: ScriptedCore,
) -> None:
    core.heartbeat_ms = 1
    client = Pedelec(host=core.host)
    session = await client.create_session()
    await core.until(lambda: bool(core.sent("ping")))
    assert core.sent("ping")[0] == {"type": "ping", "id": 1}
    await core.until(lambda: bool(core.sent("resume_session")))
    assert len(core.transports) >= 2
    assert session.session_id == "s1"
    client.close()


async def test_a_core_that_answers_pings_keeps_its_connection(core: ScriptedCore) -> None:
    core.heartbeat_ms = 1
    core.answers["ping"] = lambda frame: {"type": "pong", "id": frame["id"]}
    client = Pedelec(host=core.host)
    await client.create_session()
    await core.until(lambda: len(core.sent("ping")) >= 3)
    assert len(core.transports) == 1
    client.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"type":"unheard_of"}',
        '{"type":"tool_call"}',
        '{"type":"ping","id":"x"}',
        '{"type":"pong","id":1}',
    ],
)
async def test_frames_that_are_not_understood_do_no_harm(core: ScriptedCore, text: str) -> None:
    session = await open_session(core)
    session.on_tool("a", lambda: 1)
    core.transport.core_send(text)
    assert await core.call("a") == 1


async def test_events_of_unknown_sessions_do_no_harm(core: ScriptedCore) -> None:
    session = await open_session(core)
    session.on_tool("a", lambda: 1)
    core.send_call("a", sessionId="other")
    core.send({"type": "error", "sessionId": "other", "error": {"code": "X", "message": "x"}})
    assert await core.call("a") == 1
    assert len(core.sent("submit_tool_result")) == 1


# --- lost and found


async def test_a_lost_connection_is_found_again_and_the_status_tells(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_status(heard.append)
    session.on_error(heard.append)
    session.on_tool("a", lambda: 1)
    await core.call("a")
    heard.clear()
    await lose_and_find(core)
    assert heard == ["error", "idle"]
    assert core.sent("resume_session") == [
        {"type": "resume_session", "requestId": "r3", "sessionId": "s1", "lastSeq": 1}
    ]
    first, second = core.sent("hello")
    assert first == second
    assert await core.call("a") == 1


async def test_a_result_that_was_ready_while_the_connection_was_lost_is_delivered_once(
    core: ScriptedCore,
) -> None:
    session = await open_session(core)
    go = asyncio.Event()
    session.on_tool("a", go.wait)
    call_id = core.send_call("a")
    await settle()
    core.refuse_connections = True
    core.transport.core_close("cut")
    await settle()
    go.set()
    await settle()
    assert session.get_status() == "error"
    core.refuse_connections = False
    assert await core.result_of(call_id) is True
    await settle()
    assert session.get_status() == "idle"


async def test_a_result_that_core_may_have_missed_is_sent_again_under_its_id(core: ScriptedCore) -> None:
    confirm, core.answers["submit_tool_result"] = core.answers["submit_tool_result"], lambda frame: None
    session = await open_session(core)
    session.on_tool("a", lambda: 1)
    await core.call("a")
    core.answers["submit_tool_result"] = confirm
    await lose_and_find(core)
    await lose_and_find(core)
    first, second = core.sent("submit_tool_result")
    assert first == second


async def test_results_wait_until_core_knows_the_session_again(core: ScriptedCore) -> None:
    session = await open_session(core)
    go = asyncio.Event()
    session.on_tool("a", go.wait)
    core.send_call("a")
    await settle()
    held: list[Any] = []
    core.answers["resume_session"] = held.append
    await lose_and_find(core)
    go.set()
    await settle()
    assert core.sent("submit_tool_result") == []
    core.send(ok(held[0], sessionId="s1"))
    assert await core.result_of("t1") is True


@pytest.mark.parametrize("code", ["THREAD_NOT_FOUND", "THREAD_ACCESS_DENIED", "SESSION_ENDED"])
async def test_a_session_that_core_lost_ends_here_too(core: ScriptedCore, code: str) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(lambda error: heard.append(error.code))
    session.on_ended(lambda: heard.append("ended"))
    core.answers["resume_session"] = lambda frame: refused(frame, code)
    await lose_and_find(core)
    assert heard == [code, "ended"]
    assert session.get_status() == "ended"


async def test_another_refusal_to_resume_is_told_and_the_session_stays(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(lambda error: heard.append(error.code))
    core.answers["resume_session"] = lambda frame: refused(frame, "INTERNAL_ERROR")
    await lose_and_find(core)
    assert heard == ["INTERNAL_ERROR"]
    assert session.get_status() == "error"
    core.answers["resume_session"] = lambda frame: ok(frame, sessionId="s1")
    await lose_and_find(core)
    assert session.get_status() == "idle"


async def test_a_request_that_may_be_repeated_survives_a_lost_connection(core: ScriptedCore) -> None:
    session = await open_session(core)
    confirm, core.answers["end_session"] = core.answers["end_session"], lambda frame: None
    ending = asyncio.ensure_future(session.end())
    await core.until(lambda: bool(core.sent("end_session")))
    core.answers["end_session"] = confirm
    await lose_and_find(core)
    await ending
    first, second = core.sent("end_session")
    assert first == second


async def test_a_request_that_must_not_be_repeated_fails_with_the_connection(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: None
    creating = asyncio.ensure_future(open_session(core))
    await core.until(lambda: bool(core.sent("create_session")))
    core.transport.core_close("cut")
    with pytest.raises(PedelecError) as caught:
        await creating
    assert code_of(caught) == "SDK_TRANSPORT_ERROR"
    assert caught.value.effects == "unknown"


async def test_a_connection_that_is_lost_while_resuming_is_resumed_on_the_next(core: ScriptedCore) -> None:
    session = await open_session(core)
    confirm, core.answers["resume_session"] = core.answers["resume_session"], lambda frame: None
    await lose_and_find(core)
    core.answers["resume_session"] = confirm
    await lose_and_find(core)
    assert session.get_status() == "idle"
    assert len(core.sent("resume_session")) == 2


async def test_nobody_connects_again_without_need(core: ScriptedCore) -> None:
    session = await open_session(core)
    await session.end()
    core.transport.core_close("cut")
    await settle()
    assert len(core.transports) == 1


# --- confirmation


@pytest.mark.parametrize("code", ["TOOL_TIMEOUT", "SUBMIT_TOOL_RESULT_FAILED"])
async def test_a_result_that_core_refuses_is_an_event(core: ScriptedCore, code: str) -> None:
    core.answers["submit_tool_result"] = lambda frame: refused(
        frame, code, "Too late.", {"cause": "TOOL_TIMEOUT"}
    )
    session = await open_session(core)
    heard: list[PedelecError] = []
    session.on_error(heard.append)
    session.on_tool("a", lambda: 1)
    await core.call("a")
    await settle()
    (error,) = heard
    assert error.code == "SUBMIT_TOOL_RESULT_FAILED"
    assert error.details == {"cause": "TOOL_TIMEOUT", "tool": "a", "toolRequestId": "t1"}


async def test_a_result_that_core_does_not_confirm_is_an_event_once(core: ScriptedCore) -> None:
    core.answers["submit_tool_result"] = lambda frame: None
    session = await open_session(core, bridge_timeout_ms=20)
    heard: asyncio.Queue[PedelecError] = asyncio.Queue()
    session.on_error(heard.put)
    session.on_tool("a", lambda: 1)
    await core.call("a")
    async with asyncio.timeout(5):
        error = await heard.get()
    assert error.details == {"cause": "SDK_BRIDGE_TIMEOUT", "tool": "a", "toolRequestId": "t1"}
    assert outbox_of(session).overdue(1_000_000) == []


def outbox_of(session: PedelecSession) -> Outbox:
    switchboard = session._owner
    assert isinstance(switchboard, Switchboard)
    return switchboard.outbox


async def test_the_outbox_is_bounded_and_what_falls_out_is_told(core: ScriptedCore) -> None:
    core.answers["submit_tool_result"] = lambda frame: None
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(lambda error: heard.append(error.details))
    session.on_tool("a", lambda: 1)
    for _ in range(MAX_ENTRIES + 1):
        core.send_call("a")
    await settle()
    assert len(outbox_of(session)) == MAX_ENTRIES
    assert heard == [{"cause": "SDK_TRANSPORT_ERROR", "tool": "a", "toolRequestId": "t1"}]


# --- the end


async def test_close_ends_everything_here(core: ScriptedCore) -> None:
    client = Pedelec(host=core.host)
    session = await client.create_session()
    core.answers["get_approval_status"] = lambda frame: None
    waiting = asyncio.ensure_future(client.get_approval_status())
    await core.until(lambda: bool(core.sent("get_approval_status")))
    client.close()
    client.close()
    for attempt in (waiting, client.create_session()):
        with pytest.raises(PedelecError) as caught:
            await attempt
        assert code_of(caught) == "SDK_TRANSPORT_ERROR"
    await settle()
    assert session.get_status() == "ended"
    assert core.transport.is_over
    assert len(core.transports) == 1


async def test_end_is_fine_where_core_no_longer_knows_the_session(core: ScriptedCore) -> None:
    session = await open_session(core)
    core.answers["end_session"] = lambda frame: refused(frame, "THREAD_NOT_FOUND")
    await session.end()
    assert session.get_status() == "ended"


async def test_two_clients_on_one_page_are_two_instances(core: ScriptedCore) -> None:
    for _ in range(2):
        await open_session(core)
    first, second = core.sent("hello")
    assert first["pageInstanceId"] != second["pageInstanceId"]


async def test_handlers_have_half_a_second(core: ScriptedCore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switchboard_module, "HANDLER_GRACE_SECONDS", 0.0)
    await open_session(core)
    assert (await core.call("a"))["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"
