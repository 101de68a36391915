"""What arrives at a real Core and should not: it ends in an error, for its sender alone."""

import gzip
import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from pedelec import batches
from pedelec.errors import Code
from pedelec.json_text import JsonObject
from pedelec.protocol import (
    CreateSession,
    ErrorEvent,
    Limits,
    Ping,
    Pong,
    Response,
    ResumeSession,
    ToolCall,
    encode,
)
from tests.harness import CoreProcess, PageClient, limits, tool
from tests.harness.mcp_client import bearer
from tests.security.raw import head, http_connection, masked_frame, read_all, upgrade_head

FRAME = Limits().max_frame_bytes


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    with CoreProcess(tmp_path_factory.mktemp("core") / "state") as core:
        yield core
        assert "Traceback" not in core.log


@pytest.fixture
def page(core: CoreProcess) -> Iterator[PageClient]:
    with PageClient(core.url) as page:
        yield page
        if page.session_id:
            page.end_session()


def refusal(page: PageClient, frame: str) -> Response:
    page.socket.send(frame)
    answer = page.receive(Response)
    assert answer.error is not None
    return answer


def assert_goes_on(core: CoreProcess, page: PageClient) -> None:
    """The page's own connection, and Core for everybody else."""
    page.send(Ping(id=1))
    assert page.receive(Pong).id == 1
    assert core.cli("status").json["ok"]


# --- frames of pages -----------------------------------------------------------------------------------


def test_a_frame_that_is_too_large_is_answered_by_its_id(core: CoreProcess, page: PageClient) -> None:
    create = encode(
        CreateSession(request_id="big", guidance="x" * FRAME, tools=[], auto_end_on_disconnect=True)
    )
    answer = refusal(page, create)
    assert answer.request_id == "big"
    assert answer.error is not None
    assert answer.error["code"] == Code.MESSAGE_TOO_LARGE
    assert_goes_on(core, page)


def test_the_limit_is_in_bytes_not_characters(core: CoreProcess, page: PageClient) -> None:
    frame = f'{{"type":"ping","id":1,"x":"{"€" * (FRAME // 3)}"}}'
    page.socket.send(frame)
    assert page.receive(ErrorEvent).error["code"] == Code.MESSAGE_TOO_LARGE
    assert_goes_on(core, page)


@pytest.mark.parametrize(
    "rest", ['"guidance":', '"guidance":"\\ud800","tools":[]}', "", "[" * 50_000, '"tools":[{]}']
)
def test_a_frame_that_cannot_be_read_is_answered_by_its_id_where_it_has_one(
    core: CoreProcess, page: PageClient, rest: str
) -> None:
    answer = refusal(page, '{"type":"create_session","requestId":"r1",' + rest)
    assert answer.request_id == "r1"
    assert answer.error is not None
    assert answer.error["code"] == Code.SDK_PROTOCOL_ERROR
    assert_goes_on(core, page)


def test_an_id_that_is_too_long_is_not_repeated(core: CoreProcess, page: PageClient) -> None:
    page.socket.send(encode(ResumeSession(request_id="x" * 201, session_id="s", last_seq=0)))
    assert page.receive(ErrorEvent).error["code"] == Code.SDK_PROTOCOL_ERROR
    assert_goes_on(core, page)


