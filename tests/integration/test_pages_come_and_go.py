"""Pages that are closed, reloaded, doubled, frozen or brought back: who runs the calls, and what is told."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from pedelec.protocol import (
    PROTOCOL_VERSION,
    CreateSession,
    Ended,
    ErrorEvent,
    Hello,
    Pong,
    Response,
    ResumeSession,
    ToolCall,
)
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.core_process import WAIT_SECONDS

MOVE = tool("move")
GRACE_SECONDS = 0.3


@pytest.fixture
def hasty_core(tmp_path: Path) -> Iterator[CoreProcess]:
    """A Core that takes pages for gone after a moment."""
    with CoreProcess(tmp_path / "state", "--grace-seconds", str(GRACE_SECONDS)) as core:
        yield core


@contextmanager
def second_tab(core: CoreProcess, session_id: str) -> Iterator[PageClient]:
    with PageClient(core.url) as other:
        assert other.resume_session(session_id).ok
        yield other


def test_two_seconds_after_the_first_tab_is_closed_the_second_runs_the_calls(core: CoreProcess) -> None:
    with PageClient(core.url) as first:
        session_id = first.create_session([MOVE])
        with second_tab(core, session_id) as second:
            first.socket.close()
            closed_at = time.monotonic()
            running = core.start_cli("tool-call", "move", "{}", "--thread-id", session_id)
            call = second.receive(ToolCall, timeout=closed_at + 2 - time.monotonic())
            second.submit(call, "second")
            assert running.finish().json["result"] == "second"
            second.end_session()


def test_a_call_made_while_the_page_is_away_runs_when_it_is_back(core: CoreProcess, page: PageClient) -> None:
    session_id = page.create_session([MOVE])
    page.socket.close()
    running = core.start_cli("tool-call", "move", "{}")
    page.connect()
    page.resume_session(session_id)
    page.submit(page.receive(ToolCall), 1)
    assert running.finish().json["result"] == 1


def test_a_flapping_socket_runs_the_call_once_and_delivers_its_result(
    core: CoreProcess, page: PageClient
) -> None:
    session_id = page.create_session([MOVE])
    running = core.start_cli("tool-call", "move", "{}")
    call = page.receive(ToolCall)
    for _ in range(10):
        page.connect()
        assert page.resume_session(session_id, last_seq=call.seq).ok
    assert page.submit(call, "once").ok
    assert running.finish().json["result"] == "once"
    assert not [message for message in page._unread if isinstance(message, ToolCall)]


def test_a_page_is_closed_on_the_connection_that_it_has_replaced(core: CoreProcess, page: PageClient) -> None:
    session_id = page.create_session([MOVE])
    with PageClient(core.url, page_instance_id=page.page_instance_id) as again:
        again.resume_session(session_id)
        with pytest.raises(ConnectionClosed) as caught:
            page.receive(Pong)
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 4001
        running = core.start_cli("tool-call", "move", "{}")
        again.submit(again.receive(ToolCall), 2)
        assert running.finish().json["result"] == 2
        page.connect()


def test_a_session_that_is_asked_for_twice_by_one_request_is_one(core: CoreProcess, page: PageClient) -> None:
    request = CreateSession(request_id="twice", guidance="", tools=[MOVE], auto_end_on_disconnect=True)
    page.send(request)
    page.connect()
    page.send(request)
    page.send(request)
    ids = {str((page.receive(Response).result or {})["sessionId"]) for _ in range(2)}
    assert len(ids) == 1
    page.session_id = ids.pop()
    assert len(core.cli("threads").json["result"]["threads"]) == 1


def test_a_page_cannot_become_another_on_the_same_connection(page: PageClient) -> None:
    page.send(Hello(protocol=PROTOCOL_VERSION, page_instance_id="somebody-else", sdk_version="0"))
    assert page.receive(ErrorEvent).error["code"] == "SDK_PROTOCOL_ERROR"


def test_a_session_outlives_its_pages_for_the_grace_and_no_longer(hasty_core: CoreProcess) -> None:
    with PageClient(hasty_core.url) as page:
        session_id = page.create_session([MOVE])
        page.connect()
        assert page.resume_session(session_id).ok
        page.socket.close()
        deadline = time.monotonic() + WAIT_SECONDS
        while hasty_core.cli("threads").json["result"]["threads"]:
            assert time.monotonic() < deadline
        page.connect()
        response = page.resume_session(session_id)
        assert response.error is not None
        assert response.error["code"] == "SESSION_ENDED"


def test_a_crashed_tabs_call_is_cut_off_after_the_grace_though_another_tab_is_there(
    hasty_core: CoreProcess,
) -> None:
    with PageClient(hasty_core.url) as first:
        session_id = first.create_session([MOVE])
        with second_tab(hasty_core, session_id) as second:
            running = hasty_core.start_cli("tool-call", "move", "{}")
            call = first.receive(ToolCall)
            first.socket.close()
            error = running.finish().error
            assert (error["code"], error["effects"]) == ("TOOL_INTERRUPTED", "unknown")
            # The tab was only frozen, as it turns out: what it says now is late, and is kept.
            first.connect()
            first.resume_session(session_id, last_seq=call.seq)
            refused = first.submit(call, "after all")
            assert refused.error is not None
            assert refused.error["code"] == "SUBMIT_TOOL_RESULT_FAILED"
            late = hasty_core.cli("tool-result", call.tool_request_id).json
            assert (late["result"], late["late"]) == ("after all", True)
            second.end_session()


def test_a_page_that_the_browser_brings_back_after_another_took_its_place_joins_and_runs_nothing_twice(
    core: CoreProcess, page: PageClient
) -> None:
    """The back/forward cache: away, another page of the session loaded, and back with all its memory."""
    session_id = page.create_session([MOVE])
    running = core.start_cli("tool-call", "move", "{}")
    call = page.receive(ToolCall)
    page.socket.close()
    with second_tab(core, session_id) as second:
        assert running.finish().error["code"] == "TOOL_INTERRUPTED"
        page.connect()
        assert page.resume_session(session_id, last_seq=call.seq).ok
        assert not page.submit(call, "late").ok
        again = core.start_cli("tool-call", "move", '{"x":1}')
        second.submit(second.receive(ToolCall), "second")
        assert again.finish().json["result"] == "second"


def test_an_answer_that_was_not_printed_is_given_though_the_page_was_closed_meanwhile(
    hasty_core: CoreProcess,
) -> None:
    with PageClient(hasty_core.url) as page:
        session_id = page.create_session([MOVE])
        cut_off = hasty_core.start_cli("tool-call", "move", "{}")
        call = page.receive(ToolCall)
        cut_off.kill()
        assert page.submit(call, "ran").ok
        assert page.end_session().ok
        page.receive(Ended)
        for thread in ([], ["--thread-id", session_id]):
            assert hasty_core.cli("tool-call", "move", '{"x":1}', *thread).status == 1
        assert hasty_core.cli("tool-call", "move", "{}").json["replayed"]
        # Printed and acknowledged now, so that it is over.
        assert hasty_core.cli("tool-call", "move", "{}").error["code"] == "PEDELEC_THREAD_ID_NOT_FOUND"


def test_events_that_the_page_has_seen_are_not_repeated(core: CoreProcess, page: PageClient) -> None:
    session_id = page.create_session([MOVE])
    running = [core.start_cli("tool-call", "move", f'{{"n":{number}}}') for number in range(2)]
    seen = page.receive(ToolCall)
    unseen = page.receive(ToolCall)
    page.connect()
    page.send(ResumeSession(request_id="r", session_id=session_id, last_seq=seen.seq))
    repeated = page.receive(ToolCall)
    assert repeated.tool_request_id == unseen.tool_request_id
    assert page.receive(Response).ok
    for call in (seen, repeated):
        assert page.submit(call, None).ok
    assert all(each.finish().json["ok"] for each in running)
