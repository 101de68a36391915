"""Heartbeats over real sockets: a busy page, a frozen one, and one whose browser is gone."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable

import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from pedelec.protocol import (
    PROTOCOL_VERSION,
    CoreMessage,
    CreateSession,
    Hello,
    Ping,
    Pong,
    Response,
    ResumeSession,
    ToolCall,
    Welcome,
    decode_from_core,
    encode,
)
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.hub import Hub
from pedelec_core.page_desk import PageDesk
from pedelec_core.server.page_protocol import PageProtocol
from pedelec_core.server.page_socket import PageEndpoint
from tests.harness import tool
from tests.harness.approvers import EveryOrigin

pytestmark = pytest.mark.anyio

INTERVAL = 0.2
WAIT_SECONDS = 20
ORIGIN = "http://127.0.0.1:1"


class PageServer:
    """Core's page socket in this process, with a quick heart."""

    def __init__(self, url: str, hub: Hub, desk: PageDesk) -> None:
        self.url = url
        self.hub = hub
        self.desk = desk

    @property
    def pages(self) -> object:
        return self.hub.status()["pages"]

    def call(self, number: int) -> None:
        """Make a call, and do not wait for its answer."""
        request = ToolCallRequest(thread_id=None, tool="move", args_text=f'{{"n":{number}}}')
        AgentDesk(self.hub).begin(request)


@pytest.fixture
async def core() -> AsyncIterator[PageServer]:
    hub = Hub()
    desk = PageDesk(hub, EveryOrigin(), INTERVAL)
    config = uvicorn.Config(
        PageEndpoint(desk), ws=PageProtocol, ws_ping_interval=None, lifespan="off", log_config=None
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield PageServer(f"ws://127.0.0.1:{listener.getsockname()[1]}/page", hub, desk)
        await hub.close()
        server.should_exit = True
        await serving


class WirePage:
    """A page by hand. Its WebSocket library answers pings as a browser does; the page itself when told to."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def say(self, message: Hello | CreateSession | ResumeSession | Pong) -> None:
        await self._connection.send(encode(message))

    async def next[M: CoreMessage](self, kind: type[M]) -> M:
        """The next message of a type; others are passed over, and nothing is answered."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                message = decode_from_core(str(await self._connection.recv()))
                if isinstance(message, kind):
                    return message

    async def hello(self, instance: str) -> None:
        await self.say(Hello(protocol=PROTOCOL_VERSION, page_instance_id=instance, sdk_version="0"))
        assert (await self.next(Welcome)).heartbeat_ms == INTERVAL * 1000

    async def create_session(self) -> str:
        await self.say(
            CreateSession(request_id="c", guidance="", tools=[tool("move")], auto_end_on_disconnect=True)
        )
        result = (await self.next(Response)).result
        assert result is not None
        return str(result["sessionId"])

    async def resume(self, session_id: str) -> None:
        await self.say(ResumeSession(request_id="r", session_id=session_id, last_seq=0))
        assert (await self.next(Response)).ok


@contextlib.asynccontextmanager
async def a_page(core: PageServer, instance: str = "page") -> AsyncIterator[WirePage]:
    async with connect(core.url, origin=ORIGIN, compression=None, proxy=None) as connection:  # type: ignore[arg-type]
        page = WirePage(connection)
        await page.hello(instance)
        yield page


async def until(condition: Callable[[], object]) -> None:
    """Wait for what has no event."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(INTERVAL / 10)


async def test_core_pings_its_pages_again_and_again(core: PageServer) -> None:
    async with a_page(core) as page:
        ids = []
        for _ in range(3):
            ping = await page.next(Ping)
            ids.append(ping.id)
            await page.say(Pong(id=ping.id))
        assert len(set(ids)) == 3


async def test_a_page_whose_browser_alone_answers_is_kept_and_given_no_calls_until_it_is_back(
    core: PageServer,
) -> None:
    async with a_page(core) as page:
        session_id = await page.create_session()
        await until(lambda: core.hub.sessions[session_id]._silent)
        core.call(1)
        (heart,) = core.desk._heartbeats._hearts.values()
        after_three_more_beats = heart.pulse.due + 3 * INTERVAL
        await until(lambda: heart.pulse.due > after_three_more_beats)
        assert core.pages == 1
        await page.say(Pong(id=1))
        assert (await page.next(ToolCall)).args == {"n": 1}


async def test_the_lease_of_a_frozen_tab_passes_to_one_that_answers(core: PageServer) -> None:
    async with a_page(core, "frozen") as frozen, a_page(core, "other") as other:
        session_id = await frozen.create_session()
        await other.resume(session_id)

        async def answer() -> None:
            while True:
                ping = await other.next(Ping)
                await other.say(Pong(id=ping.id))
                if core.hub.sessions[session_id]._silent:
                    return

        await asyncio.wait_for(answer(), WAIT_SECONDS)
        core.call(1)
        assert (await other.next(ToolCall)).args == {"n": 1}


async def test_a_page_that_is_gone_without_a_word_is_cut_off(core: PageServer) -> None:
    async with a_page(core) as page:
        session_id = await page.create_session()
        # A browser that is stopped: its end of the socket stays open, and nothing is read any more.
        page._connection.transport.pause_reading()
        await until(lambda: not core.pages)
        assert core.hub.sessions[session_id].page_count == 0
        page._connection.transport.abort()
