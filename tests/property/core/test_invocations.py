"""Whatever agents, pages and clocks do in whatever order, the rules about calls hold."""

import itertools

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from pedelec.errors import PedelecError
from pedelec.json_text import RawJson
from pedelec_core.invocation import (
    Accept,
    Answer,
    Call,
    CallLimits,
    CancelOnPage,
    Decision,
    Deliver,
    Forget,
    Instant,
    Invocation,
    Outcome,
)
from pedelec_core.invocations import Invocations

LIMITS = CallLimits(running=4, waiting=3, remembered=6, remember_seconds=30)
TOOLS = {"plain": False, "lock": True}


class Calls(RuleBasedStateMachine):
    """Plays agents, pages and time against one session's invocations and checks every decision."""

    invocations = Bundle("invocations")

    def __init__(self) -> None:
        super().__init__()
        self.counter = itertools.count(1)
        self.now = 0.0
        self.calls = Invocations(
            limits=LIMITS,
            new_id=lambda prefix: f"{prefix}{next(self.counter)}",
            next_seq=lambda: next(self.counter),
        )
        self.runner: str | None = None
        self.runner_answers = True
        self.gone: list[str] = []  # page instances that were taken for gone
        self.waiting: dict[str, tuple[Call, float]] = {}  # callers without an answer, their due times
        self.accepted: list[Invocation] = []
        self.runs: dict[str, set[str]] = {}  # invocation id → page instances that were given it
        self.outcomes: dict[str, Outcome] = {}
        self.on_page: dict[str, Invocation] = {}  # what the current page is running

    def instant(self) -> Instant:
        return Instant(self.now, round(self.now * 1000))

    def check(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            match decision:
                case Accept(invocation):
                    self.accepted.append(invocation)
                case Deliver(invocation):
                    assert self.runner is not None
                    assert self.runner_answers or invocation.id in self.runs, "a silent page was given a call"
                    assert invocation.deadline > self.now
                    self.runs.setdefault(invocation.id, set()).add(self.runner)
                    assert len(self.runs[invocation.id]) == 1, "an invocation was given to two pages"
                    self.on_page[invocation.id] = invocation
                    if invocation.call.exclusive:
                        same = [
                            each for each in self.on_page.values() if each.call.tool == invocation.call.tool
                        ]
                        assert len(same) == 1, "two exclusive calls side by side"
                case Answer(caller, invocation, outcome):
                    call, _ = self.waiting.pop(caller)  # a KeyError is a second or unasked answer
                    assert (call.tool, call.args_key) == (invocation.call.tool, invocation.call.args_key)
                    assert self.outcomes.setdefault(invocation.id, outcome) is outcome
                case CancelOnPage(invocation):
                    assert invocation.id in self.runs
                case Forget(invocation):
                    assert self.calls.get(invocation.id) is None

    @rule(
        target=invocations,
        tool=st.sampled_from(sorted(TOOLS)),
        key=st.sampled_from("ab"),
        timeout=st.integers(1, 10),
        call_id=st.sampled_from([None, None, "id1", "id2"]),
        joins=st.booleans(),
    )
    def agent_calls(self, tool: str, key: str, timeout: int, call_id: str | None, joins: bool) -> str:
        call = Call(
            tool=tool,
            args=RawJson("{}"),
            args_key=key,
            timeout_ms=timeout * 1000,
            exclusive=TOOLS[tool],
            call_id=call_id,
            joins=joins,
        )
        caller = f"caller_{next(self.counter)}"
        before = len(self.accepted)
        self.waiting[caller] = (call, self.now + 10)
        refused: PedelecError | None = None
        try:
            self.check(self.calls.call(call, caller, self.instant()))
        except PedelecError as error:
            refused = error
            del self.waiting[caller]
        if refused is not None:
            assert (refused.code in {"TOOL_BUSY", "CALL_ID_CONFLICT"}, refused.effects) == (True, "none")
        return self.accepted[-1].id if len(self.accepted) > before else "inv_none"

    @rule(invocation_id=invocations, result=st.integers())
    def page_answers(self, invocation_id: str, result: int) -> None:
        if invocation_id in self.on_page and self.runner is not None:
            del self.on_page[invocation_id]
        instance = self.runner or "nobody"
        _, decisions = self.calls.result(invocation_id, instance, RawJson(str(result)), self.instant())
        self.check(decisions)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def page_that_was_taken_for_gone_answers(self, data: st.DataObject) -> None:
        instance = data.draw(st.sampled_from(self.gone))
        for invocation in self.accepted:
            if invocation.instance_id == instance and self.calls.get(invocation.id) is not None:
                before = invocation.outcome
                refused, decisions = self.calls.result(invocation.id, instance, RawJson("0"), self.instant())
                assert refused is not None or invocation.answered_by_page
                assert invocation.outcome is before
                self.check(decisions)

    @precondition(lambda self: self.runner is not None)
    @rule(answers=st.booleans())
    def page_falls_silent_or_answers_again(self, answers: bool) -> None:
        self.runner_answers = answers
        self.check(self.calls.runner_changed(self.runner, self.instant(), answers=answers))

    @rule(invocation_id=invocations)
    def agent_acknowledges(self, invocation_id: str) -> None:
        self.calls.acknowledge(invocation_id)

    @rule(invocation_id=invocations)
    def agent_cancels(self, invocation_id: str) -> None:
        self.check(self.calls.cancel(invocation_id, "the agent", self.instant()))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def agent_goes_away(self, data: st.DataObject) -> None:
        caller = data.draw(st.sampled_from(sorted(self.waiting)))
        self.calls.caller_gone(caller)
        del self.waiting[caller]

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 5.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.check(self.calls.tick(self.instant()))
        remembered = {each.id for each in self.accepted if self.calls.get(each.id) is not None}
        self.on_page = {key: value for key, value in self.on_page.items() if key in remembered}

    @rule(last_seq=st.sampled_from([0, 10**9]))
    def socket_flaps(self, last_seq: int) -> None:
        if self.runner is None:
            return
        instance, self.runner = self.runner, None
        self.check(self.calls.runner_changed(None, self.instant()))
        self.runner, self.runner_answers = instance, True
        # It has seen all, or nothing; what was settled before it saw it, it never runs.
        seen = self.on_page.items() if last_seq else ()
        self.on_page = {key: value for key, value in seen if value.outcome is not None}
        running = [each for each in self.accepted if each.running_on_page and each.outcome is None]
        decisions = self.calls.instance_resumed(instance, last_seq)
        self.check(decisions)
        self.on_page |= {each.id: each for each in running}
        self.check(self.calls.runner_changed(instance, self.instant()))

    @rule()
    def page_is_reloaded(self) -> None:
        old, self.runner = self.runner, f"page_{next(self.counter)}"
        self.runner_answers = True
        self.on_page = {}
        if old is not None:
            self.gone.append(old)
            self.check(self.calls.runner_changed(None, self.instant()))
            self.check(self.calls.instance_replaced(old, self.instant()))
        self.check(self.calls.runner_changed(self.runner, self.instant()))

    @rule()
    def page_is_closed(self) -> None:
        if self.runner is None:
            return
        old, self.runner = self.runner, None
        self.gone.append(old)
        self.check(self.calls.runner_changed(None, self.instant()))
        self.on_page = {}
        self.check(self.calls.instance_replaced(old, self.instant()))

    @invariant()
    def no_caller_waits_past_its_deadline(self) -> None:
        for call, due in self.waiting.values():
            assert due > self.now, f"no answer for {call}"

    @invariant()
    def memory_is_bounded(self) -> None:
        assert self.calls.running() <= LIMITS.running + LIMITS.waiting
        remembered = sum(self.calls.get(each.id) is not None for each in self.accepted)
        assert remembered - self.calls.running() <= LIMITS.remembered

    @invariant()
    def every_settled_invocation_keeps_its_outcome(self) -> None:
        for invocation in self.accepted:
            known = self.outcomes.get(invocation.id)
            assert known is None or invocation.outcome is known


TestCalls = Calls.TestCase
TestCalls.settings = settings(stateful_step_count=40)
