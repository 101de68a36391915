"""A page that sends what the SDK would not: the agent still gets exactly one answer, and a sound one."""

import pytest

from pedelec.protocol import Limits, Response, ToolCall
from tests.harness import CoreProcess, PageClient, tool

UNSOUND = {
    "a lone surrogate": (r'{"a":"\ud800"}', "TOOL_RESULT_NOT_SERIALIZABLE", "$.a"),
    "a number beyond doubles": ('{"a":[1e999]}', "TOOL_RESULT_NOT_SERIALIZABLE", "$.a[0]"),
    "an integer that loses digits": ("9007199254740993", "TOOL_RESULT_NOT_SERIALIZABLE", "$"),
    "too deep a nesting": ("[" * 101 + "]" * 101, "TOOL_RESULT_NOT_SERIALIZABLE", None),
    "too much": ('"' + "x" * Limits().max_result_bytes + '"', "TOOL_RESULT_TOO_LARGE", None),
}


@pytest.mark.parametrize("kind", UNSOUND)
def test_an_unsound_result_becomes_an_error_for_the_agent_and_for_the_page(
    core: CoreProcess, page: PageClient, kind: str
) -> None:
    text, code, path = UNSOUND[kind]
    page.create_session([tool("probe")])
    call = core.start_cli("tool-call", "probe", "{}")
    asked = page.receive(ToolCall)
    page.socket.send(
        f'{{"type":"submit_tool_result","requestId":"r","sessionId":"{asked.session_id}",'
        f'"toolRequestId":"{asked.tool_request_id}","result":{text}}}'
    )
    answer = call.finish().json
    assert answer["ok"] is True
    assert answer["result"]["error"]["code"] == code
    if path is not None:
        assert answer["result"]["error"]["details"]["path"] == path
    told = page.receive(Response)
    assert told.error is not None
    assert told.error["code"] == code


@pytest.mark.parametrize("field", ["guidance", "appName"])
def test_text_that_cannot_be_written_as_utf8_is_refused(
    core: CoreProcess, page: PageClient, field: str
) -> None:
    texts = {"guidance": '""', "appName": '""'} | {field: r'"\ud800"'}
    page.socket.send(
        '{"type":"create_session","requestId":"r","tools":[],"autoEndOnDisconnect":true,'
        f'"guidance":{texts["guidance"]},"appName":{texts["appName"]}}}'
    )
    told = page.receive(Response)
    assert told.error is not None
    assert told.error["code"] == "SDK_PROTOCOL_ERROR"
    assert field in str(told.error["message"])
    assert core.cli("threads").json["ok"]
