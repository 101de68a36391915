"""What the SDK's server announces and lets out, as we have it."""

from typing import Any, Literal

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, ListResourcesResult, ListToolsResult

from pedelec_core.mcp_gateway.sdk_server import QuietServer

type Era = Literal["auto", "legacy"]


async def fail(_ctx: Any, _params: Any) -> ListToolsResult:
    raise RuntimeError("a secret of ours")


async def nothing(_ctx: Any, _params: Any) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def listen(_ctx: Any, _params: Any) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_only_changes_that_there_may_be_are_announced(era: Era) -> None:
    server = QuietServer(
        "quiet", on_list_tools=fail, on_list_resources=nothing, on_subscriptions_listen=listen
    )
    async with Client(server, mode=era) as client:
        tools, resources = client.server_capabilities.tools, client.server_capabilities.resources
    assert tools is not None
    assert resources is not None
    assert (tools.list_changed, resources.list_changed, resources.subscribe) == (True, False, False)


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_text_of_a_failure_stays_here(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    async with Client(QuietServer("quiet", on_list_tools=fail), mode=era) as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
    assert (caught.value.code, caught.value.message) == (INTERNAL_ERROR, "Internal error")
    assert "a secret of ours" in caplog.text
