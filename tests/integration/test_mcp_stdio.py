"""The bridge as a process: what it does when Core is away or comes back, how it starts Core, when it ends."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pedelec.errors import Code
from pedelec.protocol import ToolAnswer, ToolCall
from tests.harness import CoreProcess, PageClient, run_cli, tool
from tests.harness.core_process import WAIT_SECONDS
from tests.harness.mcp_bridge import ENVELOPE, Bridge, handshake, message_line
from tests.harness.mcp_client import Way, mcp_client


@pytest.fixture
def no_core(tmp_path: Path) -> Path:
    """A state folder on which no Core runs."""
    return tmp_path / "none"


@pytest.fixture
def bridge(core: CoreProcess) -> Iterator[Bridge]:
    """A bridge to the module's Core."""
    with Bridge(core.state_dir) as running:
        yield running


@pytest.fixture
def own_bridge(own_core: CoreProcess) -> Iterator[Bridge]:
    """A bridge to a Core of the test's own."""
    with Bridge(own_core.state_dir) as running:
        yield running


type End = Callable[[CoreProcess], object]
"""How Core ends: by a crash, or because it was told to."""


def names(answer: Any) -> list[str]:
    return [each["name"] for each in answer["result"]["tools"]]


def test_without_core_it_answers_and_says_how_to_start_it(no_core: Path) -> None:
    with Bridge(no_core) as bridge:
        result = bridge.shake_hands()
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert f"pedelec-core serve --state-dir {no_core}" in result["instructions"]
        bridge.send(id=1, method="tools/list")
        assert names(bridge.read()) == ["page_tools_list", "page_tools_call"]
        bridge.send(id=2, method="tools/call", params={"name": "page_tools_list"})
        called = bridge.read()["result"]
    error = called["structuredContent"]["error"]
    assert called["isError"] is True
    assert (error["code"], error["effects"]) == (Code.CORE_RUNTIME_UNAVAILABLE, "none")
    assert "pedelec-core serve" in error["recoverySteps"][0]


def test_without_core_it_speaks_the_stateless_era_too(no_core: Path) -> None:
    with Bridge(no_core) as bridge:
        assert bridge.ask("server/discover")["result"]["supportedVersions"] == ["2026-07-28"]
        assert names(bridge.ask("tools/list")) == ["page_tools_list", "page_tools_call"]


def test_it_notices_when_core_starts(no_core: Path) -> None:
    with Bridge(no_core) as bridge:
        bridge.shake_hands()
        with CoreProcess(no_core) as core, PageClient(core.url) as page:
            assert bridge.read()["method"] == "notifications/tools/list_changed"
            page.create_session([tool("fresh")])
            bridge.send(id=1, method="tools/list")
            assert names(bridge.answer(1))[2:] == ["fresh"]


def test_it_starts_core_where_that_was_asked_for_and_core_outlives_it(no_core: Path) -> None:
    with Bridge(no_core, "--start", "--port", "0") as bridge:
        assert "pedelec-core serve" not in bridge.shake_hands()["instructions"]
    runtime = json.loads((no_core / "runtime.json").read_bytes())
    try:
        status = run_cli("--state-dir", str(no_core), "status").json["result"]
        assert status["coreInstanceId"] == runtime["coreInstanceId"]
    finally:
        os.kill(runtime["pid"], signal.SIGTERM)


def test_a_core_that_cannot_be_started_leaves_the_stand_in(no_core: Path, own_core: CoreProcess) -> None:
    with Bridge(no_core, "--start", "--port", str(own_core.port)) as bridge:
        assert "pedelec-core serve" in bridge.shake_hands()["instructions"]
    assert "in use by another Pedelec Core" in (no_core / "core.log").read_text()


def test_a_restart_of_core_is_seen_as_a_change_of_tools(own_core: CoreProcess, own_bridge: Bridge) -> None:
    own_bridge.shake_hands()
    port = own_core.port
    own_core.kill()
    with CoreProcess(own_core.state_dir, port=port) as again, PageClient(again.url) as page:
        assert own_bridge.read()["method"] == "notifications/tools/list_changed"
        page.create_session([tool("fresh")])
        own_bridge.send(id=7, method="tools/list")
        assert names(own_bridge.answer(7))[2:] == ["fresh"]


