"""Errors that Core makes."""

import asyncio

from pedelec_core.hub import now
from pedelec_core.invocation import CallLimits
from tests.literal_agent.calls import Call
from tests.literal_agent.scenarios import MOVE, agrees, moving, scenario, tool
from tests.literal_agent.stage import Stage, turns_until


@scenario("TOOL_NOT_FOUND", reachable=True, through=("move_shape",))
async def a_misspelt_tool(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shap", MOVE.args)


@scenario("TOOL_NOT_FOUND", reachable=True, through=("move_shape",))
async def a_tool_in_another_spelling(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("moveShape", MOVE.args)


@scenario("TOOL_NOT_FOUND", reachable=False)
async def a_tool_like_no_other(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("send_mail", {"to": "x"})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_misspelt_key(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", {"shape_id": "s1", "x": 12})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_misspelt_key_further_down(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", MOVE.args | {"at": {"layers": 2}})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_misspelt_choice(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", MOVE.args | {"color": "Gren"})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_number_as_text(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", {"shapeId": "s1", "x": "12"})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def several_mistakes_at_once(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", {"shapeID": "s1", "x": "12", "color": "BLUE", "at": {"layer": "3"}})


@scenario("TOOL_ARGS_INVALID", reachable=True)
async def a_missing_argument_with_a_default(stage: Stage) -> Call:
    schema = {
        "type": "object",
        "properties": {"unit": {"enum": ["celsius"]}, "days": {"type": "integer", "default": 3}},
        "required": ["unit", "days"],
    }
    await stage.open_page(tool("get_weather", lambda: 21, schema))
    return Call("get_weather", {})


@scenario("TOOL_ARGS_INVALID", reachable=False)
async def a_value_that_nobody_can_guess(stage: Stage) -> Call:
    await stage.open_page(*moving())
    return Call("move_shape", {"shapeId": "s1"})


@scenario("TOOL_TIMEOUT", reachable=True, through=("tool-result",))
async def a_slow_tool_whose_result_comes_late(stage: Stage) -> Call:
    done = asyncio.Event()

    async def slow() -> str:
        await done.wait()
        return "moved"

    async def finish(_clock: float) -> None:
        done.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    stage.when_waiting, stage.timeout_ms = finish, 30
    await stage.open_page(*moving(slow))
    return MOVE


@scenario("TOOL_TIMEOUT", reachable=True)
async def a_tool_that_is_safe_to_repeat_and_hangs_once(stage: Stage) -> Call:
    calls = 0

    async def slow() -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            await asyncio.Event().wait()
        return "moved"

    stage.timeout_ms = 30
    await stage.open_page(*moving(slow, idempotent=True))
    return MOVE


@scenario("TOOL_TIMEOUT", reachable=False)
async def a_tool_that_hangs(stage: Stage) -> Call:
    stage.timeout_ms = 30
    await stage.open_page(*moving(asyncio.Event().wait))
    return MOVE


@scenario("TOOL_PAGE_UNAVAILABLE", reachable=True, user=agrees)
async def a_page_that_is_still_loading(stage: Stage) -> Call:
    session = await stage.open_page(*moving())
    stage.close_page()

    async def load(_clock: float) -> None:
        await stage.reload_page(session.session_id, *moving())

    stage.when_waiting, stage.timeout_ms = load, 50
    stage.thread = session.session_id
    return MOVE


@scenario("TOOL_PAGE_UNAVAILABLE", reachable=False)
async def a_session_that_ends_while_its_page_is_away(stage: Stage) -> Call:
    session = await stage.open_page(*moving())
    stage.close_page()
    ending = stage.hub.sessions[session.session_id]

    async def end() -> None:
        await turns_until(lambda: ending.calls.running() > 0)
        stage.hub.end(ending, "closed")

    stage.in_background(end())
    stage.thread = session.session_id
    return MOVE


@scenario("TOOL_INTERRUPTED", reachable=True)
async def a_reload_during_a_tool_that_is_safe_to_repeat(stage: Stage) -> Call:
    return await _reloaded(stage, idempotent=True)


@scenario("TOOL_INTERRUPTED", reachable=True, through=("list_shapes",))
async def a_reload_during_a_tool_that_changes_things(stage: Stage) -> Call:
    return await _reloaded(stage, idempotent=False)


async def _reloaded(stage: Stage, *, idempotent: bool) -> Call:
    """After the reload the page answers; what the agent should see first depends on the tool."""
    running = asyncio.Event()

    async def endless() -> None:
        running.set()
        await asyncio.Event().wait()

    session = await stage.open_page(*moving(endless, idempotent=idempotent))

    async def reload() -> None:
        await running.wait()
        await stage.reload_page(session.session_id, *moving())

    stage.in_background(reload())
    stage.thread = session.session_id
    return MOVE


@scenario("TOOL_BUSY", reachable=True)
async def a_page_that_runs_as_many_calls_as_it_may(stage: Stage) -> Call:
    released = asyncio.Event()

    async def held() -> str:
        await released.wait()
        return "drawn"

    async def release(_clock: float) -> None:
        released.set()
        await turns_until(lambda: session.calls.running() == 0)

    opened = await stage.open_page(tool("draw", held), *moving())
    session = stage.hub.sessions[opened.session_id]
    for number in range(CallLimits().running):
        stage.in_background(stage.call("draw", {"n": number}))
    await turns_until(lambda: session.calls.running() == CallLimits().running)
    stage.when_waiting = release
    return MOVE


@scenario("TOOL_CANCELLED", reachable=False)
async def a_call_that_is_called_off(stage: Stage) -> Call:
    opened = await stage.open_page(*moving(asyncio.Event().wait))
    session = stage.hub.sessions[opened.session_id]

    async def cancel() -> None:
        await turns_until(lambda: session.calls.running() > 0)
        (invocation,) = session.calls.ids()
        stage.hub.carry_out(session, session.calls.cancel(invocation, "the user", now()))

    stage.in_background(cancel())
    return MOVE


@scenario("CALL_ID_CONFLICT", reachable=True)
async def a_call_id_that_stands_for_another_call(stage: Stage) -> Call:
    await stage.open_page(*moving())
    stage.call_ids = ["mine", "mine"]
    await stage.call("list_shapes", {})
    return MOVE


@scenario("TOOL_LOOP_STOPPED", reachable=True, through=("list_shapes",))
async def a_call_that_has_failed_four_times(stage: Stage) -> Call:
    await stage.open_page(*moving(lambda: 1 / 0))
    for _ in range(4):
        await stage.call(MOVE.tool, MOVE.args)
    return MOVE


@scenario("PEDELEC_THREAD_ID_NOT_FOUND", reachable=True)
async def several_pages(stage: Stage) -> Call:
    await stage.open_page(*moving())
    await stage.open_page(*moving(), instance="another")
    return MOVE


@scenario("THREAD_NOT_FOUND", reachable=True)
async def a_session_that_is_no_more(stage: Stage) -> Call:
    await stage.open_page(*moving())
    stage.thread = "thr_gone"
    return MOVE


@scenario("PEDELEC_THREAD_ID_NOT_FOUND", reachable=False)
async def no_page(_stage: Stage) -> Call:
    return MOVE
