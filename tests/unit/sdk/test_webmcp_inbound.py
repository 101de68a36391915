"""The browser's tools, offered to Core under a session and run by the browser."""

import asyncio
import logging
from typing import Any

import pytest

from pedelec import Pedelec, PedelecError, PedelecSession, define_tool
from pedelec.transport import MemoryHost
from pedelec.webmcp.descriptors import read_tools
from tests.unit.sdk.browser_twin import BrowserTwin
from tests.unit.sdk.scripted_core import Json, ScriptedCore, ok, refused, settle


def native(name: str, **fields: Any) -> Json:
    """A tool as the browser tells it."""
    return {"key": f"key of {name}", "name": name, "description": f"Native {name}.", **fields}


class Page:
    """A page whose browser has tools of others."""

    def __init__(self, *others: Json) -> None:
        self.core = ScriptedCore()
        self.core.answers["offer_tools"] = ok
        self.browser = BrowserTwin()
        self.browser.others = list(others)
        self.host = MemoryHost(self.core._accept, model_context=self.browser)

    async def session(self, *tools: Any) -> PedelecSession:
        return await Pedelec(host=self.host).create_session("", tools)

    def offers(self) -> list[list[str]]:
        return [[tool["name"] for tool in frame["tools"]] for frame in self.core.sent("offer_tools")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"argsSchema": {"type": "object"}}),
        ({"title": "", "annotations": None}, {"argsSchema": {"type": "object"}}),
        ({"title": "T" * 300}, {"argsSchema": {"type": "object"}, "title": "T" * 200}),
        (
            {"annotations": {"readOnlyHint": True, "untrustedContentHint": True, "consequentialHint": True}},
            {
                "argsSchema": {"type": "object"},
                "readOnly": True,
                "untrustedContent": True,
                "consequential": True,
            },
        ),
        (
            {"inputSchema": {"properties": {"q": {}}}},
            {"argsSchema": {"type": "object", "properties": {"q": {}}}},
        ),
        (
            {"inputSchema": '{"type": "object", "required": ["q"]}'},
            {"argsSchema": {"type": "object", "required": ["q"]}},
        ),
        ({"inputSchema": ""}, {"argsSchema": {"type": "object"}}),
        ({"inputSchema": []}, {"argsSchema": {"type": "object"}}),
        ({"inputSchema": {"type": "string"}}, {"argsSchema": {"type": "object"}}),
    ],
)
def test_a_native_tool_is_told_as_far_as_it_tells(fields: Json, expected: Json) -> None:
    (tool,) = read_tools([native("find", **fields)])
    assert tool.manifest == {"name": "find", "description": "Native find.", **expected}


def test_a_tool_without_a_description_has_one_made_and_a_long_one_is_cut() -> None:
    silent, verbose = read_tools([native("a", description=" "), native("b", description="x" * 9_000)])
    assert silent.manifest["description"] == "The page's a."
    assert verbose.manifest["description"] == "x" * 8_192


def test_names_are_kept_where_they_can_be_and_never_meet() -> None:
    listed = [native(name) for name in ("find", "find", "9x", "..", "draw", "n" * 128, "n" * 128)]
    names = [str(tool.manifest["name"]) for tool in read_tools(listed, taken={"draw"})]
    assert names[:5] == ["find", "find_2", "page_9x", "page_..", "draw_2"]
    assert names[5] == "n" * 128
    assert len({*names}) == 7
    assert all(len(name) <= 128 for name in names)


async def test_native_tools_are_offered_and_run_by_the_browser() -> None:
    page = Page(native("find", annotations={"readOnlyHint": True}))
    session = await page.session()
    await session.import_webmcp()
    (offer,) = page.core.sent("offer_tools")
    assert offer["tools"] == [
        {"name": "find", "description": "Native find.", "readOnly": True, "argsSchema": {"type": "object"}}
    ]
    page.browser.outcomes["key of find"] = {"text": '{"hits":[1]}'}
    assert await page.core.call("find", {"q": "x"}) == {"hits": [1]}
    assert page.browser.executed == [("key of find", {"q": "x"})]


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        ({"text": "hello"}, "hello"),
        ({"text": "5"}, "5"),
        ({"text": "undefined"}, None),
        ({"text": "[1,2]"}, [1, 2]),
        ({"text": "{no json"}, "{no json"),
        ({"text": ""}, ""),
        ({"value": {"a": 1}}, {"a": 1}),
    ],
)
async def test_what_the_browser_gives_is_the_result(outcome: Json, result: Any) -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.browser.outcomes["key of find"] = outcome
    assert await page.core.call("find") == result


@pytest.mark.parametrize(
    ("outcome", "code", "effects"),
    [
        ({"navigated": True}, "TOOL_INTERRUPTED", "unknown"),
        ({"failed": "UnknownError: no reason", "lost": True}, "TOOL_INTERRUPTED", "unknown"),
        ({"failed": "UnknownError: no reason", "lost": False}, "TOOL_HANDLER_ERROR", "unknown"),
        ({"gone": True}, "TOOL_HANDLER_NOT_FOUND", "none"),
    ],
)
async def test_what_the_browser_cannot_tell_is_told_as_unknown(
    outcome: Json, code: str, effects: str
) -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.browser.outcomes["key of find"] = outcome
    error = (await page.core.call("find"))["error"]
    assert (error["code"], error.get("effects")) == (code, effects)


