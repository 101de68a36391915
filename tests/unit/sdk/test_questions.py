"""The queue of questions: one is shown at a time, and the first answer counts."""

from pedelec.questions import Decision, Hide, Question, QuestionQueue, Show


def question(name: str) -> Question:
    return Question(id=name, kind="question", tool="t", message=name, schema={"type": "object"})


def told(decisions: list[Decision]) -> list[str]:
    words = {Show: "show", Hide: "hide"}
    return [f"{words[type(decision)]} {decision.question.id}" for decision in decisions]


def test_the_first_question_is_shown_at_once_and_later_ones_wait_for_it() -> None:
    queue = QuestionQueue()
    assert told(queue.ask(question("a"))) == ["show a"]
    assert told(queue.ask(question("b"))) == []
    assert told(queue.ask(question("c"))) == []
    assert told(queue.close("a")) == ["hide a", "show b"]
    assert told(queue.close("b")) == ["hide b", "show c"]
    assert told(queue.close("c")) == ["hide c"]


def test_a_question_that_is_withdrawn_while_it_waits_is_never_shown() -> None:
    queue = QuestionQueue()
    for name in "abc":
        queue.ask(question(name))
    assert told(queue.close("b")) == []
    assert told(queue.close("a")) == ["hide a", "show c"]


def test_a_question_that_is_over_cannot_end_again() -> None:
    queue = QuestionQueue()
    queue.ask(question("a"))
    queue.ask(question("b"))
    queue.close("a")
    assert told(queue.close("a")) == []
    assert told(queue.close("b")) == ["hide b"]
