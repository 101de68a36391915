"""What is said of a value or a text that is not strict JSON: the errors and the path of the place.

Owns the path's syntax and the fields that readers of these errors rely on; decides nothing.
"""

import json
import re
from collections.abc import Iterable

from pedelec.errors import Code, PedelecError

type PathStep = str | int


class ResultError(PedelecError):
    """A result that cannot be delivered: an integration bug, which the page's author must hear of."""


class NotJsonSafeError(ResultError):
    """A value that JSON cannot carry as it is.

    Args:
        path: where it sits, as `$.rows[3].el`; keys that are no identifiers as `$["a b"]`.
        type_name: the name of its type in its own language.
        hint: how to convert it, one sentence.
    """

    def __init__(self, *, path: str, type_name: str, hint: str) -> None:
        self.path = path
        self.type_name = type_name
        self.hint = hint
        super().__init__(
            Code.TOOL_RESULT_NOT_SERIALIZABLE,
            f"The handler ran, but its result at {abridged(path)} ({type_name}) cannot be sent as JSON. "
            f"{hint}",
            details={"path": path, "type": type_name, "hint": hint},
        )

    def below(self, prefix: str) -> "NotJsonSafeError":
        """The same fault, seen from the value that holds this one at `prefix`."""
        return NotJsonSafeError(path=prefix + self.path[1:], type_name=self.type_name, hint=self.hint)


class TooLargeError(ResultError):
    """A value whose JSON is over the limit. Sizes in UTF-8 bytes; `size` is at least what was counted."""

    def __init__(self, *, size: int, limit: int) -> None:
        super().__init__(
            Code.TOOL_RESULT_TOO_LARGE,
            f"The handler ran, but its result is over the limit: {size} bytes of JSON, {limit} allowed. "
            "Return an id, a page or a summary instead.",
            details={"size": size, "limit": limit},
        )


class InvalidJsonError(PedelecError):
    """Text that is not strict JSON.

    `line` and `column` (both from 1) are set where the text is no JSON at all, `steps` leads to the value
    where it is JSON that cannot be read exactly.
    """

    def __init__(
        self, message: str, *, line: int = 0, column: int = 0, steps: tuple[PathStep, ...] | None = None
    ) -> None:
        self.line = line
        self.column = column
        self.steps = steps
        place = {"line": line, "column": column} if steps is None else {"path": render_path(steps)}
        super().__init__(Code.TOOL_ARGS_INVALID, message, details=place)


_MAX_SHOWN_PATH = 100


def abridged(path: str) -> str:
    """A path for a sentence: of a very long one its two ends, so that what follows is still read."""
    if len(path) <= _MAX_SHOWN_PATH:
        return path
    return f"{path[: _MAX_SHOWN_PATH // 2]}…{path[-_MAX_SHOWN_PATH // 2 :]}"


_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_MAX_STEP_CHARS = 100


def render_path(steps: Iterable[PathStep]) -> str:
    """`("rows", 3, "a b")` → `$.rows[3]["a b"]`. Overlong keys are cut."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _IDENTIFIER.fullmatch(step) and len(step) <= _MAX_STEP_CHARS:
            parts.append(f".{step}")
        else:
            shown = step if len(step) <= _MAX_STEP_CHARS else step[:_MAX_STEP_CHARS] + "…"
            parts.append(f"[{json.dumps(shown, ensure_ascii=False)}]")
    return "".join(parts)
