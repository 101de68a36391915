"""From Core's answers to what an MCP client is told."""

import asyncio
import json
from typing import Any

import pytest
from mcp_types import CallToolResult

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, RawJson, encode_value
from pedelec_core.agent_desk import CallAnswer
from pedelec_core.call_events import Progress, Waiting
from pedelec_core.invocation import Answer, Call, Invocation, OpenQuestion, Outcome
from pedelec_core.mcp_gateway import results
from pedelec_core.mcp_gateway.catalogue import Catalogue, Entry
from pedelec_core.mcp_gateway.progress import ProgressPump
from pedelec_core.page_text import UNTRUSTED_NOTE
from tests.unit.core.offers import session


def entry(result_schema: JsonObject | None = None) -> Entry:
    """A tool that declares what it returns."""
    (listed,) = Catalogue(
        [session("https://a.example", "Canvas", "probe")], lambda _origin: 0
    ).entries.values()
    object.__setattr__(listed.tool, "result_schema", result_schema)
    return listed


def answer_of(outcome: Outcome, remark: str | None = None) -> CallAnswer:
    call = Call(tool="probe", args=RawJson("{}"), args_key="", timeout_ms=1)
    invocation = Invocation(id="inv_1", call=call, turn_id="", turn_started_at=0, deadline=0)
    return CallAnswer(Answer("", invocation, outcome), remark=remark)


def told(
    outcome: Outcome, result_schema: JsonObject | None = None, remark: str | None = None
) -> CallToolResult:
    return results.of_answer(answer_of(outcome, remark), entry(result_schema))


def wire_of(given: CallToolResult) -> Any:
    return given.model_dump(by_alias=True, mode="json", exclude_none=True)


def result(value: Any, result_schema: JsonObject | None = None) -> Any:
    """What a page's result becomes, on the wire."""
    return wire_of(told(Outcome(result=RawJson(encode_value(value))), result_schema))


@pytest.mark.parametrize(
    ("value", "structured"),
    [
        ({"a": 1}, {"a": 1}),
        ([1], {"result": [1]}),
        ("x", {"result": "x"}),
        (None, {"result": None}),
        ({}, {}),
    ],
)
def test_structured_content_is_an_object_whatever_the_result_is(value: Any, structured: Any) -> None:
    wire = result(value)
    assert wire["structuredContent"] == structured
    assert json.loads(wire["content"][0]["text"]) == value
    assert wire["isError"] is False


def test_a_remark_on_a_page_s_error_is_a_block_of_its_own() -> None:
    given = told(Outcome(result=RawJson('{"error":{"code":"X","message":"m"}}')), remark="Not again.")
    assert [getattr(block, "text", "") for block in given.content] == [
        '{"error":{"code":"X","message":"m"}}',
        "Not again.",
    ]
    assert given.structured_content == {"error": {"code": "X", "message": "m"}}


def test_a_remark_on_an_error_of_core_is_told_once_among_its_steps() -> None:
    error = PedelecError(Code.TOOL_TIMEOUT, recovery_steps=["Not again.", "Another step."])
    (block,) = told(Outcome(error=error), remark="Not again.").content
    assert getattr(block, "text", "").count("Not again.") == 1


def test_structured_content_holds_to_the_schema_that_is_listed() -> None:
    schema: JsonObject = {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object"}}}
    assert results.output_schema(schema) == {
        "type": "object",
        "properties": {"result": {"$ref": "#/$defs/Node"}},
        "required": ["result"],
        "$defs": {"Node": {"type": "object"}},
    }
    assert result({"a": 1}, schema)["structuredContent"] == {"result": {"a": 1}}
    assert results.output_schema({"type": "object"}) == {"type": "object"}
    assert result({"a": 1}, {"type": "object"})["structuredContent"] == {"a": 1}
    assert results.output_schema(None) is None


def test_an_error_of_core_has_its_envelope_in_both_forms() -> None:
    wire = wire_of(told(Outcome(error=PedelecError(Code.TOOL_TIMEOUT))))
    assert wire["isError"] is True
    assert wire["structuredContent"]["error"]["code"] == "TOOL_TIMEOUT"
    assert json.loads(wire["content"][0]["text"]) == wire["structuredContent"]


@pytest.mark.parametrize("value", [{"error": "text"}, {"error": {"message": "no code"}}, {"error": None}])
def test_what_only_looks_like_an_error_is_a_result(value: Any) -> None:
    assert result(value)["isError"] is False


@pytest.mark.parametrize(
    "value",
    [
        {"content": [{"type": "text", "text": "a"}]},
        {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}], "isError": True},
        {
            "content": [{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}],
            "structuredContent": {"a": 1},
        },
        {
            "content": [
                {"type": "resource", "resource": {"uri": "a://b", "text": "x", "mimeType": "text/plain"}}
            ]
        },
    ],
)
def test_content_in_mcp_s_own_form_goes_out_as_it_is(value: Any) -> None:
    wire = result(value)
    assert {key: wire[key] for key in value} == value
    assert wire["isError"] is value.get("isError", False)


