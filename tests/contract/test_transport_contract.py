"""What every transport keeps to (`pedelec.host.Transport`), shown on each that runs outside a browser."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pedelec.host import Host, Transport
from pedelec.transport import MemoryHost, MemoryTransport

BOUND_SECONDS = 5


class Listener:
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self._changed = asyncio.Event()

    def opened(self) -> None:
        self._hear("opened")

    def received(self, text: str) -> None:
        self._hear(text)

    def closed(self, reason: str) -> None:
        assert reason
        self._hear("closed")

    def _hear(self, event: str) -> None:
        self.heard.append(event)
        self._changed.set()

    async def until(self, event: str) -> None:
        async with asyncio.timeout(BOUND_SECONDS):
            while event not in self.heard:
                self._changed.clear()
                await self._changed.wait()


class MemoryPeer:
    """Core's end of an in-memory connection: echoes, and closes when it is told to."""

    def __init__(self) -> None:
        self.accepts = True
        self.frames: list[str] = []
        self.host = MemoryHost(self._accept)

    def _accept(self, transport: MemoryTransport) -> None:
        def echo(text: str) -> None:
            self.frames.append(text)
            if text == "close":
                transport.core_close("asked")
            else:
                transport.core_send(text)

        transport.from_page = echo
        if self.accepts:
            transport.core_open()
        else:
            transport.core_close("refused")


@pytest.fixture(params=[MemoryPeer])
async def peer(request: pytest.FixtureRequest) -> Any:
    make: Callable[[], MemoryPeer] = request.param
    return make()


async def connected(host: Host) -> tuple[Transport, Listener]:
    listener = Listener()
    transport = host.connect("http://127.0.0.1:1", listener)
    assert listener.heard == [], "nothing is told from within connect"
    await listener.until("opened")
    return transport, listener


async def test_frames_arrive_whole_and_in_order(peer: MemoryPeer) -> None:
    transport, listener = await connected(peer.host)
    frames = ["", "é\U0001f378\u2028\x00", "x" * 100_000, *map(str, range(50))]
    for frame in frames:
        transport.send(frame)
        assert listener.heard == ["opened"], "nothing is told from within send"
    await listener.until("49")
    assert listener.heard == ["opened", *frames]
    assert peer.frames == frames


async def test_a_refused_connection_is_told_and_not_raised(peer: MemoryPeer) -> None:
    peer.accepts = False
    listener = Listener()
    transport = peer.host.connect("http://127.0.0.1:1", listener)
    transport.send("lost")
    await listener.until("closed")
    assert listener.heard == ["closed"]


async def test_close_may_be_called_twice_and_is_told_once(peer: MemoryPeer) -> None:
    transport, listener = await connected(peer.host)
    transport.close()
    transport.close()
    await listener.until("closed")
    await asyncio.sleep(0)
    assert listener.heard == ["opened", "closed"]


async def test_nothing_follows_the_end_whoever_closed(peer: MemoryPeer) -> None:
    transport, listener = await connected(peer.host)
    transport.send("close")
    await listener.until("closed")
    transport.send("late")
    transport.close()
    await asyncio.sleep(0)
    assert listener.heard == ["opened", "closed"]
    assert peer.frames == ["close"]


async def test_connections_of_one_host_are_apart(peer: MemoryPeer) -> None:
    first, first_listener = await connected(peer.host)
    second, second_listener = await connected(peer.host)
    first.close()
    second.send("here")
    await second_listener.until("here")
    assert first_listener.heard == ["opened", "closed"]
