"""The inspector's socket: who may open it, what it shows, and that its calls are an agent's calls.

Each frame that Core sends is pinned here; `docs/protocol.md` has them in prose.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from websockets import Origin
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pedelec.protocol import ToolCall, ToolCancel, ToolProgress
from pedelec_core.inspector.desk import MAX_CALLS_AT_ONCE
from tests.harness import CoreProcess, PageClient, tool

APPROVED = "https://app.example"


class Inspector:
    """An inspector's connection, frame by frame."""

    def __init__(self, core: CoreProcess, origin: str | None) -> None:
        self._opening = connect(
            f"ws://127.0.0.1:{core.port}/inspect",
            origin=None if origin is None else Origin(origin),
            compression=None,
            proxy=None,
        )
        self.socket: ClientConnection

    def __enter__(self) -> Self:
        self.socket = self._opening.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self.socket.close()

    def send(self, kind: str, **members: Any) -> None:
        self.socket.send(json.dumps({"type": kind, **members}))

    def receive(self, kind: str) -> Any:
        """The next frame of a kind; others are passed over."""
        while (frame := json.loads(self.socket.recv(20)))["type"] != kind:
            pass
        return frame

    def answer(self, kind: str, **members: Any) -> Any:
        """The answer to a request, read as the agent would read it."""
        self.send(kind, requestId="q", **members)
        return json.loads(self.receive("answer")["line"])

    def life(self, **expected: Any) -> Any:
        """The next call told of that is as expected."""
        while True:
            for each in self.receive("calls")["calls"]:
                if expected.items() <= each.items():
                    return each


@pytest.fixture
def inspector(core: CoreProcess) -> Iterator[Inspector]:
    with Inspector(core, core.url) as opened:
        yield opened


@pytest.fixture
def shapes(page: PageClient) -> PageClient:
    """A page of Core's own that offers one tool."""
    page.create_session([tool("move", timeoutMs=5000)], guidance="Look first.", app_name="Shapes")
    return page


def refusal(core: CoreProcess, origin: str | None) -> int:
    with pytest.raises(InvalidStatus) as caught, Inspector(core, origin):
        pass
    return caught.value.response.status_code


def test_only_cores_own_pages_may_inspect(core: CoreProcess) -> None:
    assert refusal(core, None) == 403
    assert refusal(core, APPROVED) == 403
    assert refusal(core, "https://other.example") == 403
    with Inspector(core, core.url):
        pass


