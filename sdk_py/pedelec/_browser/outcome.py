"""What JavaScript says of a value or a call, as text: `=` and JSON, or `!` and why there is none.

Owns the meaning of the refusals that calls.mjs and thrown.mjs write. Does no I/O.
"""

import json
from typing import Any

from pedelec.errors import ToolError
from pedelec.json_safe import NotJsonSafeError, TooLargeError
from pedelec.json_text import RawJson


class JsError(Exception):
    """Something that a JavaScript handler threw, by its own type's name, with the HTTP facts that it has."""

    def __init__(
        self, type_name: str, message: str, status: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.foreign_type_name = type_name
        self.status = status
        self.headers = headers


def read_outcome(text: str) -> RawJson:
    """The JSON text of an outcome.

    Raises:
        NotJsonSafeError, TooLargeError: the value has no JSON, or too much of it.
        ToolError: a domain error was thrown, an object with `code` and `message`.
        JsError: anything else was thrown.
    """
    if text.startswith("="):
        return RawJson(text[1:])
    raise read_refusal(text[1:])


def read_refusal(text: str) -> Exception:
    """The exception that a refusal stands for; see `read_outcome`."""
    return exception_of(json.loads(text))


def exception_of(refusal: dict[str, Any]) -> Exception:
    """As `read_refusal`, of the refusal itself."""
    match refusal:
        case {"fault": {"path": path, "type": type_name, "hint": hint}}:
            return NotJsonSafeError(path=path, type_name=type_name, hint=hint)
        case {"size": size, "limit": limit}:
            return TooLargeError(size=size, limit=limit)
        case {"domain": envelope}:
            return ToolError.from_wire(envelope)
        case _:
            facts = (refusal.get("status"), refusal.get("headers"))
            error = JsError(refusal["type"], refusal["message"], *facts)
            if refusal["stack"]:
                error.add_note(refusal["stack"])
            return error
