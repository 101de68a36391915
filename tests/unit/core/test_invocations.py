"""How one session's calls live: answers, deadlines, exact retry, exclusive tools, pages that come and go."""

import itertools
from collections.abc import Sequence

import pytest

from pedelec.errors import PedelecError
from pedelec.json_text import JsonValue, RawJson, encode_value
from pedelec_core.invocation import (
    Answer,
    Call,
    CallLimits,
    CancelOnPage,
    Decision,
    Deliver,
    Forget,
    Instant,
    Invocation,
    Save,
)
from pedelec_core.invocations import Invocations

PAGE = "page-1"


def at(seconds: float) -> Instant:
    return Instant(seconds, round(seconds * 1000))


def call(
    tool: str = "move",
    key: str = "k",
    *,
    timeout_ms: int = 1000,
    exclusive: bool = False,
    safe_to_repeat: bool = False,
    call_id: str | None = None,
    joins: bool = True,
) -> Call:
    return Call(
        tool=tool,
        args=RawJson("{}"),
        args_key=key,
        timeout_ms=timeout_ms,
        exclusive=exclusive,
        safe_to_repeat=safe_to_repeat,
        call_id=call_id,
        joins=joins,
    )


def machine(limits: CallLimits | None = None, *, page: str | None = PAGE) -> Invocations:
    ids, seqs = itertools.count(1), itertools.count(1)
    calls = Invocations(
        limits=limits or CallLimits(),
        new_id=lambda prefix: f"{prefix}{next(ids)}",
        next_seq=lambda: next(seqs),
    )
    if page is not None:
        calls.runner_changed(page, at(0))
    return calls


def delivered(decisions: Sequence[Decision]) -> list[Invocation]:
    return [decision.invocation for decision in decisions if isinstance(decision, Deliver)]


def answers(decisions: Sequence[Decision]) -> list[Answer]:
    return [decision for decision in decisions if isinstance(decision, Answer)]


def error_codes(decisions: Sequence[Decision]) -> list[tuple[str, str | None, str | None]]:
    return [
        (answer.caller, answer.outcome.error.code, answer.outcome.error.effects)
        for answer in answers(decisions)
        if answer.outcome.error is not None
    ]


def raw(value: JsonValue) -> RawJson:
    return RawJson(encode_value(value))


def run(calls: Invocations, result: JsonValue, *, now: float = 0.0, a_call: Call | None = None) -> Invocation:
    """Call, deliver, answer."""
    (invocation,) = delivered(calls.call(a_call or call(), "first", at(now)))
    refused, _ = calls.result(invocation.id, PAGE, raw(result), at(now))
    assert refused is None
    return invocation


class TestOneAnswer:
    def test_a_result_answers_the_caller_once(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "agent", at(0)))
        _, decisions = calls.result(invocation.id, PAGE, raw({"x": 1}), at(0.1))
        (answer,) = answers(decisions)
        assert (answer.caller, answer.outcome.result, answer.outcome.error) == ("agent", raw({"x": 1}), None)
        assert calls.tick(at(5)) == []

    def test_the_same_result_sent_again_is_confirmed_and_changes_nothing(self) -> None:
        calls = machine()
        invocation = run(calls, 1)
        assert calls.result(invocation.id, PAGE, raw(1), at(1)) == (None, [])

    def test_a_result_for_an_unknown_invocation_is_refused(self) -> None:
        refused, decisions = machine().result("inv_9", PAGE, raw(1), at(0))
        assert (refused and refused.code, decisions) == ("INVOCATION_NOT_FOUND", [])

    def test_a_result_from_another_page_than_the_one_that_runs_the_call_is_refused(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "agent", at(0)))
        refused, decisions = calls.result(invocation.id, "stranger", raw(1), at(0))
        assert (refused and refused.code, decisions) == ("INVOCATION_NOT_FOUND", [])
        assert calls.running() == 1

    def test_a_caller_that_went_away_is_not_answered_and_its_call_goes_on(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "agent", at(0)))
        calls.caller_gone("agent")
        _, decisions = calls.result(invocation.id, PAGE, raw(1), at(0.1))
        assert answers(decisions) == []
        (replay,) = answers(calls.call(call(), "again", at(0.2)))
        assert (replay.outcome.result, replay.replayed) == (raw(1), True)


