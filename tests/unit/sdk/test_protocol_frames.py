"""The exact JSON of every message, both ways. A byte that changes here is a decision, not an accident."""

import dataclasses
from typing import Any, get_args

import pytest

from pedelec import wire_fields
from pedelec.json_text import RawJson
from pedelec.protocol import (
    ApprovalPending,
    CheckArgs,
    CoreMessage,
    CreateSession,
    Ended,
    EndSession,
    ErrorEvent,
    GetApprovalStatus,
    Hello,
    Message,
    OfferTools,
    PageMessage,
    Ping,
    Pong,
    ProtocolError,
    RequestApproval,
    Response,
    ResultsConfirmed,
    ResumeSession,
    SubmitToolResult,
    ToolAnswer,
    ToolCall,
    ToolCancel,
    ToolProgress,
    ToolResumed,
    ToolWaiting,
    Welcome,
    decode_from_core,
    decode_from_page,
    encode,
)
from tests.harness.tables import each_row

TOOL: dict[str, Any] = {"name": "a", "description": "é", "argsSchema": {"type": "object"}}

FROM_PAGE: list[tuple[Message, str]] = [
    (
        Hello(protocol=1, page_instance_id="p-1", sdk_version="0.1.0"),
        '{"type":"hello","protocol":1,"pageInstanceId":"p-1","sdkVersion":"0.1.0"}',
    ),
    (
        Hello(protocol=1, page_instance_id="p-1", sdk_version="0.1.0", batches=True),
        '{"type":"hello","protocol":1,"pageInstanceId":"p-1","sdkVersion":"0.1.0","batches":true}',
    ),
    (
        CreateSession(
            request_id="r1", guidance="g", tools=[TOOL], auto_end_on_disconnect=True, app_name="Board"
        ),
        (
            '{"type":"create_session","requestId":"r1","guidance":"g",'
            '"tools":[{"name":"a","description":"é","argsSchema":{"type":"object"}}],'
            '"autoEndOnDisconnect":true,"appName":"Board"}'
        ),
    ),
    (
        CreateSession(request_id="r1", guidance="", tools=[], auto_end_on_disconnect=False),
        '{"type":"create_session","requestId":"r1","guidance":"","tools":[],"autoEndOnDisconnect":false}',
    ),
    (
        ResumeSession(request_id="r2", session_id="s", last_seq=4),
        '{"type":"resume_session","requestId":"r2","sessionId":"s","lastSeq":4}',
    ),
    (
        OfferTools(request_id="r7", session_id="s", tools=[TOOL]),
        (
            '{"type":"offer_tools","requestId":"r7","sessionId":"s",'
            '"tools":[{"name":"a","description":"é","argsSchema":{"type":"object"}}]}'
        ),
    ),
    (
        CheckArgs(request_id="r8", session_id="s", tool="a", args={"x": 1}),
        '{"type":"check_args","requestId":"r8","sessionId":"s","tool":"a","args":{"x":1}}',
    ),
    (
        EndSession(request_id="r3", session_id="s"),
        '{"type":"end_session","requestId":"r3","sessionId":"s"}',
    ),
    (
        SubmitToolResult(request_id="r4", session_id="s", tool_request_id="t", result={"a": [1, None]}),
        (
            '{"type":"submit_tool_result","requestId":"r4","sessionId":"s","toolRequestId":"t",'
            '"result":{"a":[1,null]}}'
        ),
    ),
    (
        SubmitToolResult(request_id="r5", session_id="s", tool_request_id="t", result=None),
        '{"type":"submit_tool_result","requestId":"r5","sessionId":"s","toolRequestId":"t","result":null}',
    ),
    (
        ToolProgress(session_id="s", tool_request_id="t", done=0.5, total=2, message="half"),
        '{"type":"tool_progress","sessionId":"s","toolRequestId":"t","done":0.5,"total":2,"message":"half"}',
    ),
    (
        ToolProgress(session_id="s", tool_request_id="t", done=1),
        '{"type":"tool_progress","sessionId":"s","toolRequestId":"t","done":1}',
    ),
    (
        ToolWaiting(
            session_id="s",
            tool_request_id="t",
            question_id="q1",
            kind="approval",
            message="Allow?",
            arguments="x: 1",
            schema={"type": "object"},
            name="n",
            hidden=True,
        ),
        (
            '{"type":"tool_waiting","sessionId":"s","toolRequestId":"t","questionId":"q1","kind":"approval",'
            '"message":"Allow?","arguments":"x: 1","schema":{"type":"object"},"name":"n","hidden":true}'
        ),
    ),
    (
        ToolWaiting(
            session_id="s",
            tool_request_id="t",
            question_id="q2",
            kind="question",
            message="Which?",
            schema={"type": "object"},
            hidden=False,
        ),
        (
            '{"type":"tool_waiting","sessionId":"s","toolRequestId":"t","questionId":"q2","kind":"question",'
            '"message":"Which?","schema":{"type":"object"},"hidden":false}'
        ),
    ),
    (
        ToolResumed(session_id="s", tool_request_id="t", question_id="q1"),
        '{"type":"tool_resumed","sessionId":"s","toolRequestId":"t","questionId":"q1"}',
    ),
    (GetApprovalStatus(request_id="r6"), '{"type":"get_approval_status","requestId":"r6"}'),
    (
        RequestApproval(request_id="r7", tools=[{"name": "a"}], app_name="Board"),
        '{"type":"request_approval","requestId":"r7","tools":[{"name":"a"}],"appName":"Board"}',
    ),
    (
        RequestApproval(request_id="r7", tools=[]),
        '{"type":"request_approval","requestId":"r7","tools":[]}',
    ),
    (Ping(id=1), '{"type":"ping","id":1}'),
    (Pong(id=1), '{"type":"pong","id":1}'),
]

