"""Limits that `serve --limit` sets, met at a real Core: each with an error that says what is too much."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from pedelec.json_text import JsonObject, JsonValue
from pedelec.protocol import CreateSession, ErrorEvent, ToolCall
from tests.harness import CoreProcess, PageClient, limits, run_core, tool


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """A Core that takes very little."""
    words = limits(
        frame_bytes=2_000,
        args_bytes=200,
        result_bytes=200,
        depth=5,
        tools_per_session=2,
        schema_bytes=300,
        schema_size=20,
        patterns_per_schema=1,
        description_chars=20,
        guidance_chars=20,
        app_name_chars=10,
        sessions_per_origin=2,
        calls_running=1,
        faults_per_page=2,
    )
    with CoreProcess(tmp_path_factory.mktemp("core") / "state", *words) as core:
        yield core


@pytest.fixture
def page(core: CoreProcess) -> Iterator[PageClient]:
    with PageClient(core.url) as page:
        yield page
        if page.session_id:
            page.end_session()


def schema_of(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": dict(properties)}


TOO_MUCH: dict[str, tuple[JsonObject, str, str]] = {
    "tools": ({"tools": [tool(f"t{n}") for n in range(3)]}, "INVALID_INPUT", "may offer 2 tools"),
    "schema bytes": (
        {"tools": [tool("t", {"type": "object", "title": "x" * 300})]},
        "INVALID_INPUT",
        "larger than 300 bytes",
    ),
    "schema size": (
        {"tools": [tool("t", schema_of(**{f"a{n}": {"enum": [1]} for n in range(9)}))]},
        "INVALID_INPUT",
        "more than 20 parts",
    ),
    "patterns": (
        {"tools": [tool("t", schema_of(a={"pattern": "a"}, b={"pattern": "b"}))]},
        "INVALID_INPUT",
        "more than 1 patterns",
    ),
    "description": ({"tools": [tool("t", description="x" * 21)]}, "INVALID_INPUT", "than 20 characters"),
    "guidance": ({"guidance": "x" * 21}, "INVALID_INPUT", "than 20 characters"),
    "app name": ({"app_name": "x" * 11}, "INVALID_INPUT", "than 10 characters"),
    "frame": ({"guidance": "x" * 2_000}, "MESSAGE_TOO_LARGE", "2000 bytes"),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_a_session_that_asks_for_too_much_is_told_what(page: PageClient, kind: str) -> None:
    wanted, code, words = TOO_MUCH[kind]
    request = {"guidance": "", "tools": [], "auto_end_on_disconnect": True, **wanted}
    error = page.request(CreateSession(request_id="r", **request)).error  # type: ignore[arg-type]
    assert error is not None
    assert error["code"] == code
    assert words in str(error["message"])
    assert page.create_session([tool("t")])


def test_no_more_sessions_than_allowed_are_made(core: CoreProcess, page: PageClient) -> None:
    with PageClient(core.url) as second, PageClient(core.url) as third:
        page.create_session()
        second.create_session()
        request = CreateSession(request_id="r", guidance="", tools=[], auto_end_on_disconnect=True)
        error = third.request(request).error
        assert error is not None
        assert (error["code"], error["details"]) == (
            "LIMIT_REACHED",
            {"limit": "sessions-per-origin", "allowed": 2},
        )
        second.end_session()


def test_arguments_and_results_are_held_to_their_limits(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    for arguments, words in (({"a": "x" * 300}, "200 are allowed"), ({"a": [[[[[1]]]]]}, "more than 5 deep")):
        error = core.cli("tool-call", "probe", json.dumps(arguments)).error
        assert error["code"] == "TOOL_ARGS_INVALID"
        assert words in error["message"]
    results: list[tuple[JsonValue, str]] = [
        ("x" * 300, "TOOL_RESULT_TOO_LARGE"),
        ([[[[[[1]]]]]], "TOOL_RESULT_NOT_SERIALIZABLE"),
    ]
    for result, code in results:
        call = core.start_cli("tool-call", "probe", "{}")
        page.submit(page.receive(ToolCall), result)
        assert call.finish().json["result"]["error"]["code"] == code


def test_no_more_calls_than_allowed_run(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = core.start_cli("tool-call", "probe", "{}")
    call = page.receive(ToolCall)
    assert core.cli("tool-call", "probe", '{"n":2}').error["code"] == "TOOL_BUSY"
    page.submit(call, "done")
    assert running.finish().json["ok"]


def test_who_sends_too_much_that_is_no_message_is_hung_up_on(core: CoreProcess) -> None:
    with PageClient(core.url) as page:
        for _ in range(3):
            page.socket.send("nonsense")
            assert page.receive(ErrorEvent).error["code"] == "SDK_PROTOCOL_ERROR"
        with pytest.raises(ConnectionClosed) as caught:
            page.socket.recv(20)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1008


@pytest.mark.parametrize("setting", ["nope=1", "depth=0", "calls-per-second=fast"])
def test_a_limit_that_cannot_be_set_is_refused_by_its_name(tmp_path: Path, setting: str) -> None:
    refused = run_core("serve", "--port", "0", "--state-dir", str(tmp_path / "state"), "--limit", setting)
    assert refused.status == 2
    assert setting.partition("=")[0] in refused.stderr
