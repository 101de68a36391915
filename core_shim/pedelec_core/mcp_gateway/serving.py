"""The MCP server with its two transports, put together."""

import asyncio
from collections.abc import Callable

from pedelec_core.agent_desk import AgentDesk
from pedelec_core.hub import Hub

from .gateway import Gateway
from .http import HttpEndpoint
from .lines import serve_lines


class Serving:
    """Everything that serves MCP clients. Works while its `run` context lasts."""

    def __init__(self, hub: Hub, desk: AgentDesk, rank: Callable[[str], int]) -> None:
        self._gateway = Gateway(hub, desk, rank)
        self.http = HttpEndpoint(self._gateway, hub.limits.wire.max_frame_bytes)
        self.run = self.http.run
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_closed = False

    async def lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client on a connection of the local socket, until it ends."""
        if self._is_closed:
            return
        self._writers.add(writer)
        try:
            await serve_lines(self._gateway, reader, writer)
        finally:
            self._writers.discard(writer)

    async def close(self) -> None:
        """End all connections, calls and subscriptions: Core is about to stop.

        Connections of the local socket are cut off first. Left to themselves they would answer what is open
        with their end, and the bridge could not tell that from an answer; what has none, it asks the next
        Core.
        """
        self._is_closed = True
        for writer in self._writers:
            writer.transport.abort()
        self._gateway.close()
        await self.http.finish()
