"""The life of one session's tool calls: admission, delivery, deadline, the one answer, exact retry.

Owns which call runs, and what each caller and page is told; whose retry a call is, `memory` knows. Calls,
pages, results and times go in; decisions come out. Does no I/O, reads no clock, makes no ids of its own
accord, and knows neither schemas nor sockets: whoever holds it carries the decisions out, in order.

    queued ──► delivered ──► settled ──► acknowledged ──► forgotten
      └───────────┴── deadline, cancellation, page or session gone ──► settled

A settled invocation never changes. What a page says afterwards is kept as its late result.
"""

from collections.abc import Callable, Iterable
from typing import Final

from pedelec.errors import PedelecError
from pedelec.json_text import RawJson
from pedelec_core import call_errors
from pedelec_core.invocation import (
    Accept,
    Answer,
    AnswerOnPage,
    Call,
    CallLimits,
    CancelOnPage,
    ClientAnswer,
    Decision,
    Deliver,
    Instant,
    Invocation,
    OpenQuestion,
    Outcome,
    Save,
    State,
    TellWaiting,
)
from pedelec_core.memory import Memory

MAX_QUESTIONS: Final = 16
"""Of one call, at once; more of them are told to nobody."""

_NO_ARGS: Final = RawJson("")
"""In place of a settled call's arguments, which nobody needs any more: they may be large."""


