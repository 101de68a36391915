"""`require_version` and `stale_call`: calls that were made for a page which has changed since.

Owns what the agent is told: what holds now, and the call that shows it.
"""

import json
from typing import Any

from pedelec.catalogue import Code
from pedelec.errors import ToolError


def require_version(
    expected: str | float | None,
    actual: str | float,
    *,
    what: str = "this",
    read: str | None = None,
    argument: str | None = None,
) -> None:
    """Go on only if the call was made for the current version.

    Args:
        expected: the version that the call names; None where it names none.
        actual: the current version.
        what: what has the version, as the agent knows it ("the document").
        read: the tool that shows the current state, or a whole call; unless given, the page's read-only tool.
        argument: the name of the call's argument for the version; unless given, the one with that value.

    Raises:
        ToolError: `VERSION_CONFLICT`, with the current version in `details.current` and the call to make with
            it once the state has been read.
    """
    if _is_same(expected, actual):
        return
    details: dict[str, Any] = {"what": what, "expected": expected, "current": actual}
    if read:
        details["read"] = _call(read)
    if argument:
        details["argument"] = argument
    message = ""
    if expected is None:
        message = f"The call names no version; {what} is at version {actual}."
    elif str(expected) == str(actual):
        told, held = json.dumps(expected), json.dumps(actual)
        message = f"The version must be {held}, and the call gives {told}, of another type. Nothing was done."
    raise ToolError(Code.VERSION_CONFLICT, message, details=details)


def stale_call(what: str = "it shows something else now", *, read: str | None = None) -> ToolError:
    """The error for a call that was made for what the page showed before, to be raised or returned.

    Args:
        what: what has changed ("the dialog was closed").
        read: the tool that shows what is there now, or a whole call.
    """
    return ToolError(Code.STALE_CALL, details={"what": what} | ({"read": _call(read)} if read else {}))


def _is_same(expected: object, actual: object) -> bool:
    """JSON has one kind of number; True and False are none."""
    kinds = [
        float if isinstance(one, (int, float)) and not isinstance(one, bool) else type(one)
        for one in (expected, actual)
    ]
    return kinds[0] is kinds[1] and expected == actual


def _call(read: str) -> str:
    return read if "(" in read else f"{read}()"
