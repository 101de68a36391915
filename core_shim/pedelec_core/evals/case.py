"""A failing call as a test case: one line of JSON, and the verdict on a replay.

Owns the form of a case and the four things a replay can show.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from pedelec.json_text import JsonObject, encode_value
from pedelec_core.failure_log import Failure
from pedelec_core.lint.shapes import Shape, shape_of

from .redaction import Redactor


class Verdict(StrEnum):
    """What a replay shows."""

    WORKS = "works"
    STILL_FAILS = "still fails"
    FAILS_OTHERWISE = "fails otherwise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call that failed once.

    Attributes:
        id: the invocation that failed.
        args: what it was called with, redacted.
        redacted: where in `args` something was left out, as JSON Pointers.
        code: the error's, "" where it had none.
        error_class: the error's `class`, "" where it had none.
        message: the error's, redacted.
    """

    id: str
    tool: str
    args: JsonObject
    redacted: tuple[str, ...]
    code: str
    error_class: str
    message: str

    @classmethod
    def of_failure(cls, failure: Failure) -> Self:
        """What is kept of a failure. Its arguments must be known."""
        assert failure.args is not None
        redactor = Redactor()
        args = redactor.value(json.loads(failure.args))
        assert isinstance(args, dict)
        code, error_class, message = _failure_of(failure.result)
        return cls(
            id=failure.invocation_id,
            tool=failure.tool,
            args=args,
            redacted=tuple(redactor.places),
            code=code,
            error_class=error_class,
            message=redactor.sentence(message),
        )

    @classmethod
    def from_wire(cls, line: Any) -> Self:
        """Read a case again.

        Raises:
            ValueError: it is none.
        """
        try:
            args: object = line["args"]
            error = line["error"]
            case = cls(
                id=line["id"],
                tool=line["tool"],
                args=args if isinstance(args, dict) else {},
                redacted=tuple(line.get("redacted", ())),
                code=error["code"],
                error_class=error.get("class", ""),
                message=error.get("message", ""),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it has no usable {error}") from None
        texts = (case.id, case.tool, case.code, case.error_class, case.message)
        if not (isinstance(args, dict) and all(isinstance(text, str) for text in texts)):
            raise ValueError("id, tool and the error's members must be texts, args an object")
        return case

    def to_wire(self) -> JsonObject:
        """The case as it is stored."""
        error: JsonObject = {"code": self.code, "class": self.error_class, "message": self.message}
        told: JsonObject = {"id": self.id, "tool": self.tool, "args": self.args, "error": error}
        return told | ({"redacted": list(self.redacted)} if self.redacted else {})

    def to_line(self) -> str:
        """The case as a line, without its end."""
        return encode_value(self.to_wire())

    def judge(self, answer: JsonObject) -> tuple[Verdict, str, str]:
        """What an answer of Core's to the same call says: the verdict, and the error's code and message."""
        result = answer.get("result") if answer.get("ok") is True else {"error": answer.get("error")}
        if shape_of(result) is Shape.RESULT or not isinstance(result, dict):
            return Verdict.WORKS, "", ""
        code, _, message = _failure_of(result)
        return Verdict.STILL_FAILS if code == self.code else Verdict.FAILS_OTHERWISE, code, message


def _failure_of(result: JsonObject) -> tuple[str, str, str]:
    """Code, class and message of a failure, in whichever form it came."""
    error = result.get("error")
    if not isinstance(error, dict):
        return "", "", error if isinstance(error, str) else ""
    code, error_class, message = (error.get(key) for key in ("code", "class", "message"))
    return _text(code), _text(error_class), _text(message)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
