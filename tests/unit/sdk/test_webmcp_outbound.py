"""A session's tools in the browser's WebMCP API: registered, called, cancelled, taken back."""

import asyncio
import logging
from typing import Any

import pytest

from pedelec import Pedelec, PedelecError, PedelecSession, define_tool
from pedelec.json_safe import NotJsonSafeError
from pedelec.transport import MemoryHost
from tests.unit.sdk.browser_twin import BrowserTwin
from tests.unit.sdk.scripted_core import Json, ScriptedCore, ok, refused, settle

SCHEMA: Json = {"type": "object", "properties": {"n": {"type": "integer"}}}
NOT_JSON = NotJsonSafeError(path="$.n", type_name="bigint", hint="Use a number.")


class Page:
    """A page whose browser has the API, and a Core that checks arguments."""

    def __init__(self) -> None:
        self.core = ScriptedCore()
        self.core.answers["check_args"] = ok
        self.browser = BrowserTwin()
        self.numbers = iter(f"s{number}" for number in range(1, 100))
        self.core.answers["create_session"] = lambda frame: ok(frame, sessionId=next(self.numbers))
        self.host = MemoryHost(self.core._accept, model_context=self.browser)
        self.client = Pedelec(host=self.host)

    async def session(self, *tools: Any, webmcp: Any = True) -> PedelecSession:
        return await self.client.create_session("", tools, webmcp=webmcp)


def probe(handler: Any = None, name: str = "probe", **fields: Any) -> Any:
    return define_tool(name=name, description="A probe.", args_schema=SCHEMA, handler=handler, **fields)


async def test_the_browser_is_told_what_core_is_told() -> None:
    page = Page()
    await page.session(
        probe(name="plain"),
        probe(
            name="full",
            title="Full",
            result_schema={"type": "integer"},
            read_only=True,
            untrusted_content=True,
            consequential=True,
        ),
    )
    hints = {"readOnlyHint": False, "untrustedContentHint": False, "consequentialHint": False}
    assert page.browser.registered == {
        "plain": {
            "name": "plain",
            "description": "A probe.",
            "inputSchema": SCHEMA,
            "annotations": hints,
        },
        "full": {
            "name": "full",
            "description": "A probe.",
            "inputSchema": SCHEMA,
            "annotations": dict.fromkeys(hints, True),
            "title": "Full",
            "outputSchema": {"type": "integer"},
        },
    }


async def test_nothing_is_registered_unless_it_is_asked_for() -> None:
    page = Page()
    await page.session(probe(), webmcp=False)
    assert page.browser.registered == {}
    with pytest.raises(PedelecError, match="webmcp must be") as caught:
        await page.session(probe(), webmcp="yes")
    assert caught.value.code == "INVALID_INPUT"


async def test_without_the_api_the_session_is_an_ordinary_one() -> None:
    core = ScriptedCore()
    session = await Pedelec(host=core.host).create_session("", [probe(lambda: 1)], webmcp=True)
    assert await core.call("probe") == 1
    stop = await session.import_webmcp()
    stop()
    assert core.sent("offer_tools") == []


async def test_a_call_of_the_browser_is_dispatched_as_one_of_core_s() -> None:
    page = Page()
    session = await page.session(probe(lambda args, ctx: [args, ctx.tool, ctx.source]))
    assert await page.browser.call("probe", '{"n": 1}') == [{"n": 1}, "probe", "sdk"]
    session.on_tool("probe", lambda: "named")
    assert await page.browser.call("probe") == "named"
    assert [frame["args"] for frame in page.core.sent("check_args")] == [{"n": 1}, {}]
    assert page.core.sent("submit_tool_result") == []


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        (lambda: 1 / 0, "TOOL_HANDLER_ERROR"),
        (lambda: {1}, "TOOL_RESULT_NOT_SERIALIZABLE"),
        (lambda: "x" * 2**21, "TOOL_RESULT_TOO_LARGE"),
        (lambda: {"error": {"code": "MINE", "message": "m"}}, "MINE"),
    ],
)
async def test_an_error_is_an_answer_with_its_envelope(handler: Any, code: str) -> None:
    page = Page()
    await page.session(probe(handler))
    assert (await page.browser.call("probe"))["error"]["code"] == code


