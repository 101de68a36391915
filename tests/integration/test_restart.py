"""What survives the death of Core: sessions, results, and the promise that nothing runs twice."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pedelec.protocol import ToolCall
from tests.harness import CoreProcess, PageClient, tool

MOVE = tool("move")


def killed_and_restarted(core: CoreProcess) -> CoreProcess:
    """Core dies as in a crash, and another takes its place on the same port and state folder."""
    port = core.port
    core.kill()
    return CoreProcess(core.state_dir, port=port)


def test_a_handler_that_ran_through_the_crash_delivers_its_result_to_the_retry(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE])
        own_core.start_cli("tool-call", "move", '{"to":1}')
        call = page.receive(ToolCall)
        with killed_and_restarted(own_core) as core:
            page.connect()
            assert page.resume_session(session_id, last_seq=call.seq).ok
            assert page.submit(call, {"moved": 1}).ok
            retry = core.cli("tool-call", "move", '{"to":1}').json
            assert retry == {
                "ok": True,
                "result": {"moved": 1},
                "invocationId": call.tool_request_id,
                "replayed": True,
            }


def test_a_call_that_the_page_never_saw_is_delivered_after_the_crash(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE])
        own_core.start_cli("tool-call", "move", '{"to":1}')
        first = page.receive(ToolCall)
        with killed_and_restarted(own_core) as core:
            page.connect()
            page.resume_session(session_id, last_seq=first.seq - 1)
            second = page.receive(ToolCall)
            assert second.tool_request_id == first.tool_request_id
            retry = core.start_cli("tool-call", "move", '{"to":1}')
            assert page.submit(second, 1).ok
            assert retry.finish().json["result"] == 1


def test_an_unacknowledged_result_is_replayed_and_an_acknowledged_one_is_not(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE])
        finished = own_core.start_cli("tool-call", "move", '{"to":1}')
        page.submit(page.receive(ToolCall), "acknowledged")
        assert finished.finish().json["result"] == "acknowledged"
        cut_off = own_core.start_cli("tool-call", "move", '{"to":2}')
        call = page.receive(ToolCall)
        cut_off.kill()
        page.submit(call, "lost on the way")
        with killed_and_restarted(own_core) as core:
            page.connect()
            page.resume_session(session_id, last_seq=call.seq)
            assert core.cli("tool-call", "move", '{"to":2}').json["replayed"]
            anew = core.start_cli("tool-call", "move", '{"to":1}')
            page.submit(page.receive(ToolCall), "ran again")
            assert anew.finish().json["result"] == "ran again"


def test_a_call_whose_page_was_reloaded_meanwhile_is_interrupted(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as old:
        session_id = old.create_session([MOVE])
        core.start_cli("tool-call", "move", "{}", "--timeout-ms", "60000")
        old.receive(ToolCall)
        with killed_and_restarted(core) as again, PageClient(again.url) as new:
            assert new.resume_session(session_id).ok
            retry = again.cli("tool-call", "move", "{}").json
            assert (retry["error"]["code"], retry["error"]["effects"]) == ("TOOL_INTERRUPTED", "unknown")


def test_another_page_that_comes_back_first_does_not_cut_off_the_one_that_runs_the_call(
    own_core: CoreProcess,
) -> None:
    with PageClient(own_core.url) as runner, PageClient(own_core.url) as watcher:
        session_id = runner.create_session([MOVE])
        watcher.resume_session(session_id)
        own_core.start_cli("tool-call", "move", "{}")
        call = runner.receive(ToolCall)
        with killed_and_restarted(own_core) as core:
            for page in (watcher, runner):
                page.connect()
                page.resume_session(session_id, last_seq=call.seq)
            assert runner.submit(call, 5).ok
            assert core.cli("tool-call", "move", "{}").json["result"] == 5


def test_events_after_a_restart_are_numbered_above_all_before(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE])
        own_core.start_cli("tool-call", "move", "{}")
        before = page.receive(ToolCall)
        page.submit(before, 1)
        with killed_and_restarted(own_core) as core:
            page.connect()
            page.resume_session(session_id, last_seq=before.seq)
            core.start_cli("tool-call", "move", '{"x":1}')
            assert page.receive(ToolCall).seq > before.seq


def test_the_result_can_be_fetched_by_its_id_after_a_restart(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        page.create_session([MOVE])
        large = "x" * 200_000
        call = own_core.start_cli("tool-call", "move", "{}")
        page.submit(page.receive(ToolCall), large)
        told = call.finish().json
        with killed_and_restarted(own_core) as core:
            assert core.cli("tool-result", told["invocationId"]).json == told


def test_a_broken_journal_is_put_aside_and_core_starts(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "journal.db").write_bytes(b"this was a database once" * 100)
    with CoreProcess(state) as core:
        assert core.cli("status").json["ok"]
        assert "journal.db.broken-1" in core.log
    assert (state / "journal.db.broken-1").read_bytes().startswith(b"this was a database once")


def test_without_a_journal_a_restart_forgets_everything(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state", "--no-journal") as core, PageClient(core.url) as page:
        session_id = page.create_session([MOVE])
        with killed_and_restarted(core) as again:
            page.connect()
            response = page.resume_session(session_id)
            assert response.error is not None
            assert response.error["code"] == "THREAD_ACCESS_DENIED"
            assert again.cli("threads").json["result"] == {"threads": []}


@pytest.mark.parametrize("stop", ["kill", "stop"])
def test_a_clean_stop_and_a_crash_keep_the_same(own_core: CoreProcess, stop: str) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE], app_name="Board", guidance="Look first.")
        (before,) = own_core.cli("threads").json["result"]["threads"]
        tools_before = own_core.cli("tool-spec", "move").json
        port = own_core.port
        getattr(own_core, stop)()
        with CoreProcess(own_core.state_dir, port=port) as core:
            page.connect()
            assert page.resume_session(session_id).ok
            assert core.cli("threads").json["result"]["threads"] == [before]
            assert core.cli("tool-spec", "move").json == tools_before


def test_a_large_result_is_given_again_after_it_left_memory(own_core: CoreProcess) -> None:
    large = "x" * 200_000
    with PageClient(own_core.url) as page:
        page.create_session([MOVE])
        cut_off = own_core.start_cli("tool-call", "move", "{}")
        call = page.receive(ToolCall)
        cut_off.kill()
        page.submit(call, large)
        replayed = own_core.cli("tool-call", "move", "{}").json
        assert (replayed["result"], replayed["replayed"]) == (large, True)


def test_a_session_that_cannot_be_read_keeps_no_other_from_being_taken_up(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as broken, PageClient(own_core.url) as whole:
        broken_id = broken.create_session([MOVE])
        session_id = whole.create_session([MOVE])
        port = own_core.port
        own_core.kill()
        with closing(sqlite3.connect(own_core.state_dir / "journal.db")) as journal:
            journal.execute("UPDATE sessions SET tools = '[{}]' WHERE id = ?", (broken_id,))
            journal.commit()
        with CoreProcess(own_core.state_dir, port=port) as core:
            whole.connect()
            assert whole.resume_session(session_id).ok
            broken.connect()
            assert not broken.resume_session(broken_id).ok
            assert broken_id in core.log


def test_the_command_that_core_died_under_says_what_to_do_and_that_works(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        session_id = page.create_session([MOVE])
        cut_off = own_core.start_cli("tool-call", "move", "{}")
        call = page.receive(ToolCall)
        port = own_core.port
        own_core.kill()
        told = cut_off.finish()
        assert told.status == 3
        assert (told.error["code"], told.error["effects"]) == ("CORE_RUNTIME_UNAVAILABLE", "unknown")
        assert "same command again" in " ".join(told.error["recoverySteps"])
        with CoreProcess(own_core.state_dir, port=port) as core:
            retry = core.start_cli("tool-call", "move", "{}", "--thread-id", session_id)
            page.connect()
            page.resume_session(session_id, last_seq=call.seq)
            assert page.submit(call, "ran once").ok
            assert retry.finish().json["result"] == "ran once"
