"""Other users of the machine, who can open the port and claim any `Origin`."""

import os
import socket
import sys

import pytest
from starlette.types import Message, Receive, Scope, Send

from pedelec_core import peer_user
from pedelec_core.server.guard import Guard, GuardMiddleware
from tests.harness import CoreProcess
from tests.harness.other_users import IS_ROOT, being_somebody_else
from tests.security.raw import head, http_connection, read_all, upgrade_head

TELLS = sys.platform == "linux"


@pytest.fixture
def core(own_core: CoreProcess) -> CoreProcess:
    return own_core


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_whose_process_connected_is_told_where_the_system_tells_it(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        server = listener.getsockname()[:2]
        with socket.create_connection(server) as connection:
            client = connection.getsockname()[:2]
            assert peer_user.of_tcp_client(client, server) == (os.geteuid() if TELLS else None)
            assert peer_user.of_tcp_client((host, 1), server) is None


@pytest.mark.anyio
@pytest.mark.parametrize("is_owner", [True, False])
async def test_a_socket_is_for_the_owners_programs_and_a_file_for_everybodys(*, is_owner: bool) -> None:
    """The real check of a real connection; it is the guard that takes somebody else for its owner."""
    reached: list[str] = []
    statuses: list[int] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        reached.append(scope["type"])

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        statuses.append(message.get("status", 0))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = listener.getsockname()
        with socket.create_connection(server) as connection:
            guard = GuardMiddleware(
                app, Guard(server[1], set[str]().__contains__), {os.geteuid() + (not is_owner)}
            )
            own = f"127.0.0.1:{server[1]}".encode()
            headers = [(b"host", own), (b"origin", b"http://" + own)]
            scope: Scope = {
                "path": "/page",
                "headers": headers,
                "client": connection.getsockname(),
                "server": server,
                "method": "GET",
                "extensions": {"websocket.http.response": {}},
            }
            for kind in ("websocket", "http"):
                await guard({**scope, "type": kind}, receive, send)
    assert reached == (["websocket", "http"] if is_owner or not TELLS else ["http"])
    assert statuses[:1] == ([] if is_owner or not TELLS else [403])


if IS_ROOT and TELLS:

    @pytest.mark.parametrize("path", ["/page", "/inspect"])
    def test_another_user_cannot_pass_for_a_page(core: CoreProcess, path: str) -> None:
        """Least of all for Core's own, whose inspector sees and makes calls."""
        request = upgrade_head(core).replace(b"/page", path.encode())
        with http_connection(core) as connection:
            connection.sendall(request)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 101")
        with being_somebody_else(), http_connection(core) as connection:
            connection.sendall(request)
            assert read_all(connection).startswith(b"HTTP/1.1 403")
        with being_somebody_else(), http_connection(core) as connection:
            connection.sendall(head(core, "GET", "/healthz", "Connection: close"))
            assert read_all(connection).startswith(b"HTTP/1.1 200")
