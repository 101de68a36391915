"""One session: handlers that come and go, contexts, status, events."""

import asyncio
import logging
from typing import Any

import pytest

from pedelec import PedelecError, PedelecSession, ToolContext, define_tool
from tests.unit.sdk.scripted_core import ScriptedCore, open_session, settle

SCHEMA: dict[str, Any] = {"type": "object"}


def declared(name: str, handler: Any = None) -> Any:
    return define_tool(name=name, description="A tool.", args_schema=SCHEMA, handler=handler)


@pytest.fixture
async def core() -> ScriptedCore:
    return ScriptedCore()


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


# --- handlers


async def test_on_tool_gives_a_disposer_or_leaves_the_function_usable(core: ScriptedCore) -> None:
    session = await open_session(core, tools=(declared("a"), declared("b")))

    @session.on_tool("a")
    def by_name(args: Any) -> Any:
        return ["named", args]

    @session.on_tool
    def generic(tool: str, args: Any, ctx: ToolContext) -> Any:
        return ["generic", tool, args, ctx.tool]

    assert by_name({"x": 1}) == ["named", {"x": 1}]
    assert generic("t", 1, ToolContextLike()) == ["generic", "t", 1, "like"]
    assert await core.call("a", {"x": 1}) == ["named", {"x": 1}]
    assert await core.call("b") == ["generic", "b", {}, "b"]
    off = session.onTool("b", lambda: "own")
    assert await core.call("b") == "own"
    off()
    off()
    assert await core.call("b") == ["generic", "b", {}, "b"]
    generic()
    session._stop_holding()
    assert (await core.call("b"))["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"


class ToolContextLike:
    tool = "like"


async def test_a_handler_that_is_none_is_refused_and_not_taken_for_a_decorator(core: ScriptedCore) -> None:
    session = await open_session(core)
    with pytest.raises(PedelecError) as caught:
        session.on_tool("a", None)
    assert caught.value.code == "INVALID_INPUT"


async def test_decorators_stack(core: ScriptedCore) -> None:
    session = await open_session(core)

    @session.on_tool("a")
    @session.on_tool("b")
    @session.on_tool
    def shared() -> int:
        return 1

    assert [await core.call(name) for name in ("a", "b", "c")] == [1, 1, 1]


async def test_a_definition_may_be_set_as_a_handler(core: ScriptedCore) -> None:
    session = await open_session(core)
    session.on_tool("a", declared("other", lambda args: args))
    assert await core.call("a", {"x": 1}) == {"x": 1}


@pytest.mark.parametrize("name", ["", "__proto__", "a b", "a\n"])
async def test_on_tool_refuses_names_that_no_tool_can_have(core: ScriptedCore, name: str) -> None:
    session = await open_session(core)
    with pytest.raises(PedelecError) as caught:
        session.on_tool(name, lambda: 1)
    assert caught.value.code == "INVALID_INPUT"


async def test_a_running_call_finishes_with_the_handler_it_started_with(core: ScriptedCore) -> None:
    session = await open_session(core)
    go = asyncio.Event()

    async def old() -> str:
        await go.wait()
        return "old"

    session.on_tool("a", old)
    first = core.send_call("a")
    await settle()
    session.on_tool("a", lambda: "new")
    assert await core.call("a") == "new"
    go.set()
    assert await core.result_of(first) == "old"


async def test_sessions_do_not_share_handlers(core: ScriptedCore) -> None:
    core.answers["create_session"] = lambda frame: {
        "type": "response", "requestId": frame["requestId"], "ok": True,
        "result": {"sessionId": frame["guidance"]},
    }  # fmt: skip
    from pedelec import Pedelec

    client = Pedelec(host=core.host)
    first, second = await client.create_session("one"), await client.create_session("two")
    first.on_tool("a", lambda: 1)
    second.on_tool("a", lambda: 2)
    ids = [core.send_call("a", sessionId=name) for name in ("one", "two")]
    assert [await core.result_of(call_id) for call_id in ids] == [1, 2]


async def test_every_call_owns_its_arguments(core: ScriptedCore) -> None:
    session = await open_session(core)
    kept: list[Any] = []

    def handler(args: Any) -> Any:
        args["list"].append(1)
        kept.append(args)
        return args

    session.on_tool("a", handler)
    args: dict[str, Any] = {"list": [], "__proto__": None}
    assert [await core.call("a", args) for _ in range(2)] == [{"list": [1], "__proto__": None}] * 2
    assert kept[0] is not kept[1]


async def test_a_call_that_comes_twice_runs_once_and_its_answer_is_sent_again(core: ScriptedCore) -> None:
    core.answers["submit_tool_result"] = lambda frame: None
    session = await open_session(core)
    runs: list[int] = []
    go = asyncio.Event()

    async def handler() -> int:
        runs.append(1)
        await go.wait()
        return len(runs)

    session.on_tool("a", handler)
    core.transport.copies = 2
    core.send_call("a")
    await settle()
    core.transport.copies = 1
    go.set()
    await settle()
    assert runs == [1]
    assert core.results_of("t1") == [1]
    core.send_call("a", toolRequestId="t1")
    await settle()
    assert runs == [1]
    first, second = core.sent("submit_tool_result")
    assert first == second


# --- missing handlers


async def test_a_call_waits_for_its_handler_while_the_page_sets_up(core: ScriptedCore) -> None:
    session = await open_session(core, tools=(declared("a"),))
    held, other = core.send_call("a"), core.send_call("b")
    await settle()
    assert session.get_status() == "waiting_tool_result"
    session.on_tool("a", lambda: "late")
    assert await core.result_of(held) == "late"
    session._stop_holding()
    assert (await core.result_of(other))["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"


async def test_a_missing_handler_is_an_answer_that_says_what_helps(core: ScriptedCore) -> None:
    session = await open_session(core, tools=(declared("a"), declared("b", lambda: 1)))
    heard: list[Any] = []
    session.on_error(heard.append)
    session._stop_holding()
    envelope = (await core.call("a"))["error"]
    assert (envelope["code"], envelope["class"], envelope["effects"]) == (
        "TOOL_HANDLER_NOT_FOUND",
        "permanent",
        "none",
    )
    assert envelope["details"] == {"tool": "a"}
    assert envelope["suggestions"] == ["b"]
    assert heard == []


async def test_a_tool_without_handler_is_warned_of_once(
    core: ScriptedCore, caplog: pytest.LogCaptureFixture
) -> None:
    session = await open_session(core, tools=(declared("lonely"), declared("b", lambda: 1)))
    session._stop_holding()
    await core.call("lonely")
    await core.call("lonely")
    (warning,) = warnings_in(caplog)
    assert "lonely" in warning


async def test_a_generic_handler_answers_for_all_so_that_nothing_is_warned_of(
    core: ScriptedCore, caplog: pytest.LogCaptureFixture
) -> None:
    session = await open_session(core, tools=(declared("a"),))
    session.on_tool(lambda tool: tool)
    session._stop_holding()
    assert warnings_in(caplog) == []


async def test_a_handler_without_declaration_is_warned_of_once_at_once(
    core: ScriptedCore, caplog: pytest.LogCaptureFixture
) -> None:
    session = await open_session(core, tools=(declared("a"),))
    session.on_tool("a", lambda: 1)
    for _ in range(2):
        session.on_tool("stray", lambda: 1)
    (warning,) = warnings_in(caplog)
    assert "stray" in warning


# --- contexts


async def test_the_context_tells_which_call_it_is_and_how_long_it_may_take(core: ScriptedCore) -> None:
    session = await open_session(core)
    seen: list[ToolContext] = []
    session.on_tool("a", lambda args, ctx: seen.append(ctx))
    await core.call("a")
    (ctx,) = seen
    assert (ctx.session_id, ctx.turn_id, ctx.tool_request_id, ctx.tool) == ("s1", "turn", "t1", "a")
    assert 0 < ctx.remaining_ms <= 60_000
    assert ctx.event_received_at is not None
    assert abs(ctx.deadline - (ctx.event_received_at / 1000 + 60)) < 0.01
    wire = ctx.to_wire()
    assert {key: wire[key] for key in wire if not key.endswith("At")} == {
        "type": "tool_call",
        "source": "core",
        "sessionId": "s1",
        "turnId": "turn",
        "turnKind": "user",
        "provider": "",
        "toolRequestId": "t1",
        "tool": "a",
    }
    assert {key for key in wire if key.endswith("At")} == {
        "sessionCreatedAt", "eventEmittedAt", "eventReceivedAt", "turnStartedAt",
    }  # fmt: skip


@pytest.mark.parametrize("reason", ["timeout", "cancelled"])
async def test_a_cancelled_call_learns_of_it_and_may_still_answer(core: ScriptedCore, reason: str) -> None:
    session = await open_session(core)

    async def handler(args: Any, ctx: ToolContext) -> list[Any]:
        before = [bool(ctx.cancelled), ctx.remaining_ms > 0]
        told: list[str] = []
        ctx.cancelled.add_callback(lambda: told.append("callback"))
        forgotten = ctx.cancelled.add_callback(lambda: told.append("forgotten"))
        forgotten()
        reason = await ctx.cancelled
        assert await ctx.cancelled.wait() == reason
        ctx.cancelled.add_callback(lambda: told.append("late"))
        after = [bool(ctx.cancelled), ctx.cancelled.is_set(), ctx.remaining_ms]
        return [before, after, reason, told]

    session.on_tool("a", handler)
    call_id = core.send_call("a")
    await settle()
    core.send(
        {"type": "tool_cancel", "sessionId": "s1", "seq": 2, "toolRequestId": call_id, "reason": reason}
    )
    assert await core.result_of(call_id) == [[False, True], [True, True, 0], reason, ["callback", "late"]]


async def test_a_callback_of_a_cancelled_call_that_raises_stops_nothing(
    core: ScriptedCore, caplog: pytest.LogCaptureFixture
) -> None:
    session = await open_session(core)
    contexts: list[ToolContext] = []
    told: list[int] = []

    async def handler(args: Any, ctx: ToolContext) -> None:
        contexts.append(ctx)
        await ctx.cancelled

    session.on_tool("a", handler)
    call_id = core.send_call("a")
    await settle()
    contexts[0].cancelled.add_callback(lambda: 1 // 0)
    contexts[0].cancelled.add_callback(lambda: told.append(1))
    core.send(
        {"type": "tool_cancel", "sessionId": "s1", "seq": 2, "toolRequestId": call_id, "reason": "timeout"}
    )
    assert await core.result_of(call_id) is None
    assert told == [1]
    assert "ZeroDivisionError" in caplog.text


async def test_progress_reaches_core_until_the_call_is_settled(core: ScriptedCore) -> None:
    session = await open_session(core)
    contexts: list[ToolContext] = []

    def handler(args: Any, ctx: ToolContext) -> None:
        ctx.progress(1, 3, "one")
        ctx.progress(0.5)
        contexts.append(ctx)

    session.on_tool("a", handler)
    await core.call("a")
    contexts[0].progress(3, 3)
    await settle()
    assert core.sent("tool_progress") == [
        {
            "type": "tool_progress",
            "sessionId": "s1",
            "toolRequestId": "t1",
            "done": 1,
            "total": 3,
            "message": "one",
        },
        {"type": "tool_progress", "sessionId": "s1", "toolRequestId": "t1", "done": 0.5},
    ]


@pytest.mark.parametrize("args", [("x",), (float("nan"),), (1, float("inf")), (1, 2, 3), (10**400,)])
async def test_progress_refuses_what_is_no_progress(core: ScriptedCore, args: Any) -> None:
    session = await open_session(core)
    session.on_tool("a", lambda _, ctx: ctx.progress(*args))
    assert (await core.call("a"))["error"]["code"] == "INVALID_INPUT"


# --- what a call costs


async def test_a_handler_that_does_not_wait_costs_one_frame_in_the_turn_in_which_its_call_came(
    core: ScriptedCore,
) -> None:
    session = await open_session(core)
    session.on_tool("a", lambda: "at once")
    sent = len(core.frames)
    core.send_call("a")
    await asyncio.sleep(0)  # the call arrives in the page
    await asyncio.sleep(0)  # what the page has sent arrives at Core
    assert [frame["type"] for frame in core.frames[sent:]] == ["submit_tool_result"]


# --- status and events


async def test_the_status_follows_the_calls(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_status(lambda status, ctx: heard.append((status, ctx.previous_status, ctx.type, ctx.turn_id)))
    go = asyncio.Event()
    session.on_tool("a", go.wait)
    assert session.getStatus() == "idle"
    first, second = core.send_call("a"), core.send_call("a")
    await settle()
    assert session.get_status() == "waiting_tool_result"
    go.set()
    await core.result_of(first)
    await core.result_of(second)
    assert heard == [
        ("waiting_tool_result", "idle", "status_changed", "turn"),
        ("idle", "waiting_tool_result", "sdk_status_changed", None),
    ]


async def test_callbacks_that_raise_stop_neither_the_others_nor_the_call(
    core: ScriptedCore, caplog: pytest.LogCaptureFixture
) -> None:
    session = await open_session(core)
    heard: list[str] = []

    async def fails_later() -> None:
        await asyncio.sleep(0)
        raise ValueError("async failure")

    def fails() -> None:
        raise SystemExit("sync failure")

    session.on_status(fails_later)
    session.on_status(fails)
    session.on_status(heard.append)
    session.on_tool("a", lambda: 1)
    assert await core.call("a") == 1
    assert heard == ["waiting_tool_result", "idle"]
    assert "async failure" in caplog.text
    assert "sync failure" in caplog.text


async def test_a_disposed_callback_hears_nothing(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[str] = []
    off = session.onStatus(heard.append)
    session.onStatus(heard.append)
    off()
    off()
    session.on_tool("a", lambda: 1)
    await core.call("a")
    assert heard == ["waiting_tool_result", "idle"]


async def test_an_error_event_of_core_reaches_on_error(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []

    @session.on_error
    def remember(error: PedelecError, ctx: Any) -> None:
        heard.append((error.code, error.message, ctx.to_wire()["type"], session.get_status()))

    error = {"code": "SESSION_ERROR", "message": "It failed."}
    core.send({"type": "error", "sessionId": "s1", "error": error})
    core.send({"type": "error", "error": {"code": "X", "message": "All."}})
    await settle()
    assert heard == [("SESSION_ERROR", "It failed.", "error", "error"), ("X", "All.", "error", "error")]
    session.on_tool("a", lambda: 1)
    await core.call("a")
    assert session.get_status() == "idle"


async def test_a_session_that_only_has_to_wait_has_not_failed(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(lambda error: heard.append((error.code, error.retry_after_seconds)))
    error = {"code": "TOO_MANY_REQUESTS", "class": "retryable", "retryAfterSeconds": 2, "message": "Slowly."}
    core.send({"type": "error", "error": error})
    await settle()
    assert (heard, session.get_status()) == ([("TOO_MANY_REQUESTS", 2)], "idle")


async def test_core_ends_a_session(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.on_ended(lambda ctx: heard.append(ctx.type))
    session.on_status(heard.append)

    async def handler(args: Any, ctx: ToolContext) -> None:
        heard.append(await ctx.cancelled)

    session.on_tool("a", handler)
    call_id = core.send_call("a")
    await settle()
    for _ in range(2):
        core.send({"type": "ended", "sessionId": "s1", "seq": 2, "reason": "revoked"})
    await settle()
    assert heard == ["waiting_tool_result", "ended", "ended", "ended"]
    assert core.results_of(call_id) == []
    assert session.get_status() == "ended"
    core.send_call("a")
    await settle()
    assert core.sent("submit_tool_result") == []


async def test_end_twice_is_fine_and_asks_once(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[Any] = []
    session.onEnded(lambda ctx: heard.append(ctx.type))
    await asyncio.gather(session.end(), session.end())
    await session.end()
    assert heard == ["sdk_ended"]
    assert len(core.sent("end_session")) == 1


async def test_an_end_that_core_does_not_confirm_is_told_and_may_be_tried_again(core: ScriptedCore) -> None:
    session = await open_session(core)
    heard: list[str] = []
    session.onError(lambda error: heard.append(error.code))
    confirm = core.answers["end_session"]
    core.answers["end_session"] = lambda frame: {
        "type": "response", "requestId": frame["requestId"], "ok": False,
        "error": {"code": "END_SESSION_FAILED", "message": "no"},
    }  # fmt: skip
    with pytest.raises(PedelecError) as caught:
        await session.end()
    assert caught.value.code == "END_SESSION_FAILED"
    assert heard == ["END_SESSION_FAILED"]
    core.answers["end_session"] = confirm
    await session.end()
    assert session.get_status() == "ended"


async def test_callbacks_must_be_callable(core: ScriptedCore) -> None:
    session: PedelecSession = await open_session(core)
    for register in (session.on_error, session.on_status, session.on_ended, session.on_tool):
        with pytest.raises(PedelecError) as caught:
            register(5)  # type: ignore[call-overload]
        assert caught.value.code == "INVALID_INPUT"