def test_compression_is_not_offered_and_compressed_frames_are_refused(core: CoreProcess) -> None:
    with http_connection(core) as connection:
        connection.sendall(
            upgrade_head(core, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
        )
        answer = connection.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 101")
        assert b"permessage-deflate" not in answer.lower()
        connection.sendall(masked_frame(0xC1, b"\xaa\x56\x2a"))
        said = read_all(connection)
        assert said[:1] == b"\x88", "a close frame"
        assert int.from_bytes(said[2:4]) == 1002
    assert core.cli("status").json["ok"]


def test_a_message_in_endless_pieces_is_ended(core: CoreProcess, page: PageClient) -> None:
    def pieces() -> Iterator[str]:
        while True:
            yield "x" * 1_000_000

    with pytest.raises(ConnectionClosed):
        page.socket.send(pieces())
    page.session_id = ""
    assert core.cli("status").json["ok"]


# --- results, arguments, schemas -----------------------------------------------------------------------


def test_arguments_that_are_too_large_or_too_deep_are_refused(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    for text in ('{"a":"' + "x" * Limits().max_args_bytes + '"}', '{"a":' + "[" * 101 + "]" * 101 + "}"):
        error = core.cli("tool-call", "probe", "-", stdin=text.encode()).error
        assert (error["code"], error["effects"]) == (Code.TOOL_ARGS_INVALID, "none")
    assert_goes_on(core, page)


def test_schema_bombs_are_refused_and_the_page_goes_on(core: CoreProcess, page: PageClient) -> None:
    fan: JsonObject = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    bombs: list[JsonObject] = [
        {"type": "object", "$defs": {**fan, "a40": {}}, "$ref": "#/$defs/a0"},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/a.json"}}},
        {"type": "object", "description": "x" * 65_536},
    ]
    for schema in bombs:
        request = CreateSession(
            request_id=page.next_id(), guidance="", tools=[tool("t", schema)], auto_end_on_disconnect=True
        )
        answer = page.request(request)
        assert answer.error is not None
        assert answer.error["code"] == Code.INVALID_INPUT
        assert "argsSchema" in str(answer.error["message"])
    page.create_session([tool("probe")])
    assert_goes_on(core, page)


def test_a_pattern_bomb_does_not_keep_others_waiting(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe", {"type": "object", "properties": {"a": {"pattern": "(?=a*b)c"}}})])
    text = json.dumps({"a": "a" * 1_000_000})
    error = core.cli("tool-call", "probe", "-", stdin=text.encode()).error
    assert (error["code"], error["effects"]) == (Code.TOOL_ARGS_INVALID, "none")
    assert_goes_on(core, page)


# --- too much, too fast --------------------------------------------------------------------------------


def test_who_guesses_session_ids_is_slowed_down(tmp_path: Path) -> None:
    with (
        CoreProcess(tmp_path / "state", *limits(guesses_at_once=5)) as core,
        PageClient(core.url) as page,
        PageClient(core.url) as guesser,
    ):
        session = page.create_session([tool("probe")])
        codes = [str((guesser.resume_session(f"ses_{number}").error or {})["code"]) for number in range(40)]
        assert codes[:5] == [Code.THREAD_ACCESS_DENIED] * 5
        assert Code.TOO_MANY_REQUESTS in codes
        assert set(codes) <= {Code.THREAD_ACCESS_DENIED, Code.TOO_MANY_REQUESTS}
        assert guesser.resume_session(session).ok, "who knows the id is let in all the same"


def test_a_flood_from_one_page_is_ended_and_keeps_nobody_waiting(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    with http_connection(core) as flood:
        flood.sendall(upgrade_head(core))
        assert flood.recv(65_536).startswith(b"HTTP/1.1 101")
        with suppress(ConnectionError):
            flood.sendall(masked_frame(0x81, b'{"type":"nonsense"}') * 50_000)
            flood.shutdown(socket.SHUT_WR)
        call = core.start_cli("tool-call", "probe", "{}")
        page.submit(page.receive(ToolCall), "alive")
        assert call.finish().json["result"] == "alive"
        said = read_all(flood)
        assert said.count(b"SDK_PROTOCOL_ERROR") <= 101
    assert_goes_on(core, page)


def test_a_page_that_sends_too_fast_is_told_and_read_more_slowly_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    with (
        CoreProcess(tmp_path / "state", *limits(frames_per_second=500, frames_at_once=50)) as core,
        PageClient(core.url) as page,
        PageClient(core.url) as flood,
    ):
        for number in range(400):
            flood.socket.send(encode(Ping(id=number)))
        page.create_session([tool("probe")])
        call = core.start_cli("tool-call", "probe", "{}")
        page.submit(page.receive(ToolCall), "alive")
        assert call.finish().json["result"] == "alive"
        told = flood.receive(ErrorEvent).error
        assert (told["code"], told["class"]) == (Code.TOO_MANY_REQUESTS, "retryable")
        assert "500 frames a second" in str(told["message"])
        assert [flood.receive(Pong).id for _ in range(400)] == list(range(400))
        assert len(re.findall(r"page \w+ sends too fast", core.log)) == 1


def test_messages_that_share_frames_are_counted_one_by_one(tmp_path: Path) -> None:
    pings = [encode(Ping(id=number)) for number in range(400)]
    with (
        CoreProcess(tmp_path / "state", *limits(frames_per_second=500, frames_at_once=100)) as core,
        PageClient(core.url, batches=True) as flood,
    ):
        for frame in batches.join(pings):
            flood.socket.send(frame)
        assert flood.receive(ErrorEvent).error["code"] == Code.TOO_MANY_REQUESTS
        assert [flood.receive(Pong).id for _ in pings] == list(range(400))


# --- HTTP ----------------------------------------------------------------------------------------------


def mcp_post(core: CoreProcess, body: bytes, **headers: str) -> httpx.Response:
    plain = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return httpx.post(
        f"{core.url}/mcp",
        content=body,
        headers={**plain, **bearer(core), **headers},
        timeout=20,
        trust_env=False,
    )


def test_a_compressed_body_is_not_unpacked(core: CoreProcess) -> None:
    bomb = gzip.compress(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 50_000_000 + b'"}')
    answer = mcp_post(core, bomb, **{"Content-Encoding": "gzip"})
    assert answer.status_code in {400, 415}
    assert core.cli("status").json["ok"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b"null",
        b'"\\ud800"',
    ],
    ids=["empty", "not UTF-8", "deep", "deep parameters", "null", "surrogate"],
)
def test_a_body_that_is_no_message_is_refused(core: CoreProcess, body: bytes) -> None:
    assert mcp_post(core, body).status_code in {400, 415}
    assert core.cli("status").json["ok"]


def test_a_body_that_is_too_large_is_refused(core: CoreProcess) -> None:
    assert mcp_post(core, b" " * (FRAME + 1)).status_code == 413
    assert core.cli("status").json["ok"]


def test_a_head_that_is_too_large_is_refused(core: CoreProcess) -> None:
    with http_connection(core) as connection:
        with suppress(ConnectionError):
            connection.sendall(head(core, "GET", "/", "X-Large: " + "x" * 1_000_000))
        said = read_all(connection)
        assert said == b"" or re.match(rb"HTTP/1.1 4\d\d", said)
    assert core.cli("status").json["ok"]