class TestDeadline:
    def test_at_the_deadline_the_caller_gets_tool_timeout_and_the_page_a_cancellation(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(timeout_ms=500), "agent", at(0)))
        assert calls.next_due() == 0.5
        assert calls.tick(at(0.499)) == []
        decisions = calls.tick(at(0.5))
        assert error_codes(decisions) == [("agent", "TOOL_TIMEOUT", "unknown")]
        assert CancelOnPage(invocation, "timeout") in decisions

    @pytest.mark.parametrize(("safe", "error_class"), [(True, "retryable"), (False, "permanent")])
    def test_a_time_out_is_retryable_only_where_the_tool_is_safe_to_repeat(
        self, safe: bool, error_class: str
    ) -> None:
        calls = machine()
        calls.call(call(safe_to_repeat=safe), "agent", at(0))
        (answer,) = answers(calls.tick(at(1)))
        assert answer.outcome.error is not None
        assert answer.outcome.error.error_class == error_class

    def test_a_late_result_is_kept_and_reported_to_the_page_once_it_comes(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "agent", at(0)))
        calls.tick(at(1))
        refused, decisions = calls.result(invocation.id, PAGE, raw("late"), at(2))
        assert refused is not None
        assert (refused.code, refused.details) == (
            "SUBMIT_TOOL_RESULT_FAILED",
            {"tool": "move", "cause": "TOOL_TIMEOUT"},
        )
        assert decisions == [Save(invocation)]
        assert invocation.late is not None
        assert invocation.late.result == raw("late")
        assert invocation.outcome is not None
        assert invocation.outcome.error is not None

    def test_the_call_after_a_time_out_is_a_new_one(self) -> None:
        calls = machine()
        calls.call(call(), "agent", at(0))
        calls.tick(at(1))
        assert len(delivered(calls.call(call(), "agent", at(1)))) == 1

    def test_a_call_that_no_page_took_ran_nowhere_and_may_be_made_again(self) -> None:
        calls = machine(page=None)
        calls.call(call(), "agent", at(0))
        assert error_codes(calls.tick(at(1))) == [("agent", "TOOL_PAGE_UNAVAILABLE", "none")]
        calls.runner_changed(PAGE, at(2))
        assert len(delivered(calls.call(call(), "agent", at(2)))) == 1


