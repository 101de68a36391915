"""A session's life: its status, deadlines, a connection that comes and goes, and the end."""

from tests.contract.stage import Stage


def the_status_follows_the_calls(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        go = asyncio.Event()
        seen = []

        @session.on_tool("a")
        async def handler():
            seen.append(session.get_status())
            await go.wait()

        seen.append(session.get_status())
        """
    )
    first, second = stage.start_call("a", {"n": 1}), stage.start_call("a", {"n": 2})
    stage.run("await heard.until('status', 'waiting_tool_result'); go.set()")
    assert first.answer()["ok"]
    assert second.answer()["ok"]
    stage.run("await heard.until('status', 'idle')")
    assert stage.read("seen") == ["idle", "waiting_tool_result", "waiting_tool_result"]
    assert stage.read("session.get_status()") == "idle"
    changes = [status for (status,) in stage.heard("status")]
    assert changes[:2] == ["waiting_tool_result", "idle"]
    assert len(changes) in {2, 4}  # the second call may have come after the first was answered


def a_call_over_its_deadline_learns_of_it_and_its_late_result_is_an_event(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("slow", next=lambda: "works")
        reasons = []

        @session.on_tool("slow")
        async def handler(args, ctx):
            reasons.append(await ctx.cancelled)
            return [bool(ctx.cancelled), ctx.remaining_ms]
        """
    )
    answer = stage.start_call("slow", timeout_ms=300).answer()
    assert (answer["ok"], answer["error"]["code"]) == (False, "TOOL_TIMEOUT")
    stage.run("await heard.until('error', 'SUBMIT_TOOL_RESULT_FAILED', 'TOOL_TIMEOUT')")
    assert stage.read("reasons") == ["timeout"]
    assert [one["result"] for one in stage.sent("submit_tool_result")] == [[True, 0]]
    assert stage.call("next") == "works"
    assert len(stage.heard("error")) == 1


def a_result_that_is_ready_while_the_connection_is_lost_is_delivered_once(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        started, go = asyncio.Event(), asyncio.Event()
        runs = []

        @session.on_tool("a")
        async def handler():
            runs.append(1)
            started.set()
            await go.wait()
            return "kept"
        """
    )
    call = stage.start_call("a")
    stage.run("await started.wait()")
    stage.lose_connection()
    stage.run("await heard.until('status', 'error'); go.set(); await asyncio.sleep(0)")
    stage.find_connection()
    assert call.answer()["result"] == "kept"
    stage.run("await heard.until('status', 'idle')")
    assert stage.heard("status") == [["waiting_tool_result"], ["error"], ["idle"]]
    assert stage.heard("error") == []
    assert stage.read("runs") == [1]
    assert len(stage.sent("submit_tool_result")) == 1


def a_call_made_while_the_connection_is_lost_is_answered_once_it_is_found(stage: Stage) -> None:
    stage.run("session = await open_session(a=lambda args: args)")
    stage.lose_connection()
    stage.run("await heard.until('status', 'error')")
    call = stage.start_call("a", {"n": 1})
    stage.find_connection()
    assert call.answer()["result"] == {"n": 1}
    assert len(stage.sent("submit_tool_result")) == 1


def the_end_is_told_once_however_often_it_is_asked_for(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        reasons, started = [], asyncio.Event()

        @session.on_tool("a")
        async def handler(args, ctx):
            started.set()
            reasons.append(await ctx.cancelled)
            heard.note("handler", reasons[-1])
        """
    )
    call = stage.start_call("a")
    stage.run(
        """
        await started.wait()
        await asyncio.gather(session.end(), session.end())
        await session.end()
        session.on_tool("a", lambda: "too late")()
        await heard.until("handler", "ended")
        """
    )
    assert (call.answer()["ok"], stage.read("session.get_status()")) == (False, "ended")
    assert stage.heard("ended") == [[]]
    changes = [status for (status,) in stage.heard("status")]
    assert (changes[0], changes[-1], changes.count("ended")) == ("waiting_tool_result", "ended", 1)
    assert stage.heard("error") == []
    assert stage.start_call("a", {"n": 2}).answer()["ok"] is False


def a_session_that_ended_is_not_resumed(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        await session.end()
        try:
            await new_client().resume_session(session.session_id)
        except PedelecError as error:
            refused = error.code
        """
    )
    assert stage.read("refused") == "SESSION_ENDED"


def the_end_that_another_client_asks_for_is_heard(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        other = await new_client().resume_session(session.session_id)
        await other.end()
        await heard.until("ended")
        """
    )
    assert stage.read("[session.get_status(), other.get_status()]") == ["ended", "ended"]
    assert stage.heard("status") == [["ended"]]
