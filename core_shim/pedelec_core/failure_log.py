"""What a session's calls failed with of late: for the linter, and for failures that become test cases.

Owns which failures are remembered, how many and how much of each. In memory only, and nothing of it is ever
logged: it may hold what users would not want to see there. Does no I/O and reads no clock.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pedelec.envelope import MAX_ERROR_BYTES, bounded
from pedelec.json_text import JsonObject, JsonValue, RawJson
from pedelec_core.invocation import Call, Outcome
from pedelec_core.lint.shapes import Shape, shape_of

MAX_FAILURES: Final = 64
"""Of one session; the oldest go first."""
MAX_RESULT_CHARS: Final = 16 * 1024
"""A longer result is not looked at: error envelopes are shorter."""
MAX_ARGS_CHARS: Final = 16 * 1024
"""Of longer arguments it is only known that there were some."""

_MARKS: Final = ('"error', '"ok":false', '"success":false', '"status":', '"isError":true', '"failed":true')
"""One of them is in every result that `shape_of` takes for a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A call that failed.

    Attributes:
        args: its arguments as JSON text, or None where they were too long to keep.
        result: what the page returned, without the data that stood beside the error; or, of an error made by
            Core, `{"error": …}`.
        by_page: who made the error.
    """

    invocation_id: str
    tool: str
    args: str | None
    result: JsonObject
    by_page: bool

    @property
    def code(self) -> str:
        """The error's code; blank where it has none."""
        error = self.result.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        return code if isinstance(code, str) else ""


class FailureLog:
    """The last failures of one session."""

    def __init__(self) -> None:
        self._failures: deque[Failure] = deque(maxlen=MAX_FAILURES)

    def note(self, invocation_id: str, call: Call, outcome: Outcome) -> None:
        """A call came to this; where that is a failure, remember it."""
        result = failed_result(outcome)
        if result is None or self.get(invocation_id) is not None:
            return
        text = call.args.text
        self._failures.append(
            Failure(
                invocation_id=invocation_id,
                tool=call.tool,
                args=text if len(text) <= MAX_ARGS_CHARS else None,
                result=result,
                by_page=outcome.error is None,
            )
        )

    def get(self, invocation_id: str) -> Failure | None:
        """A remembered failure."""
        return next((each for each in self._failures if each.invocation_id == invocation_id), None)

    def of_the_page(self) -> Iterator[Failure]:
        """What the page answered with, the last of each tool and code, oldest first."""
        newest = {(each.tool, each.code): each for each in self._failures if each.by_page}
        return (each for each in self._failures if newest.get((each.tool, each.code)) is each)


def failed_result(outcome: Outcome) -> JsonObject | None:
    """The failure in an outcome, bounded; None for a result."""
    if outcome.error is not None:
        return {"error": outcome.error.to_wire()}
    if outcome.result is None:
        return None
    value = _read(outcome.result)
    if not isinstance(value, dict) or shape_of(value) is Shape.RESULT:
        return None
    return {key[:100]: _told(key, part) for key, part in list(value.items())[:20]}


def _read(result: RawJson) -> JsonValue:
    text = result.text
    if len(text) > MAX_RESULT_CHARS or not any(mark in text for mark in _MARKS):
        return None
    value: JsonValue = json.loads(text)
    return value


def _told(key: str, part: JsonValue) -> JsonValue:
    """What is kept of a member: the error itself, and of data beside it no more than its form."""
    if key == "error":
        if isinstance(part, dict):
            return part if len(json.dumps(part)) <= MAX_ERROR_BYTES else bounded(part)
        return part[:500] if isinstance(part, str) else part
    if part in ([], {}) or part is None or isinstance(part, bool):
        return part
    return part[:40] if key == "status" and isinstance(part, str) else "…"
