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
        self.close = self._gateway.close

    async def lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client on a connection of the local socket, until it ends."""
        await serve_lines(self._gateway, reader, writer)
