"""The official TypeScript client and the Inspector's command line on Core, over both transports and eras."""

import json
from pathlib import Path
from typing import Any

import pytest

from pedelec.protocol import ToolCall
from tests.conformance.conftest import NodeTools
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.mcp_client import WAYS, Way, bearer, bridge_command

_IS_ERROR = 5
"""The Inspector's exit status where a tool's result is an error."""

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def reached(core: CoreProcess, way: Way) -> dict[str, Any]:
    """How the TypeScript client gets to Core that way."""
    if way.transport == "http":
        return {"era": way.era, "url": f"{core.url}/mcp", "token": core.runtime["token"]}
    command, *args = bridge_command(core.state_dir)
    return {"era": way.era, "command": command, "args": args}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_the_typescript_client_does_what_a_host_does(
    core: CoreProcess, node_tools: NodeTools, way: Way
) -> None:
    done = node_tools.run("client.mjs", json.dumps(reached(core, way)))
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
    assert done.returncode in {0, _IS_ERROR}, done.stderr
    answer = json.loads(done.stdout)
    assert (done.returncode == _IS_ERROR) is answer.get("isError", False)
    return answer


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


def test_clients_hear_of_changes_and_go_on_after_a_restart_of_core(
    node_tools: NodeTools, tmp_path: Path
) -> None:
    """The TypeScript client by all ways at once, and the Inspector. The page needs no browser for that."""
    with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as page:
        ways = [{**reached(core, way), "name": "-".join(way)} for way in WAYS]
        with node_tools.steps("held_clients.mjs", json.dumps(ways)) as step:
            assert step("open") == ["2026-07-28", "2025-11-25"] * 2
            session = page.create_session([tool("probe")], auto_end_on_disconnect=False)
            assert step("changed") == [["page_tools_list", "page_tools_call", "probe"]] * 4
            step("begin")
            calls = [page.receive(ToolCall) for _ in ways]
            port = core.port
            core.stop()
            with CoreProcess(core.state_dir, port=port) as again:
                page.connect()
                assert page.resume_session(session, max(call.seq for call in calls)).ok
                for call in calls:
                    assert isinstance(call.args, dict)
                    page.submit(call, call.args)
                finished = step("finish")
                assert [result for result, _ in finished] == [{"way": way["name"]} for way in ways]
                assert [by for (_, retried), by in zip(finished, ways, strict=True) if retried] == ways[:2]
                with pytest.raises(TimeoutError):  # each call ran once
                    page.receive(ToolCall, timeout=0.1)
                page.create_session([tool("probe", timeoutMs=50)], app_name="Second")
                called = ("--method", "tools/call", "--tool-name", "second.probe")
                for transport in ("http", "stdio"):
                    error = inspect(again, node_tools, transport, *called)["structuredContent"]["error"]
                    assert error["code"] == "TOOL_TIMEOUT"
        assert "Traceback" not in core.log
