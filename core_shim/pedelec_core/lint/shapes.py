"""Whether a handler's result tells of a failure, and in which form.

Owns how a failure is recognised. An error result is an object with an `error` that is an envelope, and
nothing beside it (docs/errors.md).
"""

from enum import Enum, auto
from typing import Final

from pedelec.json_text import JsonObject, JsonValue

_BAD_STATES: Final = frozenset({"error", "failed", "failure"})
_BAD_FLAGS: Final = ("isError", "failed")
_REMARKS: Final = frozenset({"warnings", "notes", "hints", "infos"})
"""A check of something has these beside its `errors`, empty or not."""


class Shape(Enum):
    """What a result is."""

    RESULT = auto()
    ERROR = auto()
    SUCCESS_SHAPED = auto()
    """A failure that does not look like one to who expects an error result."""


def shape_of(result: JsonValue) -> Shape:
    """What a handler's result is, as far as it can be told from outside."""
    if not isinstance(result, dict) or "completeness" in result:  # that is `gather_parts`
        return Shape.RESULT
    error = result.get("error")
    if isinstance(error, dict) and len(result) == 1:
        return Shape.ERROR
    return Shape.SUCCESS_SHAPED if error or _says_failed(result) else Shape.RESULT


def _says_failed(result: JsonObject) -> bool:
    if result.get("ok") is False or result.get("success") is False:
        return True
    if any(result.get(flag) is True for flag in _BAD_FLAGS) or result.get("errorMessage"):
        return True
    data = [value for key, value in result.items() if isinstance(value, (list, dict)) and key not in _REMARKS]
    if result.get("status") in _BAD_STATES:
        return not any(data)  # else it may be data about something that failed
    return bool(result.get("errors")) and any(not value for value in data)
