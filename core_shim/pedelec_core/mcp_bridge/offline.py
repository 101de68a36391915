"""Stands in for Core while it does not run: the same MCP server, over no sessions.

Owns what callers are told meanwhile. Loads the MCP SDK: imported when it is needed.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import override

from mcp_types import CallToolRequestParams, CallToolResult

from pedelec.errors import Code, Effects, PedelecError
from pedelec_core.agent_desk import AgentDesk
from pedelec_core.hub import Hub
from pedelec_core.mcp_gateway import results
from pedelec_core.mcp_gateway.extensions import CALL_ID_META
from pedelec_core.mcp_gateway.gateway import Context, Gateway
from pedelec_core.mcp_gateway.lines import serve_lines


class _Offline(Gateway):
    def __init__(self, start_command: str, may_have_run: Callable[[str], bool]) -> None:
        hub = Hub()
        super().__init__(hub, AgentDesk(hub), lambda _origin: 0)
        self._start_command = start_command
        self._may_have_run = may_have_run
        self.server.instructions = (
            f"Pedelec's Core does not run, so no page can offer tools. Start it with: {start_command}"
        )

    @override
    async def call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        call_id = str(ctx.meta.get(CALL_ID_META)) if ctx.meta else ""
        steps = [f"Ask the user to start it with: {self._start_command}"]
        if self._may_have_run(call_id):
            message = f"Core stopped while {params.name} ran. Whether it took effect is unknown."
            steps.append("Then read the page's state before you repeat the call.")
            effects = Effects.UNKNOWN
        else:
            message = "Pedelec's Core does not run, so no page can be reached. Nothing ran."
            steps.append("Then call again.")
            effects = Effects.NONE
        return results.of_error(
            PedelecError(Code.CORE_RUNTIME_UNAVAILABLE, message, recovery_steps=steps, effects=effects)
        )


async def connect_offline(
    start_command: str, may_have_run: Callable[[str], bool], limit: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.Task[None]]:
    """A connection as one to Core's socket, and the task that serves its other end.

    Args:
        start_command: how to start Core.
        may_have_run: whether the call of a name has reached a Core before.
        limit: bytes that a line may have.
    """
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=limit)
    their_reader, their_writer = await asyncio.open_connection(sock=theirs, limit=limit)

    async def serve() -> None:
        gateway = _Offline(start_command, may_have_run)
        try:
            await serve_lines(gateway, their_reader, their_writer)
        finally:
            gateway.close()
            their_writer.close()

    return reader, writer, asyncio.create_task(serve())
