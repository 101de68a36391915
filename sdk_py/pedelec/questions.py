"""The questions that wait for a person, one in front of the next.

Owns what a question is, which one is shown, and that the first answer counts. Questions and answers go in,
decisions come out: no I/O, no clock, no DOM. `asking` carries the decisions out.

    asked ──► waiting ──► shown ──► closed (answered, withdrawn, or too late)
                 └──────────────────┘
"""

from dataclasses import dataclass, field
from typing import Literal

from pedelec.json_text import JsonObject

type Kind = Literal["approval", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person is asked. All of its text is safe to show as text.

    Args:
        id: unique within its page.
        kind: `approval` of a call that an agent made, or a `question` of a handler.
        tool: the tool that was called.
        message: what is asked, in words.
        arguments: of an approval, the call's arguments as text.
        schema: what an answer holds to, a flat JSON Schema of an object; without properties for an approval.
        name: the author's name for it, if there is one.
    """

    id: str
    kind: Kind
    tool: str
    message: str
    arguments: str | None = None
    schema: JsonObject
    name: str | None = None

    def to_wire(self) -> JsonObject:
        """The object that a dialog is given."""
        told: JsonObject = {"id": self.id, "kind": self.kind, "tool": self.tool, "message": self.message}
        if self.arguments is not None:
            told["arguments"] = self.arguments
        told["schema"] = self.schema
        return told if self.name is None else told | {"name": self.name}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said: accepted, with the form's content, or declined."""

    accepted: bool
    content: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Show:
    """Put a question before the person."""

    question: Question


@dataclass(frozen=True, slots=True)
class Hide:
    """Take away what is shown of a question."""

    question: Question


type Decision = Show | Hide


class QuestionQueue:
    """All open questions of a page. One at a time is shown, the oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, Question] = {}
        self._shown: str | None = None

    def ask(self, question: Question) -> list[Decision]:
        """Add a question; it is shown at once where none is."""
        self._open[question.id] = question
        return self._show_next()

    def close(self, question_id: str) -> list[Decision]:
        """A question is over, whatever ended it. Closing it again changes nothing."""
        question = self._open.pop(question_id, None)
        if question is None or self._shown != question_id:
            return []
        self._shown = None
        return [Hide(question), *self._show_next()]

    def _show_next(self) -> list[Decision]:
        if self._shown is not None or not self._open:
            return []
        question = next(iter(self._open.values()))
        self._shown = question.id
        return [Show(question)]
