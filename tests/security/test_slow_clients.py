"""Those who send or read too slowly are cut off, and nobody waits for them."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from websockets import Origin
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from pedelec.protocol import PROTOCOL_VERSION, CreateSession, Hello, encode
from tests.harness import CoreProcess, PageClient, limits, tool
from tests.harness.mcp_client import bearer
from tests.security.raw import (
    head,
    http_connection,
    local_connection,
    masked_frame,
    read_all,
    trickle,
    upgrade_head,
    wait_until,
)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """A Core with little patience."""
    folder = tmp_path_factory.mktemp("core")
    site = folder / "site"
    site.mkdir()
    (site / "large.bin").write_bytes(b"\0" * 40_000_000)
    impatience = limits(
        head_seconds=0.5,
        body_seconds=0.5,
        stall_seconds=0.5,
        unsent_bytes=100_000,
        frames_per_second=1_000_000,
        frames_at_once=1_000_000,
    )
    with CoreProcess(folder / "state", "--site", str(site), *impatience) as core:
        yield core


def assert_others_are_served(core: CoreProcess) -> None:
    assert core.cli("status").json["ok"]
    with http_connection(core) as connection:
        connection.sendall(head(core, "GET", "/healthz", "Connection: close"))
        assert read_all(connection).startswith(b"HTTP/1.1 200")


def test_a_connection_that_asks_nothing_is_ended(core: CoreProcess) -> None:
    with http_connection(core) as connection:
        assert_others_are_served(core)
        assert read_all(connection) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(core: CoreProcess) -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(http_connection(core)) for _ in range(50)]
        for connection in connections:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        assert_others_are_served(core)
        assert trickle(connections[0]) == b""
        assert [read_all(each) for each in connections[1:]] == [b""] * 49


def test_a_second_request_is_not_waited_for_either(core: CoreProcess) -> None:
    with http_connection(core) as connection:
        connection.sendall(head(core, "GET", "/healthz"))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        assert b"200" not in trickle(connection)


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(core: CoreProcess) -> None:
    authorization = f"Authorization: {bearer(core)['Authorization']}"
    with http_connection(core) as connection:
        connection.sendall(
            head(
                core,
                "POST",
                "/mcp",
                authorization,
                "Content-Type: application/json",
                "Accept: application/json, text/event-stream",
                "Content-Length: 100000",
            )
        )
        assert_others_are_served(core)
        assert b"200 OK" not in trickle(connection)


def test_who_does_not_read_a_response_is_cut_off(core: CoreProcess) -> None:
    before = core.log.count("an HTTP client reads too slowly")
    with http_connection(core) as connection:
        connection.sendall(head(core, "GET", "/large.bin"))
        assert_others_are_served(core)
        wait_until(lambda: core.log.count("an HTTP client reads too slowly") > before)


def test_a_page_that_does_not_say_hello_is_cut_off(core: CoreProcess) -> None:
    with http_connection(core) as connection:
        connection.sendall(upgrade_head(core))
        assert_others_are_served(core)
        assert read_all(connection).startswith(b"HTTP/1.1 101")


def test_a_page_that_does_not_read_is_cut_off(core: CoreProcess) -> None:
    with ExitStack() as stack:
        page = stack.enter_context(http_connection(core))
        page.sendall(upgrade_head(core))
        assert page.recv(65_536).startswith(b"HTTP/1.1 101")
        for message in (
            Hello(protocol=PROTOCOL_VERSION, page_instance_id="deaf", sdk_version="0"),
            CreateSession(request_id="r", guidance="", tools=[tool("probe")], auto_end_on_disconnect=True),
        ):
            page.sendall(masked_frame(0x81, encode(message).encode()))
        said = b""
        while (found := re.search(rb'"sessionId":"([^"]+)"', said)) is None:
            chunk = page.recv(65_536)
            assert chunk, said
            said += chunk
        for number in range(12):
            args = json.dumps({"n": number, "text": "x" * 1_000_000})
            call = {
                "type": "tool_call",
                "threadId": found[1].decode(),
                "tool": "probe",
                "argsText": args,
            }
            agent = stack.enter_context(local_connection(core))
            agent.sendall(json.dumps(call).encode() + b"\n")
        wait_until(lambda: re.search(r"page \w+ reads too slowly", core.log) is not None)
        assert_others_are_served(core)


@contextmanager
def silent_page(core: CoreProcess) -> Iterator[socket.socket]:
    """The connection of a page that has said hello."""
    with http_connection(core) as page:
        page.sendall(upgrade_head(core))
        assert page.recv(65_536).startswith(b"HTTP/1.1 101")
        hello = Hello(protocol=PROTOCOL_VERSION, page_instance_id=str(page.fileno()), sdk_version="0")
        page.sendall(masked_frame(0x81, encode(hello).encode()))
        assert b"welcome" in page.recv(65_536)
        yield page


def test_a_page_that_asks_for_pongs_and_does_not_read_them_is_cut_off(core: CoreProcess) -> None:
    before = len(re.findall(r"page \w+ reads too slowly", core.log))
    pings = masked_frame(0x89, b"x" * 125) * 2_000
    with silent_page(core) as page, suppress(ConnectionError):
        while len(re.findall(r"page \w+ reads too slowly", core.log)) == before:
            page.sendall(pings)
    assert_others_are_served(core)


FOREVER = {
    "a frame": (masked_frame(0x81, b"x" * 100_000)[:5_000], b"x"),
    "a message in pieces": (masked_frame(0x01, b"{"), masked_frame(0x00, b" ")),
    "a message with pings between": (masked_frame(0x01, b"{"), masked_frame(0x89, b"")),
}


@pytest.mark.parametrize("kind", FOREVER)
def test_a_page_that_never_ends_a_message_is_cut_off(core: CoreProcess, kind: str) -> None:
    beginning, more = FOREVER[kind]
    with silent_page(core) as page:
        page.sendall(beginning)
        assert_others_are_served(core)
        trickle(page, more)


def test_a_local_client_that_stops_in_the_middle_of_a_line_is_cut_off(core: CoreProcess) -> None:
    with local_connection(core) as connection:
        connection.sendall(b'{"type":"sta')
        assert_others_are_served(core)
        assert read_all(connection) == b""


def test_a_local_client_that_sends_byte_by_byte_is_cut_off(core: CoreProcess) -> None:
    with local_connection(core) as connection:
        assert trickle(connection) == b""


def test_a_local_client_may_be_silent_between_its_requests(core: CoreProcess) -> None:
    with local_connection(core) as connection, http_connection(core) as other:
        lines = connection.makefile("rb")
        connection.sendall(b'{"type":"status"}\n')
        assert json.loads(lines.readline())["ok"]
        assert read_all(other) == b"", "as long as anybody is waited for who stops in the middle"
        connection.sendall(b'{"type":"status"}\n')
        assert json.loads(lines.readline())["ok"]
        lines.close()


def test_a_local_client_that_does_not_read_is_cut_off(core: CoreProcess) -> None:
    with PageClient(core.url) as page:
        page.create_session([tool(f"t{n}", description="x" * 8_000) for n in range(200)])
        with local_connection(core) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            request = json.dumps({"type": "tool_list", "threadId": page.session_id}).encode() + b"\n"
            connection.sendall(request * 10)
            wait_until(lambda: "local client reads too slowly" in core.log)
        assert_others_are_served(core)
        page.end_session()


def web_socket(core: CoreProcess, path: str) -> ClientConnection:
    url = f"ws://127.0.0.1:{core.port}{path}"
    return connect(url, origin=Origin(core.url), compression=None, proxy=None)


def assert_sent_away(connection: ClientConnection) -> None:
    """With the code that says to come again later (1013)."""
    with pytest.raises(ConnectionClosed) as caught:
        connection.recv(20)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1013


def test_no_more_connections_than_allowed_are_served(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state", *limits(connections_per_origin=2, local_connections=2)) as core:
        with PageClient(core.url), PageClient(core.url), web_socket(core, "/page") as third:
            error = json.loads(third.recv(20))["error"]
            assert (error["code"], error["details"]["limit"]) == ("LIMIT_REACHED", "connections-per-origin")
            assert_sent_away(third)
        inspect = "/inspect"
        with web_socket(core, inspect), web_socket(core, inspect), web_socket(core, inspect) as third:
            assert_sent_away(third)
        with (
            local_connection(core) as first,
            local_connection(core) as second,
            local_connection(core) as third,
        ):
            for connection in (first, second):
                connection.sendall(b'{"type":"status"}\n')
                assert connection.recv(65_536).startswith(b'{"ok":true')
            assert b"TOO_MANY_REQUESTS" in read_all(third)
        wait_until(lambda: core.cli("status").status == 0)
        with PageClient(core.url) as page:
            page.create_session([])