class TestExactRetry:
    def test_an_equal_call_joins_the_running_one_and_both_get_the_result(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "a", at(0)))
        assert calls.call(call(), "b", at(0.1)) == []
        _, decisions = calls.result(invocation.id, PAGE, raw(7), at(0.2))
        assert [(each.caller, each.joined, each.outcome.result) for each in answers(decisions)] == [
            ("a", False, raw(7)),
            ("b", True, raw(7)),
        ]

    def test_an_unacknowledged_result_is_replayed(self) -> None:
        calls = machine()
        run(calls, 7)
        (replay,) = answers(calls.call(call(), "b", at(1)))
        assert (replay.replayed, replay.outcome.result) == (True, raw(7))

    def test_after_the_acknowledgement_the_same_call_is_a_new_one(self) -> None:
        calls = machine()
        calls.acknowledge(run(calls, 7).id)
        assert len(delivered(calls.call(call(), "b", at(1)))) == 1

    def test_a_result_is_replayed_for_five_minutes_and_no_longer(self) -> None:
        calls = machine()
        run(calls, 7)
        assert answers(calls.call(call(), "b", at(299)))
        assert len(delivered(calls.call(call(), "c", at(300)))) == 1

    @pytest.mark.parametrize("other", [call(key="other"), call(tool="turn"), call(joins=False)])
    def test_other_arguments_another_tool_or_a_separate_call_run_by_themselves(self, other: Call) -> None:
        calls = machine()
        calls.call(call(), "a", at(0))
        assert len(delivered(calls.call(other, "b", at(0)))) == 1

    def test_a_call_id_stands_for_one_invocation_even_after_the_acknowledgement(self) -> None:
        calls = machine()
        calls.acknowledge(run(calls, 7, a_call=call(call_id="once")).id)
        (replay,) = answers(calls.call(call(call_id="once"), "b", at(1)))
        assert (replay.replayed, replay.outcome.result) == (True, raw(7))

    def test_a_call_id_used_for_other_arguments_is_refused(self) -> None:
        calls = machine()
        run(calls, 7, a_call=call(call_id="once"))
        with pytest.raises(PedelecError) as refused:
            calls.call(call(key="other", call_id="once"), "b", at(1))
        assert refused.value.code == "CALL_ID_CONFLICT"

    def test_a_call_id_is_free_for_its_call_again_once_it_is_known_that_nothing_ran(self) -> None:
        calls = machine(page=None)
        calls.call(call(call_id="once"), "a", at(0))
        calls.tick(at(1))
        calls.runner_changed(PAGE, at(2))
        assert len(delivered(calls.call(call(call_id="once"), "b", at(2)))) == 1
        with pytest.raises(PedelecError, match="CALL_ID_CONFLICT"):
            calls.call(call(key="other", call_id="once"), "c", at(2))

    @pytest.mark.parametrize("safe", [True, False])
    def test_a_call_id_is_free_for_a_retry_that_the_agent_was_told_to_make(self, safe: bool) -> None:
        calls = machine()
        named = call(call_id="once", safe_to_repeat=safe)
        (first,) = delivered(calls.call(named, "a", at(0)))
        calls.tick(at(1))
        (replay,) = answers(calls.call(named, "b", at(1)))  # nobody knows whether the agent has seen it
        assert replay.replayed
        calls.acknowledge(first.id)
        assert bool(delivered(calls.call(named, "c", at(1)))) is safe

    def test_calls_with_and_without_a_call_id_do_not_answer_each_other(self) -> None:
        calls = machine()
        run(calls, 7, a_call=call(call_id="once"))
        assert len(delivered(calls.call(call(), "b", at(1)))) == 1
        assert len(delivered(calls.call(call(call_id="twice"), "c", at(1)))) == 1


