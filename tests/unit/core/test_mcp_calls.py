"""Calls whose caller vanished: who takes them over, and who may call them off."""

import itertools

import pytest

from pedelec.json_text import RawJson
from pedelec_core.invocation import Accept, Answer, Call, CallLimits, Deliver, Instant
from pedelec_core.invocations import Invocations

NOW = Instant(0, 0)


@pytest.fixture
def calls() -> Invocations:
    """The calls of a session whose page is here."""
    numbers = itertools.count(1)
    made = Invocations(
        limits=CallLimits(),
        new_id=lambda prefix: f"{prefix}{next(numbers)}",
        next_seq=lambda: next(numbers),
    )
    made.runner_changed("page", NOW)
    return made


def call(*, joins: bool = False, call_id: str | None = None) -> Call:
    return Call(
        tool="probe", args=RawJson("{}"), args_key="{}", timeout_ms=1_000, joins=joins, call_id=call_id
    )


def begin(calls: Invocations, wanted: Call, caller: str) -> str:
    """The id of the invocation that answers a call."""
    decisions = calls.call(wanted, caller, NOW)
    replayed = [each.invocation for each in decisions if isinstance(each, Answer)]
    invocation = replayed[0] if replayed else calls.awaited_by(caller)
    assert invocation is not None
    return invocation.id


def test_equal_calls_of_callers_that_are_there_are_separate(calls: Invocations) -> None:
    first = calls.call(call(), "a", NOW)
    second = calls.call(call(), "b", NOW)
    assert [type(each) for each in first + second] == [Accept, Deliver, Accept, Deliver]


def test_an_abandoned_call_is_taken_over_once(calls: Invocations) -> None:
    lost = begin(calls, call(), "a")
    calls.abandon(lost)
    assert begin(calls, call(), "b") == lost
    assert begin(calls, call(), "c") != lost


@pytest.mark.parametrize("joins", [True, False])
def test_an_abandoned_result_is_given_to_the_next_equal_call(calls: Invocations, joins: bool) -> None:
    lost = begin(calls, call(), "a")
    calls.result(lost, "page", RawJson("1"), NOW)
    calls.abandon(lost)
    assert begin(calls, call(joins=joins), "b") == lost
    calls.acknowledge(lost)
    assert begin(calls, call(joins=joins), "c") != lost


def test_a_result_that_was_received_cannot_be_abandoned(calls: Invocations) -> None:
    done = begin(calls, call(), "a")
    calls.result(done, "page", RawJson("1"), NOW)
    calls.acknowledge(done)
    calls.abandon(done)
    assert begin(calls, call(), "b") != done


def test_a_named_call_that_was_abandoned_is_found_with_and_without_its_name(calls: Invocations) -> None:
    lost = begin(calls, call(call_id="k"), "a")
    calls.abandon(lost)
    assert begin(calls, call(call_id="k"), "b") == lost
    calls.abandon(lost)
    assert begin(calls, call(), "c") == lost


def test_a_restart_of_core_abandons_what_no_caller_comes_back_for(calls: Invocations) -> None:
    lost = begin(calls, call(), "a")
    invocation = calls.get(lost)
    assert invocation is not None
    again = Invocations(limits=CallLimits(), new_id=lambda prefix: f"{prefix}new", next_seq=lambda: 1)
    again.restore([invocation])
    assert begin(again, call(), "b") == lost
