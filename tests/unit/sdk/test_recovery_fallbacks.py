"""`first_that_works` never does something else, or the same thing twice, without asking."""

import asyncio
from typing import Any

import pytest

from pedelec import PedelecError, ToolError
from pedelec.recovery import Alternative, first_that_works
from tests.unit.sdk.scripted_core import answer_of

BROKEN = ToolError("BROKEN", "Broken.", effects="none")


def way(name: str, outcome: Any = "done", effects: str = "none", ran: list[str] | None = None) -> Alternative:
    async def run() -> Any:
        if ran is not None:
            ran.append(name)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return Alternative(name, run, effects)


async def test_the_first_that_works_is_used_and_no_other_runs() -> None:
    ran: list[str] = []
    told = await first_that_works([way("api", 1, ran=ran), way("cache", 2, ran=ran)])
    assert told == {"result": 1, "channelUsed": "api", "wasFallback": False}
    assert ran == ["api"]


async def test_a_fallback_says_that_it_is_one_and_why() -> None:
    told = await first_that_works([way("api", TimeoutError()), way("cache", 2)])
    assert (told["result"], told["channelUsed"], told["wasFallback"]) == (2, "cache", True)
    assert told["errors"]["api"]["errorType"] == "timeout"


async def test_a_way_with_other_effects_is_not_taken_silently() -> None:
    ran: list[str] = []

    async def handler(args: Any) -> Any:
        ways = [way("chat", BROKEN, "posts a message", ran), way("mail", 1, "sends an e-mail", ran)]
        return await first_that_works(ways, allow=[args.get("channel", "")], argument="channel")

    envelope = (await answer_of(handler, {"text": "hi"}))["error"]
    assert (envelope["code"], envelope["class"]) == ("FALLBACK_NEEDS_CONSENT", "userInput")
    assert envelope["options"][0]["call"] == 'probe_tool(text="hi", channel="mail")'
    assert 'probe_tool(text="hi", channel="mail")' in envelope["recoverySteps"][0]
    assert ran == ["chat"]
    assert (await answer_of(handler, {"text": "hi", "channel": "mail"}))["channelUsed"] == "mail"


async def test_a_later_way_with_the_same_effects_comes_before_the_question() -> None:
    ways = [way("a", BROKEN, "sends"), way("b", 1, "prints"), way("c", 2, "sends")]
    assert (await first_that_works(ways))["channelUsed"] == "c"


async def test_what_may_have_been_done_is_not_done_again_another_way() -> None:
    ran: list[str] = []
    ways = [way("one", TimeoutError(), "sends", ran), way("two", 1, "sends", ran)]
    with pytest.raises(ToolError) as caught:
        await first_that_works(ways)
    assert ran == ["one"]
    assert (caught.value.code, caught.value.effects) == ("NO_CHANNEL_WORKED", "unknown")


async def test_what_surely_never_began_is_done_another_way() -> None:
    ways = [way("one", ConnectionRefusedError(), "sends"), way("two", 1, "sends")]
    assert (await first_that_works(ways))["wasFallback"] is True


async def test_a_way_that_is_cancelled_has_failed_like_any_other() -> None:
    told = await first_that_works([way("a", asyncio.CancelledError()), way("b", 2)])
    assert told["channelUsed"] == "b"


async def test_trying_can_be_cancelled() -> None:
    ran: list[str] = []
    waits = Alternative("a", asyncio.Event().wait, "none")
    async with asyncio.timeout(5):
        task = asyncio.ensure_future(first_that_works([waits, way("b", ran=ran)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ran == []


async def test_no_effects_are_none_however_they_are_written() -> None:
    told = await first_that_works([way("a", TimeoutError(), " None "), way("b", 2)])
    assert told["wasFallback"] is True


async def test_without_an_argument_for_consent_no_call_is_named() -> None:
    async def handler() -> Any:
        return await first_that_works([way("mail", BROKEN, "sends"), way("cache", 1)])

    envelope = (await answer_of(handler))["error"]
    assert envelope["code"] == "FALLBACK_NEEDS_CONSENT"
    (step,) = envelope["recoverySteps"]
    assert step.startswith("Do not repeat the same call: tell the user")
    assert step.endswith("cache (changes nothing).")


async def test_when_nothing_works_the_error_has_every_reason() -> None:
    ways = [way("a", TimeoutError()), way("b", ValueError("x"))]
    with pytest.raises(ToolError) as caught:
        await first_that_works(ways)
    error = caught.value
    assert (error.code, error.error_class, error.retry_after_seconds) == ("NO_CHANNEL_WORKED", "retryable", 5)
    assert error.details is not None
    assert set(error.details["errors"]) == {"a", "b"}


async def test_a_returned_error_is_a_failure() -> None:
    assert (await first_that_works([way("a", 1), way("b", 2)]))["result"] == 1
    told = await first_that_works([Alternative("a", lambda: BROKEN, "none"), way("b", 2)])
    assert told["channelUsed"] == "b"


@pytest.mark.parametrize(
    "ways", [[], [way("a", effects=" ")], [way("a"), way("a")]], ids=["none", "blank effects", "twice"]
)
async def test_alternatives_that_say_too_little_are_refused(ways: list[Alternative]) -> None:
    with pytest.raises(PedelecError) as caught:
        await first_that_works(ways)
    assert caught.value.code == "INVALID_INPUT"