class TestSideBySide:
    def test_calls_run_side_by_side_up_to_the_limit_then_tool_busy(self) -> None:
        calls = machine(CallLimits(running=2))
        for key in ("a", "b"):
            assert len(delivered(calls.call(call(key=key), key, at(0)))) == 1
        with pytest.raises(PedelecError) as refused:
            calls.call(call(key="c"), "c", at(0))
        assert (refused.value.code, refused.value.effects) == ("TOOL_BUSY", "none")
        assert refused.value.retry_after_seconds == 1

    def test_calls_of_an_exclusive_tool_run_one_after_the_other_in_order(self) -> None:
        calls = machine()
        (first,) = delivered(calls.call(call(key="a", exclusive=True), "a", at(0)))
        assert delivered(calls.call(call(key="b", exclusive=True), "b", at(0))) == []
        assert delivered(calls.call(call(key="c", exclusive=True), "c", at(0))) == []
        _, decisions = calls.result(first.id, PAGE, raw(1), at(0.1))
        (second,) = delivered(decisions)
        assert second.call.args_key == "b"
        _, decisions = calls.result(second.id, PAGE, raw(1), at(0.2))
        assert [each.call.args_key for each in delivered(decisions)] == ["c"]

    def test_other_tools_do_not_wait_for_an_exclusive_one(self) -> None:
        calls = machine()
        calls.call(call(exclusive=True), "a", at(0))
        assert len(delivered(calls.call(call(tool="turn", exclusive=True), "b", at(0)))) == 1

    def test_a_timed_out_exclusive_call_holds_the_tool_until_the_page_is_done(self) -> None:
        calls = machine()
        (first,) = delivered(calls.call(call(key="a", exclusive=True), "a", at(0)))
        calls.call(call(key="b", exclusive=True, timeout_ms=5000), "b", at(0.5))
        assert delivered(calls.tick(at(1))) == []
        _, decisions = calls.result(first.id, PAGE, raw(1), at(2))
        assert [each.call.args_key for each in delivered(decisions)] == ["b"]

    def test_a_call_that_never_got_its_turn_is_answered_tool_busy_and_never_delivered(self) -> None:
        calls = machine()
        calls.call(call(key="a", exclusive=True), "a", at(0))
        calls.call(call(key="b", exclusive=True), "b", at(0))
        decisions = calls.tick(at(1))
        assert error_codes(decisions) == [
            ("a", "TOOL_TIMEOUT", "unknown"),
            ("b", "TOOL_BUSY", "none"),
        ]
        assert delivered(decisions) == []

    def test_calls_that_overlap_share_a_turn(self) -> None:
        calls = machine()
        (first,) = delivered(calls.call(call(key="a"), "a", at(0)))
        (second,) = delivered(calls.call(call(key="b"), "b", at(0.1)))
        assert first.turn_id == second.turn_id
        for invocation in (first, second):
            calls.result(invocation.id, PAGE, raw(1), at(0.2))
        (third,) = delivered(calls.call(call(key="c"), "c", at(0.3)))
        assert third.turn_id != first.turn_id


class TestPages:
    def test_a_call_waits_for_a_page_within_its_deadline(self) -> None:
        calls = machine(page=None)
        assert delivered(calls.call(call(), "agent", at(0))) == []
        assert len(delivered(calls.runner_changed(PAGE, at(0.9)))) == 1

    def test_a_page_that_comes_too_late_is_not_given_a_call_past_its_deadline(self) -> None:
        calls = machine(page=None)
        calls.call(call(), "agent", at(0))
        assert delivered(calls.runner_changed(PAGE, at(1))) == []

    def test_the_same_page_coming_back_gets_only_what_it_has_not_seen(self) -> None:
        calls = machine()
        (seen,) = delivered(calls.call(call(key="a"), "a", at(0)))
        (missed,) = delivered(calls.call(call(key="b"), "b", at(0)))
        calls.runner_changed(None, at(0.1))
        assert delivered(calls.instance_resumed(PAGE, seen.seq)) == [missed]

    def test_the_same_page_coming_back_hears_of_a_cancellation_that_it_missed(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "a", at(0)))
        calls.cancel(invocation.id, "the agent", at(0.1))
        assert calls.instance_resumed(PAGE, invocation.seq) == [CancelOnPage(invocation, "cancelled")]

    def test_a_replaced_page_cuts_off_what_it_ran(self) -> None:
        calls = machine()
        calls.call(call(), "agent", at(0))
        decisions = calls.instance_replaced(PAGE, at(0.1))
        assert error_codes(decisions) == [("agent", "TOOL_INTERRUPTED", "unknown")]

    def test_what_a_lost_page_ran_is_never_delivered_to_the_next_one(self) -> None:
        calls = machine()
        calls.call(call(), "agent", at(0))
        calls.runner_changed(None, at(0.1))
        assert delivered(calls.runner_changed("page-2", at(0.2))) == []

    def test_with_the_page_lost_the_deadline_says_interrupted(self) -> None:
        calls = machine()
        calls.call(call(), "agent", at(0))
        calls.runner_changed(None, at(0.1))
        assert error_codes(calls.tick(at(1))) == [("agent", "TOOL_INTERRUPTED", "unknown")]

    def test_the_end_of_the_session_settles_everything_and_delivers_nothing(self) -> None:
        calls = machine()
        calls.call(call(key="a", exclusive=True), "a", at(0))
        calls.call(call(key="b", exclusive=True), "b", at(0))
        decisions = calls.session_ended(at(0.1))
        assert error_codes(decisions) == [
            ("a", "TOOL_INTERRUPTED", "unknown"),
            ("b", "TOOL_PAGE_UNAVAILABLE", "none"),
        ]
        assert delivered(decisions) == []

    def test_cancelling_answers_the_caller_and_tells_the_page(self) -> None:
        calls = machine()
        (invocation,) = delivered(calls.call(call(), "agent", at(0)))
        decisions = calls.cancel(invocation.id, "the agent", at(0.1))
        assert error_codes(decisions) == [("agent", "TOOL_CANCELLED", "unknown")]
        assert CancelOnPage(invocation, "cancelled") in decisions
        assert calls.cancel(invocation.id, "the agent", at(0.2)) == []