def test_approved_origins_may_inspect_their_own_sessions_where_core_was_told_so(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with (
        CoreProcess(state, "--allow-origin", APPROVED, "--inspector") as core,
        PageClient(core.url) as own,
        PageClient(core.url, origin=APPROVED) as approved,
        Inspector(core, APPROVED) as inspector,
    ):
        assert refusal(core, "https://other.example") == 403
        foreign, seen = own.create_session([tool("a")]), approved.create_session([tool("a")])
        inspector.send("watch")
        commands = inspector.receive("core")["commands"]
        assert commands == {"cli": ["pedelec-cli"], "mcp": ["pedelec-core", "mcp"]}
        (session,) = inspector.receive("sessions")["sessions"]
        assert session["threadId"] == seen
        for question in ({"kind": "tools"}, {"kind": "call", "tool": "a", "argsText": "{}"}):
            answer = inspector.answer(threadId=foreign, **question)
            assert answer["error"]["code"] == "THREAD_ACCESS_DENIED"


def test_it_is_told_of_core_and_of_its_sessions(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("watch")
    told = inspector.receive("core")
    assert told.keys() == {"type", "version", "coreInstanceId", "commands"}
    assert told["coreInstanceId"] == shapes.welcome.core_instance_id
    assert told["commands"]["cli"][1:] == ["--state-dir", str(core.state_dir)]
    assert told["commands"]["mcp"][1:] == ["mcp", "--state-dir", str(core.state_dir)]
    (session,) = inspector.receive("sessions")["sessions"]
    (page,) = session.pop("pages")
    assert re.fullmatch(r"[0-9a-f]{8}", page["page"])
    assert page["state"] == "runs"
    assert session.pop("createdAt") > 0
    assert session == {"threadId": shapes.session_id, "appName": "Shapes", "tools": 1}


def test_a_second_tab_is_seen_to_watch_and_to_take_over(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("watch")
    with PageClient(core.url) as second:
        second.resume_session(shapes.session_id)
        assert states(inspector, 2) == ["runs", "watches"]
        shapes.socket.close()
        assert states(inspector, 2) == ["runs", "away"]
        shapes.connect()
        shapes.resume_session(shapes.session_id)


def states(inspector: Inspector, count: int) -> list[str]:
    """What the session's pages do, when there are as many of them and something of them changed."""
    while True:
        (session,) = inspector.receive("sessions")["sessions"]
        if len(session["pages"]) == count:
            return [page["state"] for page in session["pages"]]


def test_the_tools_come_from_core_with_their_schemas(shapes: PageClient, inspector: Inspector) -> None:
    answer = inspector.answer("tools", threadId=shapes.session_id)
    assert answer["result"]["guidance"] == "Look first."
    (offered,) = answer["result"]["tools"]
    assert (offered["name"], offered["argsSchema"]) == ("move", {"type": "object"})


def test_a_call_is_answered_with_the_line_that_the_command_line_prints(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("call", requestId="c", threadId=shapes.session_id, tool="move", argsText="{}")
    started = inspector.receive("started")
    call = shapes.receive(ToolCall)
    assert started == {"type": "started", "requestId": "c", "invocationId": call.tool_request_id}
    made = ToolProgress(
        session_id=shapes.session_id, tool_request_id=call.tool_request_id, done=1, total=2, message="Half."
    )
    shapes.send(made)
    progress = {"type": "progress", "requestId": "c", "done": 1, "total": 2, "message": "Half."}
    assert inspector.receive("progress") == progress
    shapes.submit(call, {"x": 1.0})
    answer = inspector.receive("answer")
    line = f'{{"ok":true,"result":{{"x":1.0}},"invocationId":"{call.tool_request_id}"}}'
    assert answer == {"type": "answer", "requestId": "c", "line": line}
    again = core.cli("tool-call", "move", "{}")
    assert again.json["replayed"] is True  # nobody acknowledged the answer yet
    assert inspector.answer("result", invocationId=call.tool_request_id)["result"] == {"x": 1.0}


def test_the_lives_of_calls_are_told_as_they_change(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("watch")
    command = core.start_cli("tool-call", "move", '{"secret":1}')
    call = shapes.receive(ToolCall)
    assert inspector.life(state="delivered")["invocationId"] == call.tool_request_id
    shapes.submit(call, {"error": {"code": "NOT_SO", "message": "No."}})
    inspector.life(state="settled", code="NOT_SO")
    command.finish()
    life = inspector.life(state="acknowledged", threadId=shapes.session_id)
    assert "args" not in life
    assert life["acceptedAt"] <= life["deliveredAt"] <= life["settledAt"] <= life["acknowledgedAt"]


def test_arguments_are_told_once_they_are_asked_for(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("watch", arguments=True)
    command = core.start_cli("tool-call", "move", '{"x":1}')
    shapes.submit(shapes.receive(ToolCall), None)
    command.finish()
    assert inspector.life(state="acknowledged", threadId=shapes.session_id)["args"] == '{"x":1}'


def test_who_comes_later_is_told_of_the_calls_before(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    command = core.start_cli("tool-call", "move", '{"before":1}')
    call = shapes.receive(ToolCall)
    shapes.submit(call, None)
    command.finish()
    inspector.send("watch")
    assert (
        inspector.life(state="acknowledged", threadId=shapes.session_id)["invocationId"]
        == call.tool_request_id
    )


def test_a_call_is_called_off_and_answered(shapes: PageClient, inspector: Inspector) -> None:
    inspector.send("call", requestId="c", threadId=shapes.session_id, tool="move", argsText='{"off":1}')
    call = shapes.receive(ToolCall)
    inspector.send("cancel", requestId="c")
    assert json.loads(inspector.receive("answer")["line"])["error"]["code"] == "TOOL_CANCELLED"
    assert shapes.receive(ToolCancel).tool_request_id == call.tool_request_id


def test_an_acknowledged_answer_is_not_given_again(
    core: CoreProcess, shapes: PageClient, inspector: Inspector
) -> None:
    inspector.send("call", requestId="c", threadId=shapes.session_id, tool="move", argsText='{"ack":1}')
    first = shapes.receive(ToolCall)
    shapes.submit(first, 1)
    inspector.receive("answer")
    inspector.send("acknowledge", invocationId=first.tool_request_id)
    inspector.answer("tools", threadId=shapes.session_id)  # after which the acknowledgement was read
    command = core.start_cli("tool-call", "move", '{"ack":1}')
    shapes.submit(shapes.receive(ToolCall), 2)
    assert command.finish().json["result"] == 2


def test_one_inspector_waits_for_so_many_calls_at_once_and_no_more(
    shapes: PageClient, inspector: Inspector
) -> None:
    for number in range(MAX_CALLS_AT_ONCE + 1):
        inspector.send("call", requestId=f"c{number}", threadId=shapes.session_id, tool="move", argsText="{}")
    refused = inspector.receive("answer")
    assert refused["requestId"] == f"c{MAX_CALLS_AT_ONCE}"
    assert json.loads(refused["line"])["error"]["code"] == "TOOL_BUSY"
    shapes.submit(shapes.receive(ToolCall), 1)  # of which all but the first are retries
    for _ in range(MAX_CALLS_AT_ONCE):
        assert json.loads(inspector.receive("answer")["line"])["result"] == 1


def test_what_is_no_frame_ends_the_connection(inspector: Inspector) -> None:
    inspector.send("hello")
    with pytest.raises(ConnectionClosed) as caught:
        inspector.receive("answer")
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1002
