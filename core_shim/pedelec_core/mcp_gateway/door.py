"""Where the rest of Core meets the MCP server, which is loaded when its first client comes.

Owns when it starts and stops. The MCP SDK takes longer to import than all of Core, and most Cores never see
an MCP client: imports nothing of it at the top.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from pedelec_core.agent_desk import AgentDesk
from pedelec_core.hub import Hub

if TYPE_CHECKING:
    from .serving import Serving


class McpDoor:
    """The MCP server of one Core, as an ASGI app and for the local socket.

    Args:
        hub: whose sessions.
        desk: where calls are made.
        rank: the place of an origin among the approved ones, the first approved first.
    """

    def __init__(self, hub: Hub, desk: AgentDesk, rank: Callable[[str], int]) -> None:
        self._hub = hub
        self._desk = desk
        self._rank = rank
        self._started: asyncio.Future[Serving] | None = None
        self._closing = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an HTTP request; who may send one is decided before."""
        await (await self._serving()).http(scope, receive, send)

    async def serve_lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client on a connection of the local socket, until it ends."""
        await (await self._serving()).lines(reader, writer)

    async def close(self) -> None:
        """Stop serving; clients see their connections end."""
        self._closing.set()
        if self._life is not None:
            await self._life

    async def _serving(self) -> "Serving":
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._started))
        return await asyncio.shield(self._started)

    async def _live(self, started: "asyncio.Future[Serving]") -> None:
        try:
            # In a thread, so that pages do not wait while modules load.
            serving_type = await asyncio.to_thread(_load)
            serving = serving_type(self._hub, self._desk, self._rank)
            async with serving.run():
                started.set_result(serving)
                await self._closing.wait()
                await serving.close()
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)


def _load() -> "type[Serving]":
    from .serving import Serving

    return Serving