FROM_CORE: list[tuple[Message, str]] = [
    (
        Welcome(
            protocol=1, core_instance_id="c", core_version="0.1.0", heartbeat_ms=10, limits={"maxDepth": 100}
        ),
        (
            '{"type":"welcome","protocol":1,"coreInstanceId":"c","coreVersion":"0.1.0","heartbeatMs":10,'
            '"limits":{"maxDepth":100}}'
        ),
    ),
    (
        Welcome(protocol=1, core_instance_id="c", core_version="0", heartbeat_ms=10, limits={}, batches=True),
        (
            '{"type":"welcome","protocol":1,"coreInstanceId":"c","coreVersion":"0","heartbeatMs":10,'
            '"limits":{},"batches":true}'
        ),
    ),
    (
        Response(request_id="r1", ok=True, result={"sessionId": "s"}),
        '{"type":"response","requestId":"r1","ok":true,"result":{"sessionId":"s"}}',
    ),
    (
        Response(request_id="r1", ok=False, error={"code": "X", "message": "x"}),
        '{"type":"response","requestId":"r1","ok":false,"error":{"code":"X","message":"x"}}',
    ),
    (
        ResultsConfirmed(request_ids=["r1", "r2"]),
        '{"type":"results_confirmed","requestIds":["r1","r2"]}',
    ),
    (
        ApprovalPending(request_id="r1", timeout_ms=120_000),
        '{"type":"approval_pending","requestId":"r1","timeoutMs":120000}',
    ),
    (
        ToolCall(
            session_id="s",
            seq=3,
            tool_request_id="t",
            turn_id="u",
            turn_started_at=1_700_000_000_000,
            tool="a",
            timeout_ms=60_000,
            args={"x": "é"},
        ),
        (
            '{"type":"tool_call","sessionId":"s","seq":3,"toolRequestId":"t","turnId":"u",'
            '"turnStartedAt":1700000000000,"tool":"a","timeoutMs":60000,"args":{"x":"é"}}'
        ),
    ),
    (
        ToolCall(
            session_id="s",
            seq=3,
            tool_request_id="t",
            turn_id="u",
            turn_started_at=1,
            tool="a",
            timeout_ms=1,
            args={},
            approval="always",
        ),
        (
            '{"type":"tool_call","sessionId":"s","seq":3,"toolRequestId":"t","turnId":"u","turnStartedAt":1,'
            '"tool":"a","timeoutMs":1,"args":{},"approval":"always"}'
        ),
    ),
    (
        ToolAnswer(
            session_id="s", tool_request_id="t", question_id="q1", action="accept", content={"answer": "é"}
        ),
        (
            '{"type":"tool_answer","sessionId":"s","toolRequestId":"t","questionId":"q1","action":"accept",'
            '"content":{"answer":"é"}}'
        ),
    ),
    (
        ToolAnswer(session_id="s", tool_request_id="t", question_id="q1", action="decline"),
        '{"type":"tool_answer","sessionId":"s","toolRequestId":"t","questionId":"q1","action":"decline"}',
    ),
    (
        ToolCancel(session_id="s", seq=4, tool_request_id="t", reason="timeout"),
        '{"type":"tool_cancel","sessionId":"s","seq":4,"toolRequestId":"t","reason":"timeout"}',
    ),
    (
        Ended(session_id="s", seq=5, reason="requested"),
        '{"type":"ended","sessionId":"s","seq":5,"reason":"requested"}',
    ),
    (
        ErrorEvent(error={"code": "X", "message": "x"}, session_id="s"),
        '{"type":"error","error":{"code":"X","message":"x"},"sessionId":"s"}',
    ),
    (
        ErrorEvent(error={"code": "X", "message": "x"}),
        '{"type":"error","error":{"code":"X","message":"x"}}',
    ),
    (Ping(id=2), '{"type":"ping","id":2}'),
    (Pong(id=2), '{"type":"pong","id":2}'),
]


