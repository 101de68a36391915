"""`/mcp` over HTTP: who gets in, and what becomes of a call whose connection goes."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pedelec.protocol import ToolCall, ToolCancel
from tests.harness import CoreProcess, PageClient, error_rules, tool
from tests.harness.core_process import WAIT_SECONDS
from tests.harness.mcp_bridge import ENVELOPE
from tests.harness.mcp_client import bearer

LATEST = "2026-07-28"


class Exchange:
    """One request to `/mcp`."""

    def __init__(self, core: CoreProcess, body: Any, headers: dict[str, str], method: str = "POST") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=WAIT_SECONDS)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, "/mcp", data, headers)

    def hang_up(self) -> None:
        """End the connection, whether or not an answer came."""
        self.connection.close()

    def status(self) -> int:
        """The answer's status, the rest of it thrown away."""
        try:
            return self.connection.getresponse().status
        finally:
            self.hang_up()

    def result(self) -> Any:
        """The answer's result, as JSON or as the last event of a stream."""
        try:
            response = self.connection.getresponse()
            text = response.read().decode()
        finally:
            self.hang_up()
        assert response.status == 200, text
        if response.headers["content-type"].startswith("text/event-stream"):
            events = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
            text = events[-1]
        result = json.loads(text)["result"]
        error_rules.record_mcp(result.get("structuredContent"))
        return result


def modern(core: CoreProcess, method: str, name: str = "", **params: Any) -> Exchange:
    """A request of 2026-07-28."""
    headers = {
        **bearer(core),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LATEST,
        "Mcp-Method": method,
    }
    if name:
        headers["Mcp-Name"] = name
        params["name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}}
    return Exchange(core, body, headers)


def shake_hands(core: CoreProcess) -> dict[str, str]:
    """Begin a session of 2025-11-25: the headers of its requests."""
    headers = {
        **bearer(core),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    first = Exchange(core, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, headers)
    response = first.connection.getresponse()
    session_id = response.headers["mcp-session-id"]
    assert session_id is not None
    first.hang_up()
    headers |= {"Mcp-Session-Id": session_id, "MCP-Protocol-Version": "2025-11-25"}
    Exchange(core, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers).status()
    return headers


@contextmanager
def legacy(core: CoreProcess) -> Iterator[dict[str, str]]:
    """A session of 2025-11-25, ended in the end: the headers of its requests."""
    headers = shake_hands(core)
    yield headers
    assert Exchange(core, b"", headers, "DELETE").status() == 200


@contextmanager
def listening(core: CoreProcess, headers: dict[str, str]) -> Iterator[Iterator[Any]]:
    """The notifications of a session of 2025-11-25."""
    exchange = Exchange(core, b"", headers, "GET")
    response = exchange.connection.getresponse()
    assert response.status == 200
    lines = iter(response.readline, b"")
    try:
        yield (json.loads(line.removeprefix(b"data: ")) for line in lines if line.startswith(b"data: "))
    finally:
        exchange.hang_up()
        response.close()


def call(core: CoreProcess, headers: dict[str, str], request_id: int = 1) -> Exchange:
    """A call of the tool `probe` in a session of 2025-11-25."""
    params = {"name": "probe", "arguments": {}}
    return Exchange(
        core, {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}, headers
    )


def core_has_noticed(core: CoreProcess) -> bool:
    """Whether Core, after what happened before, still answers: by then it has seen what happened."""
    return "tools" in modern(core, "tools/list").result()


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer {token} {token}",
        "Bearer ünknown",
    ],
)
def test_nobody_gets_in_without_the_token(core: CoreProcess, authorization: str) -> None:
    token = core.runtime["token"]
    headers = {"Authorization": authorization.format(token=token)} if authorization else {}
    exchange = Exchange(core, b"{}", {**headers, "Content-Type": "application/json"})
    response = exchange.connection.getresponse()
    assert response.status == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="pedelec"'
    assert token not in response.read().decode()
    exchange.hang_up()


def test_the_token_s_scheme_may_be_written_in_any_case(core: CoreProcess) -> None:
    headers = {"Authorization": f"bearer {core.runtime['token']}"}
    assert Exchange(core, b"", headers, "PUT").status() != 401


def test_two_authorizations_are_none(core: CoreProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=WAIT_SECONDS)
    connection.putrequest("POST", "/mcp")
    for _ in range(2):
        connection.putheader("Authorization", bearer(core)["Authorization"])
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example.com", 421), ("Origin", "http://evil.example.com", 403), ("Origin", "null", 403)],
)
def test_the_token_does_not_stand_in_for_host_and_origin(
    core: CoreProcess, header: str, value: str, status: int
) -> None:
    assert Exchange(core, b"{}", {**bearer(core), header: value}).status() == status


def test_an_approved_origin_s_page_gets_no_leave_to_call(core: CoreProcess) -> None:
    """Its browser asks first, and is told that neither the method nor the header is allowed."""
    headers = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    exchange = Exchange(core, b"", headers, "OPTIONS")
    response = exchange.connection.getresponse()
    assert "POST" not in response.headers["Access-Control-Allow-Methods"]
    assert "authorization" not in response.headers["Access-Control-Allow-Headers"].lower()
    exchange.hang_up()


