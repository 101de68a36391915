"""The page socket: who may open it, and what a misbehaving page brings upon itself and nobody else."""

import json
import socket
from contextlib import AbstractContextManager, suppress
from typing import Any

import pytest
from websockets import Origin
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pedelec import batches
from pedelec.errors import Code
from pedelec.json_text import JsonObject
from pedelec.protocol import (
    PROTOCOL_VERSION,
    CheckArgs,
    ErrorEvent,
    Limits,
    OfferTools,
    Ping,
    Pong,
    Response,
    ToolCall,
    encode,
)
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.core_process import WAIT_SECONDS

APPROVED = "https://app.example"


def page_socket(
    core: CoreProcess, origin: str | None, path: str = "/page"
) -> AbstractContextManager[ClientConnection]:
    """Open a socket as a page of some origin, or as no page at all."""
    return connect(
        f"ws://127.0.0.1:{core.port}{path}",
        origin=None if origin is None else Origin(origin),
        compression=None,
        proxy=None,
        max_size=None,
        max_queue=1,
    )


def refusal(core: CoreProcess, origin: str | None) -> int:
    with pytest.raises(InvalidStatus) as caught, page_socket(core, origin):
        pass
    return caught.value.response.status_code


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_cores_own_pages_may_connect(core: CoreProcess, name: str) -> None:
    with page_socket(core, f"http://{name}:{core.port}"):
        pass


def test_an_approved_origins_pages_may_connect(core: CoreProcess) -> None:
    with PageClient(core.url, origin=APPROVED) as page:
        page.create_session()
        (thread,) = core.cli("threads").json["result"]["threads"]
        assert thread["origin"] == APPROVED
        page.end_session()


@pytest.mark.parametrize(
    "origin", ["null", "file://", "https://APP.example", "https://app.example.", "chrome-extension://abc"]
)
def test_what_is_no_web_origin_may_not(core: CoreProcess, origin: str) -> None:
    assert refusal(core, origin) == 403


def test_what_is_no_page_may_not(core: CoreProcess) -> None:
    assert refusal(core, None) == 403