def kinds(union: Any) -> set[type]:
    return set(get_args(union.__value__))


def test_every_message_is_pinned_with_and_without_what_may_be_left_out() -> None:
    assert {type(message) for message, _ in FROM_PAGE} == kinds(PageMessage)
    assert {type(message) for message, _ in FROM_CORE} == kinds(CoreMessage)
    for message, _ in FROM_PAGE + FROM_CORE:
        for field in dataclasses.fields(message):
            if field.default is None:
                values = {
                    getattr(other, field.name) is None
                    for other, _ in FROM_PAGE + FROM_CORE
                    if type(other) is type(message)
                }
                assert values == {True, False}, (type(message), field.name)


@each_row(("message", "text"), FROM_PAGE)
def test_a_message_of_the_page_is_exactly_this_json(message: Message, text: str) -> None:
    assert encode(message) == text
    assert decode_from_page(text) == message


@each_row(("message", "text"), FROM_CORE)
def test_a_message_of_core_is_exactly_this_json(message: Message, text: str) -> None:
    assert encode(message) == text
    assert decode_from_core(text) == message


def test_json_that_is_text_already_is_spliced_in_last() -> None:
    message = SubmitToolResult(
        request_id="r", session_id="s", tool_request_id="t", result=RawJson('{"b":1.50}')
    )
    assert encode(message) == (
        '{"type":"submit_tool_result","requestId":"r","sessionId":"s","toolRequestId":"t","result":{"b":1.50}}'
    )


def test_fields_that_the_receiver_does_not_know_are_ignored() -> None:
    assert decode_from_core('{"type":"ping","id":1,"newer":{}}') == Ping(id=1)


@pytest.mark.parametrize(
    ("text", "problem", "request_id"),
    [
        ("", "not JSON", None),
        ("[" * 100_000, "not JSON", None),
        ('{"type":"ping","id":NaN}', "not JSON", None),
        ("[]", "not a JSON object", None),
        ('{"type":"welcome","requestId":"r"}', "Unknown message type", "r"),
        ('{"type":5}', "Unknown message type", None),
        ('{"requestId":5}', "Unknown message type", None),
        ('{"type":"end_session","requestId":"r"}', "lacks sessionId", "r"),
        ('{"type":"end_session","requestId":"r","sessionId":null}', "must be a string", "r"),
        ('{"type":"resume_session","requestId":"r","sessionId":"s","lastSeq":true}', "an integer", "r"),
        ('{"type":"tool_progress","sessionId":"s","toolRequestId":"t","done":"1"}', "a number", None),
        ('{"type":"create_session","requestId":"r","guidance":"","tools":[1]}', "an array of objects", "r"),
    ],
)
def test_a_frame_that_is_no_message_says_why_and_whom_to_answer(
    text: str, problem: str, request_id: str | None
) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode_from_page(text)
    assert problem in caught.value.message
    assert caught.value.request_id == request_id


def test_the_wire_names_follow_from_one_rule() -> None:
    assert wire_fields.to_camel("tool_request_id") == "toolRequestId"
    assert wire_fields.to_camel("id") == "id"
