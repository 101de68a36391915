"""What the agent gets, whatever a handler does, and what the page's author hears of it."""

from tests.contract.stage import Stage


def whatever_is_raised_is_one_answer_and_the_next_call_works(stage: Stage) -> None:
    stage.run(
        """
        class MuteError(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        class Rare(BaseException):
            pass

        def recurse(kind):
            return recurse(kind)

        def path_error(kind):
            open("/home/someone/secret.txt")

        async def cancel_itself(kind):
            asyncio.current_task().cancel()
            await asyncio.sleep(0)

        actions = [recurse, path_error, cancel_itself]
        errors = [ValueError(), KeyError("city"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(),
                  StopIteration(), asyncio.CancelledError(), MemoryError(), MuteError("x"), Rare("x"),
                  ValueError("x" * 10_000)]
        session = await open_session("act", "raise", "next")

        @session.on_tool("act")
        def act(args):
            return actions[args["n"]](args)

        @session.on_tool("raise")
        async def culprit(args):
            await asyncio.sleep(0)
            raise errors[args["n"]]

        session.on_tool("next", lambda: "works")
        """
    )
    told = []
    for tool, kinds in (("act", "actions"), ("raise", "errors")):
        for number in range(stage.read(f"len({kinds})")):
            error = stage.call(tool, {"n": number, "secret": "hunter2"})["error"]
            assert error["code"] == "TOOL_HANDLER_ERROR"
            assert 0 < len(error["message"]) <= 2_000
            assert error["message"].startswith(error["details"]["type"])
            told.append(error)
    assert [error["details"]["type"] for error in told] == [
        "RecursionError", "FileNotFoundError", "CancelledError",
        "ValueError", "KeyError", "SystemExit", "KeyboardInterrupt", "GeneratorExit",
        "RuntimeError", "CancelledError", "MemoryError", "MuteError", "Rare",
        "ValueError",
    ]  # fmt: skip
    assert "/home" not in str(told)
    assert "Traceback" not in str(told)
    assert stage.call("next") == "works"
    assert stage.heard("error") == []
    log = stage.take_log()
    assert "in culprit" in log
    assert "hunter2" not in log


def a_domain_error_keeps_its_code_and_is_no_event(stage: Stage) -> None:
    stage.run(
        """
        error = ToolError("NO_SELECTION", "Select text first.", error_class="userInput")

        def raises():
            raise error

        plain = {"error": {"message": "Select text first.", "code": "NO_SELECTION", "odd": [1]}}
        session = await open_session(raises=raises, returns=lambda: error, plain=lambda: plain)
        """
    )
    raised, returned = stage.call("raises")["error"], stage.call("returns")["error"]
    for told in (raised, returned):
        assert (told["code"], told["class"], told["message"]) == (
            "NO_SELECTION",
            "userInput",
            "Select text first.",
        )
    assert stage.call("plain") == stage.read("plain")
    assert stage.heard("error") == []


def a_result_that_cannot_be_sent_is_an_answer_and_an_event(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session(
            odd=lambda: {"rows": [0, {"at": {1, 2}}]}, large=lambda: "x" * 2_000, next=lambda: "works",
            client=new_client(max_result_bytes=1_000),
        )
        """
    )
    odd, large = stage.call("odd")["error"], stage.call("large")["error"]
    assert (odd["code"], odd["effects"]) == ("TOOL_RESULT_NOT_SERIALIZABLE", "applied")
    assert (odd["details"]["path"], odd["details"]["type"]) == ("$.rows[1].at", "set")
    assert odd["details"]["hint"] in odd["message"]
    assert (large["code"], large["effects"]) == ("TOOL_RESULT_TOO_LARGE", "applied")
    assert large["details"] == {"size": 2_002, "limit": 1_000}
    assert stage.heard("error") == [
        ["SUBMIT_TOOL_RESULT_FAILED", "TOOL_RESULT_NOT_SERIALIZABLE"],
        ["SUBMIT_TOOL_RESULT_FAILED", "TOOL_RESULT_TOO_LARGE"],
    ]
    assert stage.call("next") == "works"
    assert "$.rows[1].at" in stage.take_log()


def the_context_says_which_call_it_is_and_progress_is_sent_until_it_is_answered(stage: Stage) -> None:
    stage.run(
        """
        import time

        session = await open_session("a")
        kept = []

        @session.on_tool("a")
        def handler(args, ctx):
            kept.append(ctx)
            ctx.progress(1, 3, "one of three")
            ctx.progress(2.5)
            return [ctx.session_id == session.session_id, ctx.tool, bool(ctx.turn_id and ctx.tool_request_id),
                    0 < ctx.remaining_ms <= 20_000, 0 < ctx.deadline - time.time() <= 20, bool(ctx.cancelled)]
        """
    )
    assert stage.call("a") == [True, "a", True, True, True, False]
    stage.run("kept[0].progress(3, 3); await asyncio.sleep(0)")
    reports = stage.sent("tool_progress")
    assert [(one["done"], one.get("total"), one.get("message")) for one in reports] == [
        (1, 3, "one of three"),
        (2.5, None, None),
    ]
    assert {one["toolRequestId"] for one in reports} == {stage.read("kept[0].tool_request_id")}


def a_callback_that_fails_stops_neither_the_others_nor_the_call(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session(a=lambda: {1})
        fine = []

        async def fails_later(*event):
            await asyncio.sleep(0)
            raise ValueError("async failure")

        def fails(*event):
            raise SystemExit("sync failure")

        for register in (session.on_error, session.on_status, session.on_ended):
            register(fails)
            register(fails_later)
            register(lambda *event: fine.append(register.__name__))
            register(lambda *event: fine.append("disposed of"))()
        """
    )
    assert stage.call("a")["error"]["code"] == "TOOL_RESULT_NOT_SERIALIZABLE"
    stage.run("await session.end(); await asyncio.sleep(0)")
    # Two changes of status for the call, the fault of its result, the end as a status and as an event.
    assert stage.read("len(fine)") == 5
    assert "disposed of" not in stage.read("fine")
    log = stage.take_log()
    assert log.count("SystemExit: sync failure") == log.count("ValueError: async failure") == 5
