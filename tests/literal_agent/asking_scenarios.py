"""Calls that wait for the person at the page, who says yes, no, or nothing."""

from typing import Any

from pedelec.context import ToolContext
from tests.literal_agent.calls import Call
from tests.literal_agent.scenarios import MOVE, agrees, moving, scenario, tool
from tests.literal_agent.stage import Json, Stage

_MOMENT_MS = 200


@scenario("TOOL_DENIED", reachable=False, user=agrees)
async def a_call_that_the_person_at_the_page_denies(stage: Stage) -> Call:
    stage.person = [False, True, True]
    await stage.open_page(*moving(approval="always"))
    return MOVE


@scenario("TOOL_DENIED", reachable=False, user=agrees)
async def a_question_that_the_person_at_the_page_does_not_want_to_answer(stage: Stage) -> Call:
    async def paint(_args: Json, ctx: ToolContext) -> Any:
        return await ctx.ask("Which colour?", options=["red", "blue"])

    stage.person = [None, "red"]
    await stage.open_page(tool("paint", paint, asks=True))
    return Call("paint")


@scenario("TOOL_UNANSWERED", reachable=True, user=agrees)
async def a_person_who_comes_back_to_the_page(stage: Stage) -> Call:
    stage.person = [..., True]
    stage.timeout_ms = _MOMENT_MS
    await stage.open_page(*moving(approval="always"))
    return MOVE


@scenario("TOOL_UNANSWERED", reachable=False)
async def a_person_who_is_not_coming_back(stage: Stage) -> Call:
    stage.person = [...]
    stage.timeout_ms = _MOMENT_MS
    await stage.open_page(*moving(approval="always"))
    return MOVE


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_corrected_call_that_the_person_at_the_page_then_allows(stage: Stage) -> Call:
    stage.person = [True]
    await stage.open_page(*moving(approval="always"))
    return Call("move_shape", {"shapeId": "s1", "x": 12, "colour": "red"})