@pytest.mark.parametrize("end", [CoreProcess.kill, CoreProcess.stop])
def test_a_subscription_outlives_core(own_core: CoreProcess, own_bridge: Bridge, end: End) -> None:
    wanted = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
    own_bridge.send(id="sub", method="subscriptions/listen", params=wanted)
    assert own_bridge.read()["method"] == "notifications/subscriptions/acknowledged"
    port = own_core.port
    end(own_core)
    with CoreProcess(own_core.state_dir, port=port) as again, PageClient(again.url) as page:
        heard = own_bridge.read()
        assert heard["method"] == "notifications/tools/list_changed"
        assert heard["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": "sub"}
        page.create_session([tool("fresh")])
        assert own_bridge.read()["method"] == "notifications/tools/list_changed"


@pytest.mark.parametrize("end", [CoreProcess.kill, CoreProcess.stop])
def test_a_call_outlives_core_and_runs_once(own_core: CoreProcess, own_bridge: Bridge, end: End) -> None:
    with PageClient(own_core.url) as page:
        session = page.create_session([tool("probe")], auto_end_on_disconnect=False)
        own_bridge.shake_hands(elicitation={})
        own_bridge.send(id=1, method="tools/call", params={"name": "probe", "arguments": {}})
        call = page.receive(ToolCall)
        page.ask(call, hidden=True)
        asked = own_bridge.read()
        port = own_core.port
        end(own_core)
        with CoreProcess(own_core.state_dir, port=port):
            page.connect()
            assert page.resume_session(session, call.seq).ok
            page.ask(call, hidden=True)
            withdrawn = own_bridge.read()
            assert (withdrawn["method"], withdrawn["params"]["requestId"]) == (
                "notifications/cancelled",
                asked["id"],
            )
            asked_again = own_bridge.next("elicitation/create")
            assert asked_again["id"] != asked["id"]
            own_bridge.send(id=asked["id"], result={"action": "accept"})  # too late: it decides nothing
            own_bridge.send(id=asked_again["id"], result={"action": "decline"})
            assert page.receive(ToolAnswer).action == "decline"
            page.submit(call, "done once")
            assert own_bridge.answer(1)["result"]["structuredContent"] == {"result": "done once"}
            with pytest.raises(TimeoutError):
                page.receive(ToolCall, timeout=0.3)


def test_a_call_that_core_took_along_may_have_run(own_core: CoreProcess, own_bridge: Bridge) -> None:
    with PageClient(own_core.url) as page:
        page.create_session([tool("probe")])
        own_bridge.shake_hands()
        own_bridge.send(id=1, method="tools/call", params={"name": "probe", "arguments": {}})
        page.receive(ToolCall)
        own_core.kill()
        error = own_bridge.answer(1)["result"]["structuredContent"]["error"]
    assert (error["code"], error["effects"]) == (Code.CORE_RUNTIME_UNAVAILABLE, "unknown")


def test_an_answer_that_did_not_arrive_is_given_to_the_next_equal_call(
    core: CoreProcess, page: PageClient
) -> None:
    thread = page.create_session([tool("probe")])
    with Bridge(core.state_dir) as bridge:
        bridge.shake_hands()
        bridge.send(id=1, method="tools/call", params={"name": "probe", "arguments": {}})
        call = page.receive(ToolCall)
    page.submit(call, "kept")
    answer = core.cli("--thread-id", thread, "tool-call", "probe", "{}").json
    assert (answer["result"], answer["replayed"]) == ("kept", True)


def test_an_answer_that_arrived_is_not_given_again(page: PageClient, bridge: Bridge) -> None:
    page.create_session([tool("probe")])
    bridge.shake_hands()
    for number in range(2):
        bridge.send(id=number, method="tools/call", params={"name": "probe", "arguments": {}})
        page.submit(page.receive(ToolCall), number)
        assert bridge.answer(number)["result"]["structuredContent"] == {"result": number}


def test_what_is_asked_before_stdin_ends_is_answered(bridge: Bridge) -> None:
    lines = [*handshake(), message_line(id=1, method="tools/call", params={"name": "page_tools_list"})]
    stdout, _ = bridge.process.communicate(b"".join(lines).rstrip(b"\n"), timeout=WAIT_SECONDS)
    assert [json.loads(line)["id"] for line in stdout.splitlines()] == [0, 1]
    assert bridge.process.returncode == 0