async def test_a_tool_without_a_handler_says_so() -> None:
    page = Page()
    session = await page.session(probe())
    session._stop_holding()
    assert (await page.browser.call("probe"))["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"


async def test_a_call_that_needs_approval_waits_for_it() -> None:
    page = Page()
    await page.session(probe(lambda: "done", approval="always"))
    for accepted, expected in ((True, "done"), (False, "TOOL_DENIED")):
        _, answer = page.browser.begin("probe")
        await settle()
        assert not answer.done()
        page.host.dialog.answer(accepted=accepted)
        async with asyncio.timeout(5):
            told = await answer
        assert (told if accepted else told["error"]["code"]) == expected


@pytest.mark.parametrize("given", ["{", "[1]", "5", '{"n": 1e999}', NOT_JSON])
async def test_an_input_that_is_no_object_of_json_runs_nothing(given: Any) -> None:
    page = Page()
    await page.session(probe(lambda: pytest.fail("it ran")))
    error = (await page.browser.call("probe", given))["error"]
    assert (error["code"], error["effects"]) == ("TOOL_ARGS_INVALID", "none")


async def test_arguments_that_core_refuses_run_nothing() -> None:
    page = Page()
    page.core.answers["check_args"] = lambda frame: refused(frame, "TOOL_ARGS_INVALID", "n is missing.")
    await page.session(probe(lambda: pytest.fail("it ran")))
    error = (await page.browser.call("probe", '{"n": "x"}'))["error"]
    assert (error["code"], error["message"]) == ("TOOL_ARGS_INVALID", "n is missing.")


async def test_the_caller_s_abort_cancels_the_call() -> None:
    page = Page()
    reasons: list[str] = []

    async def wait(_args: Any, ctx: Any) -> None:
        reasons.append(await ctx.cancelled)

    session = await page.session(probe(wait))
    call, answer = page.browser.begin("probe")
    await settle()
    assert session.get_status() == "waiting_tool_result"
    page.browser.abort("probe", call)
    assert (await answer)["error"]["code"] == "TOOL_CANCELLED"
    await settle()
    assert (reasons, session.get_status()) == (["cancelled"], "idle")
    page.browser.abort("probe", call)


async def test_an_abort_while_the_arguments_are_checked_runs_nothing() -> None:
    page = Page()
    held: list[Json] = []
    page.core.answers["check_args"] = held.append
    await page.session(probe(lambda: pytest.fail("it ran")))
    call, answer = page.browser.begin("probe")
    await page.core.until(lambda: len(held) == 1)
    page.browser.abort("probe", call)
    page.core.send(ok(held[0]))
    async with asyncio.timeout(5):
        error = (await answer)["error"]
    assert (error["code"], error["effects"]) == ("TOOL_CANCELLED", "none")


async def test_the_tool_s_limit_ends_the_wait_and_a_late_result_changes_nothing() -> None:
    page = Page()
    go = asyncio.Event()

    async def late(_args: Any, ctx: Any) -> str:
        assert await ctx.cancelled == "timeout"
        go.set()
        return "late"

    await page.session(probe(late, timeout_ms=1))
    error = (await page.browser.call("probe"))["error"]
    assert (error["code"], error["effects"], error["details"]["timeoutMs"]) == ("TOOL_TIMEOUT", "unknown", 1)
    async with asyncio.timeout(5):
        await go.wait()
    await settle()


async def test_progress_of_the_browser_s_calls_is_nothing_to_core() -> None:
    page = Page()
    await page.session(probe(lambda _args, ctx: ctx.progress(1)))
    assert await page.browser.call("probe") is None
    assert page.core.sent("tool_progress") == []


async def test_the_end_of_the_session_answers_its_calls_and_takes_its_tools_back() -> None:
    page = Page()

    async def wait(_args: Any, ctx: Any) -> None:
        await ctx.cancelled

    session = await page.session(probe(wait))
    _, answer = page.browser.begin("probe")
    await settle()
    await session.end()
    error = (await answer)["error"]
    assert (error["code"], error["effects"]) == ("SESSION_ENDED", "unknown")
    assert page.browser.registered == {}
    assert (await page.browser.call("probe"))["error"]["code"] == "SESSION_ENDED"


async def test_a_cell_that_is_run_again_takes_the_name_over() -> None:
    page = Page()
    first = await page.session(probe(lambda: "first"))
    second = await page.session(probe(lambda: "second"))
    assert page.browser.log == ["+probe", "-probe", "+probe"]
    assert await page.browser.call("probe") == "second"
    await first.end()
    assert await page.browser.call("probe") == "second"
    await second.end()
    assert page.browser.registered == {}


async def test_an_older_session_has_its_name_again_when_the_newer_one_goes() -> None:
    page = Page()
    await page.session(probe(lambda: "first"))
    second = await page.session(probe(lambda: "second"))
    await second.end()
    await settle()
    assert await page.browser.call("probe") == "first"


async def test_a_name_that_another_script_has_is_logged_and_harms_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page = Page()
    page.browser.refusals["probe"] = "InvalidStateError: Duplicate tool name"
    with caplog.at_level(logging.WARNING, "pedelec"):
        session = await page.session(probe(lambda: 1), probe(lambda: 2, name="other"))
    assert "did not register the tool probe. InvalidStateError: Duplicate tool name" in caplog.text
    assert list(page.browser.registered) == ["other"]
    assert await page.core.call("probe") == 1
    await session.end()
    assert page.browser.registered == {}