class Invocations:
    """The calls of one session.

    Args:
        limits: bounds of the session.
        new_id: makes an unguessable id that starts with the given prefix.
        next_seq: the session's next event number.
    """

    def __init__(
        self, *, limits: CallLimits, new_id: Callable[[str], str], next_seq: Callable[[], int]
    ) -> None:
        self._limits = limits
        self._new_id = new_id
        self._next_seq = next_seq
        self._open: dict[str, Invocation] = {}  # unsettled, oldest first
        self._memory = Memory(limits)
        self._runner: str | None = None
        self._runner_answers = True
        self._turn: tuple[str, int] | None = None

    def restore(self, invocations: Iterable[Invocation]) -> None:
        """Take up what an earlier Core left, oldest first."""
        known = list(invocations)
        for invocation in known:
            invocation.abandoned = not (invocation.call.joins or invocation.acknowledged)
            self._memory.enter(invocation)
        self._open = {each.id: each for each in known if each.state is not State.SETTLED}
        self._memory.restore(each for each in known if each.state is State.SETTLED)

    # --- the agent's side ---------------------------------------------------------------------------------

    def call(self, call: Call, caller: str, now: Instant) -> list[Decision]:
        """Admit a call: run it, join it to a running one, or replay one whose answer may have been lost.

        The answer, now or later, is an `Answer` to `caller`.

        Raises:
            PedelecError: `TOOL_BUSY` over a limit; `CALL_ID_CONFLICT` where `call_id` names another call.
        """
        earlier = self._memory.earlier(call, now)
        if earlier is None:
            self._check_room(call)
            invocation = self._accept(call, caller, now)
            return [Accept(invocation), *self._deliver_if_free(invocation, now)]
        earlier.abandoned = False
        if earlier.outcome is not None:
            return [Answer(caller, earlier, earlier.outcome, replayed=True)]
        earlier.callers[caller] = True
        return []

    def take_up(self, invocation_id: str, caller: str) -> list[Decision]:
        """Wait for a call that was made before: its caller is back. The answer is an `Answer` to `caller`."""
        invocation = self.get(invocation_id)
        if invocation is None:
            raise call_errors.unknown_invocation(invocation_id)
        if invocation.outcome is not None:
            return [Answer(caller, invocation, invocation.outcome, replayed=True)]
        invocation.callers[caller] = False
        return []

    def is_retry(self, call: Call, now: Instant) -> bool:
        """Whether a call would join or replay an earlier one, and so run nothing."""
        try:
            return self._memory.earlier(call, now) is not None
        except PedelecError:  # its name is taken: it is refused, whatever else there is to say
            return False

    def has_answer(self, call: Call, now: Instant) -> bool:
        """Whether a call would be answered at once, with what an equal one before it came to."""
        earlier = self._memory.earlier(call, now)
        return earlier is not None and earlier.outcome is not None

    def acknowledge(self, invocation_id: str) -> list[Decision]:
        """The answer reached the agent: the same call from now on is another one."""
        invocation = self._memory.get(invocation_id)
        if invocation is None or invocation.acknowledged:
            return []
        invocation.acknowledged = True
        return [Save(invocation, can_wait=True)]

    def awaited_by(self, caller: str) -> Invocation | None:
        """The unsettled invocation that a caller waits for."""
        return next((each for each in self._open.values() if caller in each.callers), None)

    def abandon(self, invocation_id: str) -> None:
        """Its caller vanished before the answer reached it: the next equal call takes it over."""
        invocation = self.get(invocation_id)
        if invocation is not None and not invocation.acknowledged:
            invocation.abandoned = True
            self._memory.enter(invocation)

    def caller_gone(self, caller: str) -> None:
        """Nobody listens at that end any more. The call goes on: a retry may join it."""
        for invocation in self._open.values():
            invocation.callers.pop(caller, None)

    def cancel(self, invocation_id: str, by: str, now: Instant) -> list[Decision]:
        """Settle as `TOOL_CANCELLED`. `by` says who cancelled, in a few words."""
        invocation = self._open.get(invocation_id)
        if invocation is None:
            return []
        error = call_errors.cancelled(invocation.call.tool, by, ran=invocation.was_delivered)
        decisions = self._cut_short(invocation, Outcome(error=error), "cancelled", now)
        return decisions + self._deliver_waiting(now)

    def get(self, invocation_id: str) -> Invocation | None:
        """An invocation that is still remembered."""
        return self._open.get(invocation_id) or self._memory.get(invocation_id)

    def ids(self) -> list[str]:
        """Of all invocations that are remembered."""
        return [*(each.id for each in self._memory), *self._open]

    def running(self) -> int:
        """How many calls are unsettled."""
        return len(self._open)

    # --- the page's side ----------------------------------------------------------------------------------

    def runner_changed(
        self, instance_id: str | None, now: Instant, *, answers: bool = True
    ) -> list[Decision]:
        """Another page instance holds the lease now (None: no page is there); waiting calls go to it.

        They go on waiting where it does not answer: what a frozen page never saw, it cannot run years later.
        """
        self._runner = instance_id
        self._runner_answers = answers
        return self._deliver_waiting(now)

    def instance_replaced(self, instance_id: str, now: Instant) -> list[Decision]:
        """That page instance is gone for good: what it was running is cut off, and what it holds is free."""
        decisions: list[Decision] = []
        for invocation in self._running_on(instance_id):
            invocation.given_up = True
            decisions.append(Save(invocation))
            if invocation.outcome is None:
                call = invocation.call
                error = call_errors.interrupted(call.tool, safe_to_repeat=call.safe_to_repeat)
                decisions += self._settle(invocation, Outcome(error=error), now)
        return decisions + self._deliver_waiting(now)

    def instance_resumed(self, instance_id: str, last_seq: int) -> list[Decision]:
        """That page instance is connected again and has seen events up to `last_seq`: repeat the rest."""
        decisions: list[Decision] = []
        for invocation in self._running_on(instance_id):
            never_seen = invocation.seq > last_seq
            if never_seen and invocation.state is State.DELIVERED:
                decisions.append(Deliver(invocation))
            elif never_seen:  # and settled meanwhile, so it is never to run
                invocation.given_up = True
                decisions.append(Save(invocation))
            elif invocation.cancel_seq > last_seq:
                decisions.append(CancelOnPage(invocation, invocation.cancel_reason))
        return decisions

    def result(
        self, invocation_id: str, instance_id: str, result: RawJson, now: Instant
    ) -> tuple[PedelecError | None, list[Decision]]:
        """A page instance says what a call came to. Returns what to tell the page if it came to nothing.

        The same result may come twice (the page did not hear our confirmation): confirmed again, no more.
        """
        invocation = self.get(invocation_id)
        if invocation is None or invocation.instance_id != instance_id:
            return call_errors.unknown_invocation(invocation_id), []
        if invocation.answered_by_page:
            return self._too_late(invocation) if invocation.late else None, []
        if invocation.outcome is not None:
            invocation.late = Outcome(result=result)
            self._memory.grew(invocation)
            return self._too_late(invocation), [Save(invocation), *self._deliver_waiting(now)]
        decisions = self._settle(invocation, Outcome(result=result), now)
        return None, decisions + self._deliver_waiting(now)

    def asks(self, invocation_id: str, instance_id: str, question: OpenQuestion) -> list[Decision]:
        """The page that runs a call says that it waits for a person, or says so again."""
        invocation = self._open.get(invocation_id)
        if invocation is None or invocation.instance_id != instance_id:
            return []
        known = invocation.questions.get(question.id)
        if known is None and len(invocation.questions) >= MAX_QUESTIONS:
            return []
        invocation.questions[question.id] = question
        answer = invocation.answers.get(question.id)
        if answer is not None:  # it has not heard of it, or else it would not ask
            return [AnswerOnPage(invocation, question.id, answer)]
        return [] if known == question else [TellWaiting(invocation)]

    def asks_no_more(self, invocation_id: str, instance_id: str, question_id: str) -> list[Decision]:
        """That question is over, whatever ended it."""
        invocation = self._open.get(invocation_id)
        if invocation is None or invocation.instance_id != instance_id:
            return []
        invocation.answers.pop(question_id, None)
        return [] if invocation.questions.pop(question_id, None) is None else [TellWaiting(invocation)]

    def answer_question(self, invocation_id: str, question_id: str, answer: ClientAnswer) -> list[Decision]:
        """A person answered through the agent's client; the first answer counts."""
        invocation = self._open.get(invocation_id)
        if invocation is None or question_id not in invocation.questions or question_id in invocation.answers:
            return []
        invocation.answers[question_id] = answer
        return [AnswerOnPage(invocation, question_id, answer)]

    def session_ended(self, now: Instant) -> list[Decision]:
        """Nothing will run any more: settle whatever is open."""
        self._runner = None
        decisions: list[Decision] = []
        for invocation in list(self._open.values()):
            call = invocation.call
            if invocation.was_delivered:
                error = call_errors.interrupted(call.tool, safe_to_repeat=call.safe_to_repeat)
            else:
                error = call_errors.session_over(call.tool)
            decisions += self._cut_short(invocation, Outcome(error=error), "ended", now)
        return decisions

    # --- time ---------------------------------------------------------------------------------------------

    def next_due(self) -> float | None:
        """When `tick` is due, on the monotonic clock; None while nothing waits for time to pass."""
        moments = [invocation.deadline for invocation in self._open.values()]
        if (forgetting := self._memory.next_due()) is not None:
            moments.append(forgetting)
        return min(moments, default=None)

    def tick(self, now: Instant) -> list[Decision]:
        """Answer every call whose deadline has come, and forget what need not be remembered."""
        due = [invocation for invocation in self._open.values() if invocation.deadline <= now.seconds]
        errors = [self._expired(invocation) for invocation in due]
        decisions: list[Decision] = []
        for invocation, error in zip(due, errors, strict=True):
            decisions += self._cut_short(invocation, Outcome(error=error), "timeout", now)
        return decisions + self._deliver_waiting(now) + self._memory.forget(now)

    # --- inside -------------------------------------------------------------------------------------------

    def _check_room(self, call: Call) -> None:
        if not call.exclusive and len(self._open) < self._limits.running:
            return
        waiting = [other for other in self._open.values() if self._must_wait(other)]
        running = len(self._open) - len(waiting)
        if call.exclusive and self._holder(call.tool) is not None:
            if len(waiting) >= self._limits.waiting:
                raise call_errors.busy(call.tool, len(waiting), "wait for an exclusive tool")
        elif running >= self._limits.running:
            raise call_errors.busy(call.tool, running, "run")

    def _accept(self, call: Call, caller: str, now: Instant) -> Invocation:
        if self._turn is None:
            self._turn = (self._new_id("turn_"), now.epoch_ms)
        invocation = Invocation(
            id=self._new_id("inv_"),
            call=call,
            turn_id=self._turn[0],
            turn_started_at=self._turn[1],
            deadline=now.seconds + call.timeout_ms / 1000,
            callers={caller: False},
        )
        self._open[invocation.id] = invocation
        self._memory.enter(invocation)
        return invocation

    def _deliver_if_free(self, invocation: Invocation, now: Instant) -> list[Decision]:
        if self._runner is None or not self._runner_answers:
            return []
        if invocation.deadline <= now.seconds or self._must_wait(invocation):
            return []
        invocation.state = State.DELIVERED
        invocation.instance_id = self._runner
        invocation.seq = self._next_seq()
        return [Deliver(invocation)]

    def _deliver_waiting(self, now: Instant) -> list[Decision]:
        decisions: list[Decision] = []
        for invocation in self._open.values():
            if invocation.state is State.QUEUED:
                decisions += self._deliver_if_free(invocation, now)
        return decisions

    def _must_wait(self, invocation: Invocation) -> bool:
        if invocation.state is not State.QUEUED or not invocation.call.exclusive:
            return False
        return self._holder(invocation.call.tool, before=invocation) is not None

    def _holder(self, tool: str, *, before: Invocation | None = None) -> Invocation | None:
        """The exclusive call of a tool that runs, or stands earlier in the queue than `before`.

        A call whose caller was told `TOOL_TIMEOUT` holds the tool until the page is done with it:
        exclusive means never two side by side in the page.
        """
        for other in self._memory:
            if other.call.tool == tool and other.call.exclusive and other.running_on_page:
                return other
        for other in self._open.values():
            if other is before:
                return None
            if other.call.tool == tool and other.call.exclusive:
                return other
        return None

    def _cut_short(
        self, invocation: Invocation, outcome: Outcome, reason: str, now: Instant
    ) -> list[Decision]:
        """Settle without the page's word, and tell the page where it has the call."""
        decisions = self._settle(invocation, outcome, now)
        if invocation.running_on_page:
            invocation.cancel_seq = self._next_seq()
            invocation.cancel_reason = reason
            decisions.append(CancelOnPage(invocation, reason))
        return decisions

    def _settle(self, invocation: Invocation, outcome: Outcome, now: Instant) -> list[Decision]:
        """The one place where an invocation gets its outcome and its callers their answer."""
        invocation.state = State.SETTLED
        invocation.outcome = outcome
        invocation.settled_at = now.seconds
        invocation.call = invocation.call._replace(args=_NO_ARGS)
        invocation.questions.clear()
        invocation.answers.clear()
        del self._open[invocation.id]
        self._memory.keep(invocation)
        answers = [
            Answer(caller, invocation, outcome, joined=joined)
            for caller, joined in invocation.callers.items()
        ]
        invocation.callers.clear()
        if not self._open:
            self._turn = None
        return [Save(invocation), *answers, *self._memory.forget(now)]

    def _expired(self, invocation: Invocation) -> PedelecError:
        call = invocation.call
        if self._must_wait(invocation):
            return call_errors.busy(call.tool, 1, "holds this exclusive tool")
        if not invocation.was_delivered:
            return call_errors.page_unavailable(
                call.tool, call.timeout_ms, silent=self._runner is not None and not self._runner_answers
            )
        if self._runner is None:
            return call_errors.interrupted(call.tool, safe_to_repeat=call.safe_to_repeat)
        if invocation.questions:
            return call_errors.unanswered(call.tool, call.timeout_ms)
        return call_errors.timeout(
            call.tool, invocation.id, call.timeout_ms, safe_to_repeat=call.safe_to_repeat
        )

    @staticmethod
    def _too_late(invocation: Invocation) -> PedelecError:
        assert invocation.outcome is not None
        error = invocation.outcome.error
        return call_errors.result_too_late(invocation.call.tool, None if error is None else error.code)

    def _running_on(self, instance_id: str) -> list[Invocation]:
        everything = (*self._memory, *self._open.values())
        return [each for each in everything if each.instance_id == instance_id and each.running_on_page]
