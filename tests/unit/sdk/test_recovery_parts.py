"""`gather_parts` returns what worked, and says of the rest what failed and which call would get it."""

import asyncio
from typing import Any

import pytest

from pedelec import PedelecError, ToolError
from pedelec.recovery import gather_parts
from tests.unit.sdk.scripted_core import answer_of


def fails(error: BaseException) -> Any:
    async def source() -> None:
        await asyncio.sleep(0)
        raise error

    return source


async def later(value: object) -> object:
    await asyncio.sleep(0)
    return value


async def test_all_that_works_is_complete() -> None:
    sources: dict[str, Any] = {"a": lambda: 1, "b": lambda: later(2), "c": later(3), "d": lambda: None}
    assert await gather_parts(sources) == {
        "parts": {"a": 1, "b": 2, "c": 3, "d": None},
        "completeness": "complete",
    }


async def test_sources_run_side_by_side() -> None:
    first, second = asyncio.Event(), asyncio.Event()

    async def one() -> bool:
        first.set()
        return await second.wait()

    async def two() -> bool:
        second.set()
        return await first.wait()

    async with asyncio.timeout(5):
        assert (await gather_parts({"one": one, "two": two}))["completeness"] == "complete"


@pytest.mark.parametrize(
    "error", [ValueError("x"), ToolError("MINE", "Mine."), asyncio.CancelledError(), SystemExit(1)]
)
async def test_one_failed_part_hides_no_other(error: BaseException) -> None:
    told = await gather_parts({"bad": fails(error), "good": lambda: later("here")})
    assert told["parts"] == {"bad": None, "good": "here"}
    assert told["completeness"] == "partial"
    assert set(told["errors"]) == {"bad"}
    assert {"code", "class", "message"} <= set(told["errors"]["bad"])


async def test_a_returned_error_is_a_failed_part() -> None:
    told = await gather_parts({"bad": lambda: ToolError("MINE", "Mine."), "good": lambda: 1})
    assert told["errors"]["bad"]["code"] == "MINE"


async def test_a_part_that_cannot_be_sent_hides_no_other() -> None:
    async def handler() -> Any:
        sources: dict[str, Any] = {
            "tags": lambda: {"all": {1, 2}},
            "mean": lambda: later(float("nan")),
            "dump": lambda: "x" * 2_000_000,
            "title": lambda: "Board",
        }
        return await gather_parts(sources)

    told = await answer_of(handler)
    assert told["parts"] == {"tags": None, "mean": None, "dump": None, "title": "Board"}
    assert {name: error["code"] for name, error in told["errors"].items()} == {
        "tags": "TOOL_RESULT_NOT_SERIALIZABLE",
        "mean": "TOOL_RESULT_NOT_SERIALIZABLE",
        "dump": "TOOL_RESULT_TOO_LARGE",
    }
    assert "$.parts.tags.all (set)" in told["errors"]["tags"]["message"]


async def test_of_many_failed_parts_the_steps_name_some_and_count_the_others() -> None:
    sources = {f"p{number}": fails(TimeoutError()) for number in range(50)} | {"good": lambda: later(1)}
    (step,) = (await gather_parts(sources))["recoverySteps"]
    assert step == (
        "For p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, 40 more: wait 5 s, then make the same call again."
    )


async def test_the_steps_name_the_call_for_the_missing_parts() -> None:
    async def handler(args: Any) -> Any:
        return await gather_parts(
            {
                "weather": lambda: 21,
                "traffic": fails(TimeoutError()),
                "calendar": fails(ToolError.auth_required("OUT", "Signed out.", reconnect="Sign in")),
                "news": fails(ToolError.user_input("WHICH", "Which?", question="Which?")),
                "tide": fails(ToolError.permanent("INLAND", "There is no sea here.")),
            },
            argument="parts",
        )

    told = await answer_of(handler, {"day": 1})
    assert told["recoverySteps"] == [
        'For traffic: wait 5 s, then call probe_tool(day=1, parts=["traffic"])',
        'For calendar: ask the user to renew access, then call probe_tool(day=1, parts=["calendar"])',
        'For news: tell the user what is needed (news: Which?), then call probe_tool(day=1, parts=["news"])',
        "Do without tide: asking again will not help (tide: There is no sea here).",
    ]


async def test_without_such_an_argument_the_same_call_is_named() -> None:
    async def handler() -> Any:
        return await gather_parts({"a": lambda: 1, "b": fails(TimeoutError())})

    told = await answer_of(handler, {"day": 1})
    assert told["recoverySteps"] == ["For b: wait 5 s, then call probe_tool(day=1)"]


async def test_total_failure_is_an_error_with_the_class_that_helps_most() -> None:
    async def handler() -> Any:
        busy = ToolError.retryable("BUSY", "Busy.", after=9)
        return await gather_parts({"a": fails(TimeoutError()), "b": fails(ValueError("x")), "c": fails(busy)})

    envelope = (await answer_of(handler))["error"]
    assert (envelope["code"], envelope["class"]) == ("NO_PART_WORKED", "retryable")
    assert envelope["retryAfterSeconds"] == 9
    assert envelope["recoverySteps"] == ["Wait 9 s, then make the same call: probe_tool()"]
    assert set(envelope["details"]["errors"]) == {"a", "b", "c"}


async def test_total_failure_for_good_is_told_to_the_user() -> None:
    with pytest.raises(ToolError) as caught:
        await gather_parts({"a": fails(ValueError("x"))})
    assert caught.value.error_class == "permanent"
    assert caught.value.to_wire()["recoverySteps"] == ["Tell the user that none of this can be had now: a."]


async def test_no_sources_are_refused() -> None:
    with pytest.raises(PedelecError, match="at least one source"):
        await gather_parts({})


async def test_it_can_be_cancelled() -> None:
    async with asyncio.timeout(5):
        task = asyncio.ensure_future(gather_parts({"a": asyncio.Event().wait}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