def test_a_body_over_the_limit_is_refused(core: CoreProcess) -> None:
    headers = {**bearer(core), "Content-Type": "application/json", "Content-Length": "5000000"}
    assert Exchange(core, b"{", headers).status() == 413


def test_the_token_outlives_core(own_core: CoreProcess) -> None:
    token = own_core.runtime["token"]
    own_core.stop()
    own_core.start()
    assert own_core.runtime["token"] == token


def test_a_lost_connection_cancels_nothing_and_the_next_equal_call_takes_over(
    core: CoreProcess, page: PageClient
) -> None:
    page.create_session([tool("probe")])
    with legacy(core) as headers:
        lost = call(core, headers)
        running = page.receive(ToolCall)
        lost.hang_up()
        assert core_has_noticed(core)
        again = call(core, headers, 2)
        page.submit(running, "kept")
        assert again.result()["structuredContent"] == {"result": "kept"}
        with pytest.raises(TimeoutError):
            page.receive(ToolCancel, timeout=0.1)


def test_a_call_whose_connection_was_lost_can_still_be_cancelled(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    with legacy(core) as headers:
        lost = call(core, headers)
        running = page.receive(ToolCall)
        lost.hang_up()
        assert core_has_noticed(core)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert Exchange(core, cancelled, headers).status() == 202
        assert page.receive(ToolCancel).tool_request_id == running.tool_request_id


def test_a_call_that_was_cancelled_before_it_came_does_not_run(core: CoreProcess, page: PageClient) -> None:
    """The two are requests of their own, on connections of their own."""
    page.create_session([tool("probe")])
    with legacy(core) as headers:
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert Exchange(core, cancelled, headers).status() == 202
        error = call(core, headers, 1).result()["structuredContent"]["error"]
        assert (error["code"], error["effects"]) == ("TOOL_CANCELLED", "none")
        another = call(core, headers, 2)
        page.submit(page.receive(ToolCall), "ran")
        assert another.result()["structuredContent"] == {"result": "ran"}


def test_a_result_that_found_nobody_is_given_to_the_next_equal_call(
    core: CoreProcess, page: PageClient
) -> None:
    page.create_session([tool("probe")])
    with legacy(core) as headers:
        lost = call(core, headers)
        running = page.receive(ToolCall)
        lost.hang_up()
        assert core_has_noticed(core)
        page.submit(running, "kept")
        assert call(core, headers, 2).result()["structuredContent"] == {"result": "kept"}
        fresh = call(core, headers, 3)
        page.submit(page.receive(ToolCall), "new")
        assert fresh.result()["structuredContent"] == {"result": "new"}


def test_a_change_before_a_client_listens_is_told_when_it_does(core: CoreProcess, page: PageClient) -> None:
    with legacy(core) as first, legacy(core) as second:
        with listening(core, first) as heard:
            page.create_session([tool("fresh")])
            assert next(heard)["method"] == "notifications/tools/list_changed"
        with listening(core, second) as heard:
            assert next(heard)["method"] == "notifications/tools/list_changed"


def test_hanging_up_cancels_in_the_stateless_era(core: CoreProcess, page: PageClient) -> None:
    """MCP 2026-07-28, basic/patterns/cancellation: a disconnect is the cancellation."""
    page.create_session([tool("probe")])
    exchange = modern(core, "tools/call", "probe", arguments={})
    running = page.receive(ToolCall)
    exchange.hang_up()
    assert page.receive(ToolCancel).tool_request_id == running.tool_request_id


def test_a_call_made_again_at_once_is_not_cancelled_in_the_stateless_era(
    core: CoreProcess, page: PageClient
) -> None:
    page.create_session([tool("probe")])
    lost = modern(core, "tools/call", "probe", arguments={})
    running = page.receive(ToolCall)
    lost.hang_up()
    assert core_has_noticed(core)
    again = modern(core, "tools/call", "probe", arguments={})
    with pytest.raises(TimeoutError):
        page.receive(ToolCancel, timeout=2.5)
    page.submit(running, "once")
    assert again.result()["structuredContent"] == {"result": "once"}


def test_a_stateless_client_does_not_notice_a_restart(own_core: CoreProcess) -> None:
    assert len(modern(own_core, "tools/list").result()["tools"]) == 2
    port = own_core.port
    own_core.kill()
    with CoreProcess(own_core.state_dir, port=port) as again:
        assert len(modern(again, "tools/list").result()["tools"]) == 2


def test_a_session_of_the_handshake_is_over_after_a_restart(own_core: CoreProcess) -> None:
    port, headers = own_core.port, shake_hands(own_core)
    own_core.kill()
    with CoreProcess(own_core.state_dir, port=port) as again:
        body = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
        assert Exchange(again, body, headers).status() == 404
        with legacy(again) as fresh:
            assert len(Exchange(again, body, fresh).result()["tools"]) == 2


def test_no_secret_is_logged(own_core: CoreProcess) -> None:
    with legacy(own_core) as headers:
        session_id = headers["Mcp-Session-Id"]
    log = own_core.stop().stderr
    assert session_id not in log
    assert "Traceback" not in log