@pytest.mark.parametrize(
    "value",
    [
        {"content": []},
        {"content": [{"text": "a"}]},
        {"content": [{"type": "text", "text": "a", "marks": []}]},
        {"content": [{"type": "paragraph", "content": []}]},
        {"content": [{"type": "text", "text": "a"}], "type": "doc"},
        {"content": [{"type": "image", "data": "***", "mimeType": "image/png"}]},
        {"content": "text"},
    ],
)
def test_what_only_looks_like_content_is_a_result(value: Any) -> None:
    assert result(value)["structuredContent"] == value


def test_a_large_result_becomes_a_link_unless_the_tool_promises_its_form() -> None:
    large = ["x" * results.LINK_OVER_CHARS]
    text, link = result(large)["content"]
    assert link["uri"] == "pedelec://results/inv_1"
    assert str(link["size"]) in text["text"]
    assert len(text["text"]) < 2_000
    assert result(large, {"type": "array"})["structuredContent"] == {"result": large}
    error = {"error": {"code": "X", "message": "y" * results.LINK_OVER_CHARS}}
    assert result(error)["structuredContent"] == error


def test_results_of_pages_are_marked_as_theirs() -> None:
    meta = result(1)["_meta"]
    assert (meta["pedelec/origin"], meta["pedelec/untrustedContent"]) == ("https://a.example", True)
    refused = results.of_error(PedelecError(Code.INTERNAL_ERROR))
    assert refused.meta is None


@pytest.mark.parametrize(
    "value", [1, {"error": {"code": "X", "message": "x"}}, {"content": [{"type": "text", "text": "a"}]}]
)
def test_what_others_wrote_comes_with_a_warning_before_it(value: Any) -> None:
    listed = entry()
    object.__setattr__(listed.tool, "untrusted_content", True)
    wire = wire_of(results.of_answer(answer_of(Outcome(result=RawJson(encode_value(value)))), listed))
    plain = result(value)
    assert wire["content"] == [{"type": "text", "text": UNTRUSTED_NOTE}, *plain["content"]]
    assert wire.get("structuredContent") == plain.get("structuredContent")


async def test_progress_is_sent_in_order_and_only_while_it_rises() -> None:
    sent: list[float] = []

    async def send(done: float, _total: float | None, _message: str | None) -> None:
        sent.append(done)

    pump = ProgressPump(send)
    for done in (0, 1, 1, 0.5, 3):
        pump.put(Progress(done, None, None))
    await pump.finish()
    assert sent == [0, 1, 3]


async def test_a_client_that_cannot_be_told_of_progress_does_not_matter() -> None:
    async def send(_done: float, _total: float | None, _message: str | None) -> None:
        raise ConnectionError

    pump = ProgressPump(send)
    pump.put(Progress(1, None, None))
    await pump.finish()


async def test_waiting_for_a_person_is_told_while_it_lasts_and_takes_nothing_from_the_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pedelec_core.mcp_gateway.progress.REMIND_SECONDS", 0)
    sent: list[tuple[float, float | None, str | None]] = []
    reminded = asyncio.Event()

    async def send(done: float, total: float | None, message: str | None) -> None:
        sent.append((done, total, message))
        if len(sent) >= 4:
            reminded.set()

    asked = OpenQuestion(
        id="q1", kind="approval", message="Sure?", arguments=None, schema={}, name=None, hidden=False
    )
    pump = ProgressPump(send)
    pump.put(Progress(1, 3, "one"))
    pump.put(Waiting((asked,)))
    await reminded.wait()
    pump.put(Waiting(()))
    pump.put(Progress(2, 3, "two"))
    await pump.finish()
    waiting = "Waiting for the user: Sure?"
    assert [message for _, _, message in sent][:4] == ["one", waiting, waiting, waiting]
    assert [message for _, _, message in sent][-2:] == ["The user has answered.", "two"]
    values = [done for done, _, _ in sent]
    assert values == sorted(set(values)), "strictly rising"
    assert (values[-2] < 1.01, values[-1]) == (True, 2)
    assert {total for _, total, _ in sent} == {3}
