"""Which handler answers a call, how it is called, and what it is given."""

from tests.contract.stage import Stage


def named_comes_before_inline_before_generic(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("bare", both=lambda: "inline")
        off = session.on_tool("both", lambda: "named")

        @session.on_tool
        def generic(tool, args, ctx):
            return ["generic", tool, args, ctx.tool]
        """
    )
    assert stage.call("both") == "named"
    assert stage.call("bare", {"n": 1}) == ["generic", "bare", {"n": 1}, "bare"]
    stage.run("off(); off()")
    assert stage.call("both", {"n": 2}) == "inline"


def a_disposer_takes_back_its_own_registration_alone(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        first = session.on_tool("a", lambda: "first")
        second = session.on_tool("a", lambda: "second")
        first(); first()
        """
    )
    assert stage.call("a") == "second"
    stage.run("second()")
    assert stage.call("a", {"n": 2})["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"
    assert "The tool a has no handler" in stage.take_log()


def a_running_call_finishes_with_the_handler_it_started_with(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        started, go = asyncio.Event(), asyncio.Event()

        @session.on_tool("a")
        async def old():
            started.set()
            await go.wait()
            return "old"
        """
    )
    running = stage.start_call("a")
    stage.run("await started.wait(); session.on_tool('a', lambda: 'new')")
    assert stage.call("a", {"n": 2}) == "new"
    stage.run("go.set()")
    assert running.answer()["result"] == "old"


def a_tool_without_a_handler_is_told_of_and_works_once_it_has_one(stage: Stage) -> None:
    stage.run("session = await open_session('lonely', other=lambda: 1)")
    stage.call("lonely")
    error = stage.call("lonely", {"n": 1})["error"]
    assert stage.take_log().count("The tool lonely has no handler") == 1
    assert (error["code"], error["effects"]) == ("TOOL_HANDLER_NOT_FOUND", "none")
    assert error["suggestions"] == ["other"]
    stage.run("session.on_tool('lonely', lambda: 'here now')")
    assert stage.call("lonely", {"n": 2}) == "here now"
    assert stage.heard("error") == []


def a_handler_without_a_declaration_is_warned_of_once(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session(a=lambda: 1)
        for _ in range(3):
            session.on_tool("stray", lambda: 1)
        """
    )
    assert stage.take_log().count("stray") == 1
    assert stage.call("a") == 1


def a_resumed_session_runs_handlers_that_are_set_on_it(stage: Stage) -> None:
    stage.run(
        """
        first = await open_session("a", a=lambda: "before")
        clients.pop().close()
        session = listen(await new_client().resume_session(first.session_id))
        session.on_tool("a", lambda: "after")
        """
    )
    assert stage.call("a") == "after"


def sessions_do_not_share_handlers(stage: Stage) -> None:
    stage.run(
        """
        client = new_client()
        one = await open_session("a", client=client)
        two = await open_session("a", client=client)
        one.on_tool("a", lambda: 1)
        two.on_tool("a", lambda: 2)
        """
    )
    calls = [stage.start_call("a", session=name) for name in ("one", "two")]
    assert [call.answer()["result"] for call in calls] == [1, 2]


def handlers_may_have_any_form_that_can_be_called(stage: Stage) -> None:
    stage.run(
        """
        import functools

        class Thing:
            def method(self, args):
                return ["method", args]

            def __call__(self, args, ctx):
                return ["object", args, ctx.tool]

        async def later(args, *, ctx):
            await asyncio.sleep(0)
            return ["async", args, ctx.tool]

        def future():
            made = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(made.set_result, ["future"])
            return made

        session = await open_session(
            none=lambda: ["none"],
            method=Thing().method,
            object=Thing(),
            later=later,
            partial=functools.partial(lambda mark, args: [mark, args], "partial"),
            awaitable=lambda args, ctx: later(args, ctx=ctx),
            future=future,
        )
        """
    )
    expected = {
        "none": ["none"],
        "method": ["method", {"n": 1}],
        "object": ["object", {"n": 1}, "object"],
        "later": ["async", {"n": 1}, "later"],
        "partial": ["partial", {"n": 1}],
        "awaitable": ["async", {"n": 1}, "awaitable"],
        "future": ["future"],
    }
    calls = {tool: stage.start_call(tool, {"n": 1}) for tool in expected}
    assert {tool: call.answer()["result"] for tool, call in calls.items()} == expected


def what_cannot_be_called_is_refused_where_it_is_registered(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        refusals = []
        for handler in (None, 5, "name", lambda a, b, c: None, lambda a, *, key: None):
            try:
                session.on_tool("a", handler)
            except PedelecError as error:
                refusals.append([error.code, "It must be callable as one of" in error.message])
        """
    )
    assert stage.read("refusals") == [["INVALID_INPUT", True]] * 5


def each_call_has_plain_arguments_of_its_own(stage: Stage) -> None:
    stage.run(
        """
        session = await open_session("a")
        kept = []

        @session.on_tool("a")
        def handler(args):
            names = {key: type(value).__name__ for key, value in args.items()}
            args["list"].append("mine")
            kept.append(args)
            return [names, args["list"], args["none"] is None]
        """
    )
    args = {"text": "12345", "list": list[str](), "none": None, "__proto__": {"n": 1.5}, "toString": True}
    names = {"text": "str", "list": "list", "none": "NoneType", "__proto__": "dict", "toString": "bool"}
    for number in (1, 2):
        assert stage.call("a", {**args, "n": number}) == [{**names, "n": "int"}, ["mine"], True]
    assert stage.read("kept[0] is not kept[1]")
