"""The official MCP client on a running Core, over each transport and in each era of the protocol.

async with mcp_client(core, Way("stdio", "legacy")) as client:
    await client.list_tools()
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ReadResourceResult

from tests.harness import error_rules
from tests.harness.core_process import WAIT_SECONDS, CoreProcess, clean_environment, core_command


class Way(NamedTuple):
    """How a client reaches Core. The eras: `auto` is 2026-07-28, `legacy` 2025-11-25 (with a handshake)."""

    transport: Literal["http", "stdio"]
    era: Literal["auto", "legacy"]


WAYS = [Way(transport, era) for transport in ("http", "stdio") for era in ("auto", "legacy")]


def bearer(core: CoreProcess) -> dict[str, str]:
    """The header that lets a request to `/mcp` through."""
    return {"Authorization": f"Bearer {core.runtime['token']}"}


def bridge_command(state_dir: Path, *args: str) -> list[str]:
    """The words that start the bridge on a state folder."""
    return core_command("mcp", "--state-dir", str(state_dir), *args)


class _RecordingClient(Client):
    """Has every error that it is told held to the rules."""

    async def call_tool(self, *args: Any, **options: Any) -> CallToolResult:
        with _recorded():
            result = await super().call_tool(*args, **options)
        error_rules.record_mcp(result.structured_content)
        return result

    async def read_resource(self, *args: Any, **options: Any) -> ReadResourceResult:
        with _recorded():
            return await super().read_resource(*args, **options)


@contextmanager
def _recorded() -> Iterator[None]:
    try:
        yield
    except MCPError as error:
        error_rules.record_mcp(data=error.data)
        raise


@asynccontextmanager
async def mcp_client(
    core: CoreProcess,
    way: Way,
    on_message: MessageHandlerFnT | None = None,
    user: ElicitationFnT | None = None,
) -> AsyncIterator[Client]:
    """A connected client.

    Args:
        on_message: hears the notifications that belong to no request.
        user: answers what the client is to ask; without one the client cannot ask.
    """
    async with AsyncExitStack() as stack:
        server: Any
        if way.transport == "http":
            http = httpx2.AsyncClient(headers=bearer(core), timeout=WAIT_SECONDS)
            await stack.enter_async_context(http)
            server = streamable_http_client(f"{core.url}/mcp", http_client=http)
        else:
            command, *args = bridge_command(core.state_dir)
            server = StdioServerParameters(command=command, args=args, env=clean_environment())
        client = _RecordingClient(
            server,
            mode=way.era,
            read_timeout_seconds=WAIT_SECONDS,
            message_handler=on_message,
            elicitation_callback=user,
            cache=None,
        )
        yield await stack.enter_async_context(client)
