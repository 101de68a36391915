"""Calls that wait for a person: approval, questions of handlers, and what takes a question away."""

from tests.contract.stage import Stage

_TOOLS = """
ran = []


def erase(args):
    ran.append(args)
    return "erased"


async def paint(args, ctx):
    try:
        return await ctx.ask("Which colour?", options=args.get("options"))
    except PedelecError as error:
        return error.code


client = new_client()
schema = {"type": "object"}
session = listen(await client.create_session(tools=[
    define_tool(name="erase", description="Erases.", args_schema=schema, handler=erase, approval="always"),
    define_tool(name="paint", description="Paints.", args_schema=schema, handler=paint, asks=True),
    define_tool(name="look", description="Looks.", args_schema=schema, handler=lambda: len(ran)),
]))
"""


def a_call_that_needs_approval_runs_when_it_is_allowed_and_never_when_it_is_denied(stage: Stage) -> None:
    stage.run(_TOOLS)
    call = stage.start_call("erase", {"id": "<b>1</b>"})
    stage.run("await heard.until('status', 'waiting_user')")
    assert stage.call("look") == 0
    stage.decide(accepted=True)
    assert call.answer()["result"] == "erased"
    call = stage.start_call("erase", {"id": 2})
    stage.decide(accepted=False)
    assert call.answer()["result"]["error"]["code"] == "TOOL_DENIED"
    assert stage.read("ran") == [{"id": "<b>1</b>"}]
    stage.run("await heard.until('status', 'idle')")
    assert [frame["kind"] for frame in stage.sent("tool_waiting")] == ["approval", "approval"]
    assert len(stage.sent("tool_resumed")) == 2


def a_handler_gets_the_text_or_the_choice_that_the_person_gives_or_hears_that_there_is_none(
    stage: Stage,
) -> None:
    stage.run(_TOOLS)
    call = stage.start_call("paint")
    stage.decide(accepted=True, answer="a light green")
    assert call.answer()["result"] == "a light green"
    call = stage.start_call("paint", {"options": ["red", "blue"]})
    stage.decide(accepted=True, answer="blue")
    assert call.answer()["result"] == "blue"
    call = stage.start_call("paint")
    stage.decide(accepted=False)
    assert call.answer()["result"] == "TOOL_DENIED"


def several_calls_are_asked_about_one_after_the_other(stage: Stage) -> None:
    stage.run(_TOOLS)
    calls = [stage.start_call("erase", {"n": n}) for n in range(2)]
    stage.decide(accepted=True)
    stage.decide(accepted=False)
    results = [call.answer()["result"] for call in calls]
    assert sorted(result if isinstance(result, str) else result["error"]["code"] for result in results) == [
        "TOOL_DENIED",
        "erased",
    ]


def the_end_of_a_session_takes_its_question_away(stage: Stage) -> None:
    stage.run(_TOOLS)
    call = stage.start_call("erase")
    stage.run("await heard.until('status', 'waiting_user')")
    assert stage.is_asking()
    stage.run("await session.end(); await asyncio.sleep(0)")
    assert call.answer()["ok"] is False
    assert not stage.is_asking()
    assert stage.read("ran") == []


def a_question_that_nobody_answers_is_an_answer_before_the_deadline(stage: Stage) -> None:
    stage.run(_TOOLS)
    call = stage.start_call("erase", timeout_ms=1_500)
    answer = call.answer()
    error = answer["result"]["error"] if answer["ok"] else answer["error"]
    assert error["code"] == "TOOL_UNANSWERED"
    stage.run("await heard.until('status', 'idle')")
    assert not stage.is_asking()
    assert stage.read("ran") == []


def a_page_asks_in_its_own_way(stage: Stage) -> None:
    stage.run(_TOOLS)
    stage.run(
        """
        questions = []

        async def decide(question, ctx):
            questions.append([question["kind"], question["tool"], ctx.tool])
            return question["kind"] == "question" and "red"

        client.on_question(decide)
        """
    )
    assert stage.call("erase")["error"]["code"] == "TOOL_DENIED"
    assert stage.call("paint") == "red"
    assert stage.read("questions") == [["approval", "erase", "erase"], ["question", "paint", "paint"]]
