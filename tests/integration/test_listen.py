"""The socket that Core listens on."""

import asyncio
import contextlib
import socket

import pytest

from pedelec_core.command_errors import CommandError
from pedelec_core.server.listen import listen, listen_on_twin

pytestmark = pytest.mark.anyio


async def test_small_frames_are_sent_at_once() -> None:
    """Nagle's algorithm is off on accepted connections: a frame never waits for the one before it."""
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            taken = writer.get_extra_info("socket")
            accepted.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(connected, sock=listener), asyncio.timeout(10):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        with contextlib.closing(writer):
            assert await accepted != 0


async def test_a_port_that_another_program_has_is_refused_with_its_address() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"http://127.0.0.1:{port}"):
            listen("127.0.0.1", port)


async def test_the_other_loopback_address_is_taken_too() -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        twin, is_ours = listen_on_twin("127.0.0.1", port)
        assert is_ours
        if twin is not None:  # else the machine has no IPv6, and nobody can take it
            with twin:
                assert twin.getsockname()[:2] == ("::1", port)
                assert listen_on_twin("127.0.0.1", port) == (None, False)