def test_a_page_that_reaches_core_by_another_name_may_not(core: CoreProcess) -> None:
    with socket.create_connection(("127.0.0.1", core.port), timeout=20) as raw:
        lines = [
            "GET /page HTTP/1.1",
            f"Host: evil.example:{core.port}",
            f"Origin: http://evil.example:{core.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ]
        raw.sendall("\r\n".join([*lines, "", ""]).encode())
        assert raw.recv(65_536).startswith(b"HTTP/1.1 421")


def test_other_sockets_are_not_there(core: CoreProcess) -> None:
    for path in ("/", "/healthz", "/pages", "/runtime/x", "/sdk/x"):
        with (
            pytest.raises(InvalidStatus) as caught,
            connect(
                f"ws://127.0.0.1:{core.port}{path}", origin=Origin(core.url), compression=None, proxy=None
            ),
        ):
            pass
        assert caught.value.response.status_code in {403, 404}


def read_to_the_end(connection: ClientConnection) -> None:
    while True:
        connection.recv(20)


def close_code(connection: ClientConnection) -> int | None:
    """Read until the connection is over; the code that Core closed it with."""
    with pytest.raises(ConnectionClosed) as caught:
        read_to_the_end(connection)
    return None if caught.value.rcvd is None else caught.value.rcvd.code


def test_a_binary_frame_is_answered_and_ends_the_connection(core: CoreProcess, page: PageClient) -> None:
    page.socket.send(b"\x00\xff")
    error = page.receive(ErrorEvent).error
    assert error["code"] == Code.SDK_PROTOCOL_ERROR
    assert close_code(page.socket) == 1003


def test_a_frame_that_is_too_large_ends_its_own_connection_alone(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    with page_socket(core, core.url) as other:
        with suppress(ConnectionClosed):
            other.send("x" * (2 * Limits().max_frame_bytes + 1))  # up to that it is read, to be answered
        assert close_code(other) in {1009, None}  # None: the end outran the close frame
    running = core.start_cli("tool-call", "probe", "{}")
    page.submit(page.receive(ToolCall), "alive")
    assert running.finish().json["result"] == "alive"


def said_in(frame: str | bytes) -> list[Any]:
    return [json.loads(message) for message in str(frame).split("\n")]


def greeted(connection: ClientConnection, **more: object) -> Any:
    """Say hello; the welcome."""
    hello = {"type": "hello", "protocol": PROTOCOL_VERSION, "pageInstanceId": "batches", "sdkVersion": "0"}
    connection.send(json.dumps(hello | more))
    (welcome,) = said_in(connection.recv(WAIT_SECONDS))
    return welcome


PINGS = "\n".join(encode(Ping(id=number)) for number in range(batches.MOST_MESSAGES))


def test_messages_that_share_a_frame_are_answered_in_one(core: CoreProcess) -> None:
    with page_socket(core, core.url) as connection:
        assert greeted(connection, batches=True)["batches"] is True
        connection.send(PINGS)
        pongs = [{"type": "pong", "id": number} for number in range(batches.MOST_MESSAGES)]
        assert said_in(connection.recv(WAIT_SECONDS)) == pongs


def test_a_page_that_has_not_said_that_it_reads_them_neither_gets_nor_sends_such_frames(
    core: CoreProcess,
) -> None:
    with page_socket(core, core.url) as connection:
        assert "batches" not in greeted(connection)
        connection.send(PINGS)
        (error,) = said_in(connection.recv(WAIT_SECONDS))
        assert error["error"]["code"] == Code.SDK_PROTOCOL_ERROR


def test_more_messages_than_may_share_a_frame_are_no_message(core: CoreProcess) -> None:
    with page_socket(core, core.url) as connection:
        greeted(connection, batches=True)
        connection.send(f"{PINGS}\n{encode(Ping(id=9))}")
        (error,) = said_in(connection.recv(WAIT_SECONDS))
        assert error["error"]["code"] == Code.SDK_PROTOCOL_ERROR
        connection.send(encode(Ping(id=10)))
        assert said_in(connection.recv(WAIT_SECONDS)) == [{"type": "pong", "id": 10}]


def test_text_that_is_not_utf8_ends_its_own_connection_alone(core: CoreProcess, page: PageClient) -> None:
    with page_socket(core, core.url) as other:
        other.send(b"\xff\xfe", text=True)
        assert close_code(other) == 1007
    page.send(Ping(id=7))
    assert page.receive(Pong).id == 7


def test_a_frame_that_is_no_message_is_answered_and_harms_nothing(
    core: CoreProcess, page: PageClient
) -> None:
    for text in ("", "{", "[]", "null", '{"type":"nope"}', '{"type":"hello"}', "[" * 100_000, "\x00"):
        page.socket.send(text)
        assert page.receive(ErrorEvent).error["code"] == Code.SDK_PROTOCOL_ERROR
    page.send(Ping(id=8))
    assert page.receive(Pong).id == 8


def test_frames_in_pieces_are_read_as_one(page: PageClient) -> None:
    page.socket.send(['{"type":', '"ping",', '"id":9}'])
    assert page.receive(Pong).id == 9


def test_messages_arrive_in_the_order_in_which_they_were_sent(page: PageClient) -> None:
    for number in range(500):
        page.send(Ping(id=number))
    assert [page.receive(Pong).id for _ in range(500)] == list(range(500))


def test_a_page_may_offer_tools_later_and_have_arguments_checked(core: CoreProcess) -> None:
    schema: JsonObject = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    with PageClient(core.url) as page, PageClient(core.url) as stranger:
        thread = page.create_session([tool("draw")])

        def offered(by: PageClient, *tools: JsonObject) -> Response:
            return by.request(OfferTools(request_id=by.next_id(), session_id=thread, tools=list(tools)))

        def checked(name: str, args: JsonObject) -> Response:
            return page.request(CheckArgs(request_id=page.next_id(), session_id=thread, tool=name, args=args))

        assert not offered(stranger, tool("search")).ok
        assert offered(page, tool("search", schema)).ok
        listed = core.cli("--thread-id", thread, "tool-list").json["result"]["tools"]
        assert [each["name"] for each in listed] == ["draw", "search"]
        assert checked("search", {"q": "x"}).ok
        for answer, code in (
            (checked("search", {"Q": "x"}), Code.TOOL_ARGS_INVALID),
            (checked("serach", {}), Code.TOOL_NOT_FOUND),
            (offered(page, tool("draw")), Code.INVALID_INPUT),
        ):
            assert answer.error is not None
            assert answer.error["code"] == code
        page.end_session()