def test_a_call_that_goes_on_does_not_keep_it_after_stdin(page: PageClient, bridge: Bridge) -> None:
    page.create_session([tool("probe")])
    bridge.shake_hands()
    bridge.send(id=1, method="tools/call", params={"name": "probe"})
    page.receive(ToolCall)
    assert bridge.process.communicate(timeout=WAIT_SECONDS)[0] == b""
    assert bridge.process.returncode == 0


def test_it_ends_with_stdin(bridge: Bridge) -> None:
    bridge.shake_hands()
    stdout, stderr = bridge.process.communicate(timeout=WAIT_SECONDS)
    assert (bridge.process.returncode, stdout) == (0, b"")
    assert b"Traceback" not in stderr


def test_it_ends_when_nobody_reads_what_it_says(bridge: Bridge) -> None:
    assert bridge.process.stdout is not None
    bridge.process.stdout.close()
    bridge.send(id=1, method="tools/list", params={"_meta": ENVELOPE})
    assert bridge.process.wait(WAIT_SECONDS) == 0


def test_it_ends_with_its_parent_although_stdin_stays_open(core: CoreProcess) -> None:
    starts_it = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    with Bridge(core.state_dir, parent=(sys.executable, "-c", starts_it)) as bridge:
        bridge.shake_hands()
        bridge.process.kill()
        assert bridge.process.stdout is not None
        assert bridge.process.stdout.read() == b""  # the bridge holds its other end until it ends


def test_core_stops_with_bridges_connected_and_calls_running(
    own_core: CoreProcess, own_bridge: Bridge
) -> None:
    with PageClient(own_core.url) as page:
        page.create_session([tool("probe")])
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
        own_bridge.send(id=1, method="subscriptions/listen", params=wanted)
        own_bridge.send(id=2, method="tools/call", params={"name": "probe", "_meta": ENVELOPE})
        page.receive(ToolCall)
        stopped = own_core.stop()
    assert (stopped.status, "Traceback" in stopped.stderr) == (0, False)


def test_what_is_no_message_is_refused_and_the_rest_goes_on(bridge: Bridge) -> None:
    bridge.write(b"hello\n\n[]\n" + b"[" * 100_000 + b"\n")
    assert bridge.ask("tools/list")["error"]["code"] == -32700
    assert [bridge.read()["error"]["code"] for _ in range(2)] == [-32600, -32700]
    assert names(bridge.read()) == ["page_tools_list", "page_tools_call"]


@pytest.mark.parametrize("value", ['"\\ud800"', "[" * 1_000 + "]" * 1_000], ids=["half a letter", "too deep"])
def test_what_core_cannot_read_is_refused_under_its_id(bridge: Bridge, value: str) -> None:
    request = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"y":%s}}}\n'
    bridge.write(request.replace("%s", value).encode())
    refused = bridge.read()
    assert (refused["id"], refused["error"]["code"]) == (7, -32700)
    assert names(bridge.ask("tools/list")) == ["page_tools_list", "page_tools_call"]


def test_a_message_too_long_for_core_is_refused(bridge: Bridge) -> None:
    bridge.send(id=1, method="tools/call", params={"name": "x" * 5_000_000, "_meta": ENVELOPE})
    refused = bridge.read()
    assert (refused["id"], "bytes long" in refused["error"]["message"]) == (1, True)
    assert names(bridge.ask("tools/list")) == ["page_tools_list", "page_tools_call"]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_official_client_survives_a_restart_of_core(own_core: CoreProcess, era: Any) -> None:
    async with mcp_client(own_core, Way("stdio", era)) as client:
        await client.list_tools()
        port = own_core.port
        await asyncio.to_thread(own_core.kill)
        with CoreProcess(own_core.state_dir, port=port) as again, PageClient(again.url) as page:
            page.create_session([tool("probe")])
            calling = asyncio.create_task(client.call_tool("probe", {}))
            call = await asyncio.to_thread(page.receive, ToolCall)
            await asyncio.to_thread(page.submit, call, "here")
            assert (await calling).structured_content == {"result": "here"}
