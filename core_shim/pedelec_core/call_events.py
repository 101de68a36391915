"""What those who wait for a call hear of it before its answer.

Owns the events; who tells them (a page's frame, the state machine) and who hears them (command line, MCP) is
elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pedelec.json_text import JsonObject
from pedelec_core.invocation import OpenQuestion


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running call is, as its handler says."""

    done: float
    total: float | None
    message: str | None

    def to_wire(self) -> JsonObject:
        """As agents' programs hear it."""
        told: JsonObject = {"type": "progress", "done": self.done}
        optional: JsonObject = {"total": self.total, "message": self.message}
        return told | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the call waits to have answered by a person, oldest first; nothing any more where it is empty."""

    questions: tuple[OpenQuestion, ...]

    def to_wire(self) -> JsonObject:
        """As `Progress.to_wire`; of several questions the oldest."""
        if not self.questions:
            return {"type": "resumed"}
        return {"type": "waiting", "kind": self.questions[0].kind, "message": self.questions[0].message}


type CallEvent = Progress | Waiting
type CallListener = Callable[[CallEvent], None]
