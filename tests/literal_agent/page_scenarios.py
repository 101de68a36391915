"""Errors of handlers, and what the SDK says of them."""

import httpx

from pedelec import ToolDefinition, ToolError
from tests.literal_agent.calls import Call
from tests.literal_agent.scenarios import (
    MOVE,
    after,
    agrees,
    busy,
    fails,
    moving,
    once,
    picks,
    says,
    scenario,
    tool,
)
from tests.literal_agent.stage import Json, Stage


def answered(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "https://user:secret@api.example/v1?key=secret")
    response = httpx.Response(status, headers=headers, request=request)
    return httpx.HTTPStatusError("secret", request=request, response=response)


@scenario("TOOL_HANDLER_NOT_FOUND", reachable=False)
async def a_tool_that_nobody_wrote(stage: Stage) -> Call:
    session = await stage.open_page(*moving(None))
    session._stop_holding()
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=True, through=("list_shapes",))
async def a_bug_in_a_handler_and_a_look_at_the_page(stage: Stage) -> Call:
    await stage.open_page(*moving(fails(KeyError("x"))))
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=False)
async def a_bug_in_a_handler_of_a_page_without_a_look(stage: Stage) -> Call:
    await stage.open_page(moving(fails(KeyError("x")))[0])
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=True)
async def a_time_out_inside_a_tool_that_is_safe_to_repeat(stage: Stage) -> Call:
    await stage.open_page(*moving(after(stage, 5, TimeoutError()), idempotent=True))
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=True)
async def a_time_out_inside_a_tool_that_changes_things(stage: Stage) -> Call:
    await stage.open_page(*moving(once(TimeoutError())))
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=True)
async def a_service_that_asks_for_twenty_seconds(stage: Stage) -> Call:
    error = answered(429, **{"Retry-After": "20"})
    await stage.open_page(*moving(after(stage, 20, error), idempotent=True))
    return MOVE


@scenario("TOOL_HANDLER_ERROR", reachable=True, user=agrees)
async def a_service_whose_access_has_run_out(stage: Stage) -> Call:
    await stage.open_page(*moving(once(answered(401))))
    return MOVE


@scenario("TOOL_RESULT_NOT_SERIALIZABLE", reachable=True, through=("list_shapes",))
async def a_result_without_json(stage: Stage) -> Call:
    await stage.open_page(*moving(lambda: {1, 2}))
    return MOVE


@scenario("TOOL_RESULT_TOO_LARGE", reachable=True, through=("list_shapes",))
async def a_result_that_is_too_large(stage: Stage) -> Call:
    await stage.open_page(*moving(lambda: "x" * 2_000_000))
    return MOVE


@scenario("BOARD_BUSY", reachable=True)
async def an_error_that_says_when_to_come_back(stage: Stage) -> Call:
    await stage.open_page(*moving(after(stage, 7, busy(7))))
    return MOVE


@scenario("BOARD_BUSY", reachable=True)
async def an_error_that_is_returned(stage: Stage) -> Call:
    def handler() -> object:
        return busy(3) if stage.clock < 3 else "moved"

    await stage.open_page(*moving(handler))
    return MOVE


@scenario("BOARD_BUSY", reachable=False)
async def a_board_that_stays_busy(stage: Stage) -> Call:
    await stage.open_page(*moving(fails(busy(1))))
    return MOVE


@scenario("SHAPE_NOT_FOUND", reachable=True, through=("list_shapes",))
async def an_error_that_names_another_call(stage: Stage) -> Call:
    error = ToolError.permanent("SHAPE_NOT_FOUND", "There is no s9.", recovery_steps=["See: list_shapes()"])
    await stage.open_page(*moving(fails(error)))
    return MOVE


@scenario("READ_ONLY", reachable=False)
async def an_error_for_good(stage: Stage) -> Call:
    await stage.open_page(*moving(fails(ToolError.permanent("READ_ONLY", "The board is locked."))))
    return MOVE


def painting(error: ToolError) -> ToolDefinition:
    def paint(args: Json) -> Json:
        if "color" not in args:
            raise error
        return args

    return tool("paint", paint)


WHICH = ToolError.user_input(
    "COLOR_MISSING",
    "Which colour?",
    options=[{"label": "Red", "value": "#f00"}, {"label": "Blue", "value": "#00f"}],
    details={"argument": "color"},
)
OPEN = ToolError.user_input(
    "COLOR_MISSING", "Which colour?", question="Which colour?", details={"argument": "color"}
)


@scenario("COLOR_MISSING", reachable=True, user=picks("Blue"))
async def a_choice_for_the_user(stage: Stage) -> Call:
    await stage.open_page(painting(WHICH))
    return Call("paint", {"shapeId": "s1"})


@scenario("COLOR_MISSING", reachable=False)
async def a_choice_that_the_user_declines(stage: Stage) -> Call:
    await stage.open_page(painting(WHICH))
    return Call("paint", {"shapeId": "s1"})


@scenario("COLOR_MISSING", reachable=True, user=says("green"))
async def an_open_question_to_the_user(stage: Stage) -> Call:
    await stage.open_page(painting(OPEN))
    return Call("paint", {"shapeId": "s1"})


@scenario("SIGNED_OUT", reachable=True, user=agrees)
async def a_page_that_is_signed_out(stage: Stage) -> Call:
    error = ToolError.auth_required("SIGNED_OUT", "Signed out.", reconnect="Sign in at the top")
    await stage.open_page(*moving(once(error)))
    return MOVE


@scenario("NOT_CONFIGURED", reachable=True, user=agrees)
async def a_key_that_was_never_entered(stage: Stage) -> Call:
    await stage.open_page(*moving(once(ToolError.not_configured("the key", "Enter it under Settings"))))
    return MOVE


@scenario("NOT_CONFIGURED", reachable=False)
async def a_key_that_the_user_has_not_got(stage: Stage) -> Call:
    await stage.open_page(*moving(fails(ToolError.not_configured("the key", "Enter it under Settings"))))
    return MOVE
