"""Raw connections to a Core, for those who do not play by the rules."""

import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.harness import CoreProcess
from tests.harness.core_process import WAIT_SECONDS


@contextmanager
def http_connection(core: CoreProcess) -> Iterator[socket.socket]:
    """A TCP connection to Core's port."""
    with socket.create_connection(("127.0.0.1", core.port), timeout=WAIT_SECONDS) as connection:
        yield connection


@contextmanager
def local_connection(core: CoreProcess) -> Iterator[socket.socket]:
    """A connection to Core's local socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(WAIT_SECONDS)
        connection.connect(core.runtime["socket"])
        yield connection


def head(core: CoreProcess, method: str, path: str, *headers: str) -> bytes:
    """The head of a request of no page."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{core.port}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def upgrade_head(core: CoreProcess, *headers: str) -> bytes:
    """The opening handshake of a page of Core's own."""
    return head(
        core,
        "GET",
        "/page",
        f"Origin: {core.url}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        *headers,
    )


def masked_frame(first_byte: int, payload: bytes) -> bytes:
    """A WebSocket frame as clients send them (RFC 6455, section 5.2), whatever its first byte says."""
    if len(payload) < 126:
        length = bytes([0x80 | len(payload)])
    elif len(payload) < 65_536:
        length = bytes([0xFE]) + len(payload).to_bytes(2)
    else:
        length = bytes([0xFF]) + len(payload).to_bytes(8)
    mask = os.urandom(4)
    return bytes([first_byte]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def read_all(connection: socket.socket) -> bytes:
    """What comes until the other side ends the connection, one way or the other."""
    data = b""
    try:
        while chunk := connection.recv(65_536):
            data += chunk
    except ConnectionError:
        pass
    return data


def trickle(connection: socket.socket, byte: bytes = b"x") -> bytes:
    """Send single bytes, ever so slowly, until the other side has had enough; what it said."""
    deadline = time.monotonic() + WAIT_SECONDS
    said = b""
    while time.monotonic() < deadline:
        readable, _, _ = select.select([connection], [], [], 0.05)
        try:
            if readable:
                chunk = connection.recv(65_536)
                if not chunk:
                    return said
                said += chunk
            connection.sendall(byte)
        except ConnectionError:
            return said
    raise AssertionError("the other side bears it for ever")


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that has no event, such as a line in a log."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)