class TestMemory:
    def test_settled_invocations_are_forgotten_after_their_time(self) -> None:
        calls = machine()
        invocation = run(calls, 1)
        assert calls.next_due() == 300
        assert calls.tick(at(300)) == [Forget(invocation)]
        assert calls.get(invocation.id) is None
        assert calls.next_due() is None

    def test_beyond_their_number_acknowledged_ones_go_first(self) -> None:
        calls = machine(CallLimits(remembered=2))
        first = run(calls, 1, a_call=call(key="a"))
        second = run(calls, 2, a_call=call(key="b"))
        calls.acknowledge(second.id)
        third = run(calls, 3, a_call=call(key="c"))
        assert [calls.get(each.id) is not None for each in (first, second, third)] == [True, False, True]

    def test_beyond_their_size_acknowledged_ones_go_first_and_the_latest_stays(self) -> None:
        calls = machine(CallLimits(remembered_bytes=5))
        first = run(calls, "four", a_call=call(key="a"))
        calls.acknowledge(first.id)
        second = run(calls, "longer than all that is allowed", a_call=call(key="b"))
        assert [calls.get(each.id) is not None for each in (first, second)] == [False, True]

    def test_results_that_the_journal_alone_has_take_no_room(self) -> None:
        calls = machine(CallLimits(remembered_bytes=50))
        first = run(calls, "x" * 40, a_call=call(key="a"))
        first.spill(10)
        second = run(calls, "x" * 40, a_call=call(key="b"))
        assert [calls.get(each.id) is not None for each in (first, second)] == [True, True]

    def test_the_arguments_of_a_settled_call_are_let_go(self) -> None:
        assert run(machine(), 1).call.args.text == ""


class TestPagesThatMissedThings:
    def test_a_call_that_was_settled_before_the_page_saw_it_never_runs_and_holds_nothing(self) -> None:
        calls = machine()
        (first,) = delivered(calls.call(call(key="a", exclusive=True), "a", at(0)))
        calls.runner_changed(None, at(0.1))
        calls.tick(at(1))
        assert calls.instance_resumed(PAGE, first.seq - 1) == [Save(first)]
        assert not first.running_on_page
        calls.runner_changed(PAGE, at(1.1))
        assert len(delivered(calls.call(call(key="b", exclusive=True), "b", at(1.1)))) == 1

    def test_only_an_answer_that_is_owed_can_be_had_without_running_anything(self) -> None:
        calls = machine()
        assert not calls.has_answer(call(), at(0))
        calls.call(call(), "agent", at(0))
        assert not calls.has_answer(call(), at(0))
        calls = machine()
        invocation = run(calls, 1)
        assert calls.has_answer(call(), at(0))
        assert not calls.has_answer(call(key="other"), at(0))
        calls.acknowledge(invocation.id)
        assert not calls.has_answer(call(), at(0))