async def test_a_cancelled_call_is_cancelled_in_the_browser() -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.browser.outcomes["key of find"] = "until cancelled"
    call = page.core.send_call("find")
    await settle()
    page.core.send(
        {"type": "tool_cancel", "sessionId": "s1", "seq": 9, "toolRequestId": call, "reason": "cancelled"}
    )
    assert "AbortError: cancelled" in (await page.core.result_of(call))["error"]["message"]


async def test_changes_are_followed_and_what_did_not_change_is_not_told_again() -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.browser.change(native("find"), native("zoom"))
    await page.core.until(lambda: len(page.offers()) == 2)
    page.browser.change(native("find"), native("zoom"))
    await settle()
    page.browser.change()
    await page.core.until(lambda: len(page.offers()) == 3)
    assert page.offers() == [["find"], ["find", "zoom"], []]


async def test_changes_while_an_offer_is_on_its_way_are_told_after_it() -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    held: list[Json] = []
    page.core.answers["offer_tools"] = held.append
    page.browser.change(native("a"))
    await page.core.until(lambda: len(held) == 1)
    page.browser.change(native("b"))
    page.browser.change(native("c"))
    await settle()
    assert len(held) == 1
    page.core.answers["offer_tools"] = ok
    page.core.send(ok(held[0]))
    await page.core.until(lambda: len(page.offers()) == 3)
    assert page.offers()[-1] == ["c"]


async def test_declared_tools_keep_their_names() -> None:
    page = Page(native("draw"))
    mine = define_tool(
        name="draw", description="Mine.", args_schema={"type": "object"}, handler=lambda: "mine"
    )
    await (await page.session(mine)).import_webmcp()
    assert page.offers() == [["draw_2"]]
    page.browser.outcomes["key of draw"] = {"text": "native"}
    assert (await page.core.call("draw"), await page.core.call("draw_2")) == ("mine", "native")


async def test_a_schema_that_core_refuses_is_left_out_and_a_tool_that_it_refuses_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def answer(frame: Json) -> Json:
        for index, each in enumerate(frame["tools"]):
            if each["argsSchema"] != {"type": "object"} or each["name"] == "bad":
                details = {"index": index, "field": "argsSchema", "tool": each["name"]}
                return refused(frame, "INVALID_INPUT", "no valid JSON Schema", details)
            if each["name"] == "taken":
                return refused(frame, "INVALID_INPUT", "declared twice", {"index": index, "field": "name"})
        return ok(frame)

    page = Page(
        native("fine"), native("odd", inputSchema={"minProperties": "x"}), native("bad"), native("taken")
    )
    page.core.answers["offer_tools"] = answer
    with caplog.at_level(logging.WARNING, "pedelec"):
        await (await page.session()).import_webmcp()
    assert page.offers()[-1] == ["fine", "odd", "taken_2"]
    assert "odd is not taken as it is" in caplog.text


async def test_core_is_told_again_when_the_page_comes_back_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", 0.0)
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.core.transport.core_close("restarted")
    await page.core.until(lambda: len(page.offers()) == 2)
    assert page.offers() == [["find"], ["find"]]


async def test_what_was_offered_is_withdrawn_when_the_import_ends() -> None:
    page = Page(native("find"))
    session = await page.session()
    stop = await session.import_webmcp()
    stop()
    stop()
    await page.core.until(lambda: page.offers() == [["find"], []])
    assert not page.browser.is_watched
    session._stop_holding()
    assert (await page.core.call("find"))["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"
    await (await page.session()).import_webmcp()


async def test_the_end_of_the_session_ends_the_import() -> None:
    page = Page(native("find"))
    session = await page.session()
    await session.import_webmcp()
    await session.end()
    assert not page.browser.is_watched
    assert page.offers() == [["find"]]


async def test_an_import_that_fails_leaves_nothing_behind_and_may_be_tried_again() -> None:
    page = Page(native("find"))
    page.core.answers["offer_tools"] = lambda frame: refused(frame, "THREAD_ACCESS_DENIED")
    session = await page.session()
    with pytest.raises(PedelecError, match="no") as caught:
        await session.import_webmcp()
    assert caught.value.code == "THREAD_ACCESS_DENIED"
    assert not page.browser.is_watched
    page.core.answers["offer_tools"] = ok
    await session.import_webmcp()


async def test_an_offer_that_core_has_no_time_for_is_made_again() -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()

    def busy_once(frame: Json) -> Json:
        page.core.answers["offer_tools"] = ok
        answer = refused(frame, "TOO_MANY_REQUESTS")
        answer["error"] |= {"class": "retryable", "retryAfterSeconds": 0.001}
        return answer

    page.core.answers["offer_tools"] = busy_once
    page.browser.change(native("zoom"))
    await page.core.until(lambda: len(page.offers()) == 3)
    assert page.offers() == [["find"], ["zoom"], ["zoom"]]


async def test_a_change_that_cannot_be_offered_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    page = Page(native("find"))
    await (await page.session()).import_webmcp()
    page.core.answers["offer_tools"] = lambda frame: refused(frame, "SESSION_ENDED")
    with caplog.at_level(logging.WARNING, "pedelec"):
        page.browser.change(native("zoom"))
        await page.core.until(lambda: len(page.offers()) == 2)
        await settle()
    assert "could not be offered" in caplog.text
    await asyncio.sleep(0)
