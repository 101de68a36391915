"""An agent that repeats a failing call is told so, then stopped; its errors name the call to make next."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pedelec_core.hub import Hub
from tests.literal_agent.scenarios import MOVE, fails, moving, tool
from tests.literal_agent.stage import Json, Stage

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage(Hub())
    yield made
    await made.close()


async def times(stage: Stage, count: int, name: str = MOVE.tool, args: Json = MOVE.args) -> list[Json]:
    return [await stage.call(name, args) for _ in range(count)]


def codes(answers: list[Json]) -> list[str | None]:
    return [
        (answer.get("error") or answer.get("result", {}).get("error") or {}).get("code") for answer in answers
    ]


async def test_a_failing_handler_is_remarked_on_beside_its_result_and_then_not_run(stage: Stage) -> None:
    ran: list[int] = []

    def handler() -> None:
        ran.append(1)
        raise ValueError("broken")

    await stage.open_page(*moving(handler))
    answers = await times(stage, 6)
    assert codes(answers) == ["TOOL_HANDLER_ERROR"] * 4 + ["TOOL_LOOP_STOPPED"] * 2
    assert ["warning" in answer for answer in answers] == [False, False, True, True, False, False]
    assert "failed 3 times in a row with TOOL_HANDLER_ERROR" in answers[2]["warning"]
    assert answers[0]["result"] == answers[2]["result"]
    assert len(ran) == 4
    assert "See what the page shows: list_shapes()" in answers[5]["error"]["recoverySteps"][0]


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [("paint", {}, "TOOL_NOT_FOUND"), ("move_shape", {"shapeId": "s1"}, "TOOL_ARGS_INVALID")],
)
async def test_unknown_tools_and_invalid_arguments_count_too(
    stage: Stage, name: str, args: Json, code: str
) -> None:
    await stage.open_page(*moving())
    answers = await times(stage, 5, name, args)
    assert codes(answers) == [code] * 4 + ["TOOL_LOOP_STOPPED"]
    assert "failed 3 times in a row" in answers[2]["error"]["recoverySteps"][0]


async def test_arguments_that_were_refused_are_the_same_in_whatever_order(stage: Stage) -> None:
    await stage.open_page(*moving())
    turned = [{"a": 1, "b": 2.5}, {"b": 2.5, "a": 1}]
    answers = [await stage.call("paint", turned[number % 2]) for number in range(5)]
    assert codes(answers) == ["TOOL_NOT_FOUND"] * 4 + ["TOOL_LOOP_STOPPED"]


async def test_a_returned_error_counts_as_the_failure_that_it_is(stage: Stage) -> None:
    await stage.open_page(*moving(lambda: {"error": {"code": "MINE", "message": "m"}}))
    assert codes(await times(stage, 5))[-1] == "TOOL_LOOP_STOPPED"


async def test_another_call_sets_it_free(stage: Stage) -> None:
    await stage.open_page(*moving(fails(ValueError("broken"))))
    await times(stage, 4)
    await stage.call("list_shapes", {})
    assert codes(await times(stage, 1)) == ["TOOL_HANDLER_ERROR"]


async def test_a_reload_of_the_page_sets_it_free(stage: Stage) -> None:
    session = await stage.open_page(*moving(fails(ValueError("broken"))))
    await times(stage, 4)
    await stage.reload_page(session.session_id, *moving())
    assert (await times(stage, 1))[0]["result"] == "moved"


async def test_calls_that_join_one_failure_count_once(stage: Stage) -> None:
    release = asyncio.Event()

    async def handler() -> None:
        await release.wait()
        raise ValueError("broken")

    await stage.open_page(*moving(handler))
    calls = [asyncio.ensure_future(stage.call(MOVE.tool, MOVE.args)) for _ in range(6)]
    await asyncio.sleep(0)
    release.set()
    assert codes(await asyncio.gather(*calls)) == ["TOOL_HANDLER_ERROR"] * 6
    assert codes(await times(stage, 1)) == ["TOOL_HANDLER_ERROR"]


async def test_the_nearest_tool_is_named_with_the_arguments_of_the_call(stage: Stage) -> None:
    await stage.open_page(*moving())
    error = (await stage.call("moveShape", MOVE.args))["error"]
    assert error["recoverySteps"][0] == 'If you mean move_shape, call it: move_shape(shapeId="s1", x=12)'


async def test_the_corrected_call_is_written_out(stage: Stage) -> None:
    await stage.open_page(*moving())
    error = (await stage.call("move_shape", {"shape_id": "s1", "x": "12"}))["error"]
    assert error["recoverySteps"][0] == 'Make the corrected call: move_shape(shapeId="s1", x=12)'


async def test_a_time_out_says_what_shows_the_state(stage: Stage) -> None:
    stage.timeout_ms = 20
    await stage.open_page(*moving(asyncio.Event().wait))
    answer: Any = await stage.call(MOVE.tool, MOVE.args)
    assert answer["error"]["recoverySteps"] == [
        f"Fetch a late result: pedelec-cli tool-result {answer['invocationId']}",
        "If there is none, see whether it took effect before you repeat it: list_shapes()",
    ]


async def test_arguments_that_are_no_json_are_told_without_them(stage: Stage) -> None:
    await stage.open_page(tool("draw", lambda: 1))
    request = await stage.call_text("draw", "{nope")
    assert request["error"]["code"] == "TOOL_ARGS_INVALID"
