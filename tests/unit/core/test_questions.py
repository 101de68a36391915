"""Calls that wait for a person, as Core sees them: who is told, which answer counts, what time does."""

import itertools
from dataclasses import replace

from pedelec.json_text import RawJson
from pedelec_core.invocation import (
    Answer,
    AnswerOnPage,
    Call,
    CallLimits,
    ClientAnswer,
    Decision,
    Instant,
    Invocation,
    OpenQuestion,
    TellWaiting,
)
from pedelec_core.invocations import MAX_QUESTIONS, Invocations

NOW = Instant(0, 0)
LATE = Instant(1_000, 1_000_000)
ASKED = OpenQuestion(
    id="q1",
    kind="approval",
    message="Allow?",
    arguments="",
    schema={"type": "object"},
    name=None,
    hidden=False,
)
YES = ClientAnswer(accepted=True, content={})
NO = ClientAnswer(accepted=False)


def running() -> tuple[Invocations, Invocation]:
    """A call that a page runs."""
    ids = itertools.count()
    calls = Invocations(
        limits=CallLimits(), new_id=lambda prefix: f"{prefix}{next(ids)}", next_seq=lambda: next(ids)
    )
    calls.runner_changed("page", NOW)
    calls.call(Call(tool="t", args=RawJson("{}"), args_key="k", timeout_ms=1_000), "caller", NOW)
    invocation = calls.awaited_by("caller")
    assert invocation is not None
    return calls, invocation


def kinds(decisions: list[Decision]) -> list[type]:
    return [type(decision) for decision in decisions]


def test_a_call_waits_until_its_question_is_over() -> None:
    calls, invocation = running()
    assert kinds(calls.asks(invocation.id, "page", ASKED)) == [TellWaiting]
    assert list(invocation.questions.values()) == [ASKED]
    assert calls.asks(invocation.id, "page", ASKED) == [], "nothing new"
    assert kinds(calls.asks(invocation.id, "page", replace(ASKED, hidden=True))) == [TellWaiting]
    assert kinds(calls.asks_no_more(invocation.id, "page", "q1")) == [TellWaiting]
    assert calls.asks_no_more(invocation.id, "page", "q1") == []
    assert invocation.questions == {}


def test_only_the_page_that_runs_a_call_says_what_it_waits_for() -> None:
    calls, invocation = running()
    assert calls.asks(invocation.id, "other", ASKED) == []
    assert calls.asks("inv_other", "page", ASKED) == []
    calls.asks(invocation.id, "page", ASKED)
    assert calls.asks_no_more(invocation.id, "other", "q1") == []
    assert list(invocation.questions) == ["q1"]


def test_the_first_answer_of_a_client_goes_to_the_page_and_again_if_the_page_asks_again() -> None:
    calls, invocation = running()
    calls.asks(invocation.id, "page", ASKED)
    told = AnswerOnPage(invocation, "q1", YES)
    assert calls.answer_question(invocation.id, "q1", YES) == [told]
    assert calls.answer_question(invocation.id, "q1", NO) == []
    assert calls.asks(invocation.id, "page", ASKED) == [told]
    calls.asks_no_more(invocation.id, "page", "q1")
    assert calls.answer_question(invocation.id, "q1", NO) == []


def test_a_question_that_nobody_asked_takes_no_answer() -> None:
    calls, invocation = running()
    assert calls.answer_question(invocation.id, "q1", YES) == []
    assert calls.answer_question("inv_other", "q1", YES) == []


def test_a_page_cannot_fill_core_with_questions() -> None:
    calls, invocation = running()
    for number in range(2 * MAX_QUESTIONS):
        calls.asks(invocation.id, "page", replace(ASKED, id=f"q{number}"))
    assert len(invocation.questions) == MAX_QUESTIONS


def test_a_deadline_that_passes_while_a_call_waits_is_no_time_out() -> None:
    calls, invocation = running()
    calls.asks(invocation.id, "page", ASKED)
    (answer,) = [each for each in calls.tick(LATE) if isinstance(each, Answer)]
    assert answer.outcome.error is not None
    assert (answer.outcome.error.code, answer.outcome.error.error_class) == ("TOOL_UNANSWERED", "userInput")
    assert invocation.questions == {}
    assert calls.asks(invocation.id, "page", ASKED) == []
