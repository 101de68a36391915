"""Requests byte by byte, as no well-behaved client sends them."""

import socket
from collections.abc import Sequence

from tests.harness import CoreProcess

WAIT_SECONDS = 20.0
UPGRADE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
)


class RawAnswer:
    """A response's head: its status and its headers, names in lower case."""

    def __init__(self, head: bytes) -> None:
        status_line, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(status_line.split(" ")[1])
        self.headers = [
            (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
        ]

    @property
    def cors(self) -> list[str]:
        """The names of the CORS headers."""
        return [name for name, _ in self.headers if name.startswith("access-control")]


def send(
    core: CoreProcess, request_line: str, headers: Sequence[str | bytes], body: bytes = b""
) -> RawAnswer:
    """Send a request exactly as it is written, and read the head of the answer to it.

    Nothing is sent after `body`, whatever the headers promise.
    """
    lines = [line if isinstance(line, bytes) else line.encode("latin-1") for line in (request_line, *headers)]
    with socket.create_connection(("127.0.0.1", core.port), timeout=WAIT_SECONDS) as connection:
        connection.sendall(b"\r\n".join([*lines, b"", b""]) + body)
        received = b""
        while b"\r\n\r\n" not in received:
            chunk = connection.recv(65_536)
            assert chunk, f"Core hung up after {received!r}"
            received += chunk
    return RawAnswer(received.partition(b"\r\n\r\n")[0])


def host(core: CoreProcess) -> str:
    """The header that names Core."""
    return f"Host: 127.0.0.1:{core.port}"


def upgrade(core: CoreProcess, *headers: str | bytes, path: str = "/page") -> RawAnswer:
    """Try to open a WebSocket with these headers."""
    return send(core, f"GET {path} HTTP/1.1", [*headers, *UPGRADE])
