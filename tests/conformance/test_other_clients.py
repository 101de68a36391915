"""The official TypeScript client and the Inspector's command line on Core, over both transports and eras."""

import json
from typing import Any

import pytest

from tests.conformance.conftest import NodeTools
from tests.harness import CoreProcess
from tests.harness.mcp_client import WAYS, Way, bearer, bridge_command

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_the_typescript_client_does_what_a_host_does(
    core: CoreProcess, node_tools: NodeTools, way: Way
) -> None:
    command, *args = bridge_command(core.state_dir)
    given: dict[str, Any] = {"era": way.era}
    if way.transport == "http":
        given |= {"url": f"{core.url}/mcp", "token": core.runtime["token"]}
    else:
        given |= {"command": command, "args": args}
    done = node_tools.run("client.mjs", json.dumps(given))
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["version"] == {"auto": "2026-07-28", "legacy": "2025-11-25"}[way.era]
    assert "These tools are fixtures of a test suite." in seen["instructions"]
    assert seen["tools"][:3] == ["page_tools_list", "page_tools_call", "test_simple_text"]
    assert "simple text response" in seen["text"]["structuredContent"]["result"]
    assert [block["type"] for block in seen["image"]["content"]] == ["image"]
    assert seen["error"]["isError"] is True
    assert "intentionally" in seen["error"]["structuredContent"]["error"]["message"]
    assert seen["refused"]["structuredContent"]["error"]["code"] == "TOOL_ARGS_INVALID"
    assert seen["unknown"] == -32602
    assert seen["progress"] == [0, 50, 100]
    assert (seen["cancelled"], seen["cancellations"][-1], seen["changed"]) == ("aborted", "cancelled", True)


def inspect(core: CoreProcess, node_tools: NodeTools, transport: str, *args: str) -> Any:
    """What the Inspector prints."""
    if transport == "http":
        header = f"Authorization: {bearer(core)['Authorization']}"
        target = [f"{core.url}/mcp", "--transport", "http", "--header", header]
    else:
        target = bridge_command(core.state_dir)
    done = node_tools.run(
        INSPECTOR, "--cli", *target, *args, env={"MCP_CATALOG_PATH": str(core.state_dir / "catalog.json")}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_inspector_lists_and_calls(core: CoreProcess, node_tools: NodeTools, transport: str) -> None:
    listed = inspect(core, node_tools, transport, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]][:3] == [
        "page_tools_list",
        "page_tools_call",
        "test_simple_text",
    ]
    args = ("--method", "tools/call", "--tool-name", "test_header_parameter", "--tool-arg", "region=north")
    called = inspect(core, node_tools, transport, *args)
    assert called["structuredContent"] == {"region": "north"}
