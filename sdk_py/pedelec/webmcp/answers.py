"""What a call came to, as WebMCP tells it and as Pedelec does, and a call's input.

Out: an agent of the browser gets the result itself, and an error as `{"error": …}`, the envelope of
docs/errors.md: the text of whatever a tool throws is lost on the way (Chromium 156).
In: the browser gives a text. It was made of the tool's result by `JSON.stringify`, unless that was a string.
"""

import json
from typing import Any

from pedelec import json_safe
from pedelec.errors import Code, Effects, ErrorClass, PedelecError
from pedelec.json_text import JsonObject, RawJson

_NO_RESULT = "undefined"  # what Chromium makes of it


def read_input(tool: str, given: RawJson | Exception) -> JsonObject:
    """The arguments of a call, given as JSON text, or as why they have none.

    Raises:
        PedelecError: `TOOL_ARGS_INVALID`: it is no I-JSON (RFC 7493), or no object.
    """
    if isinstance(given, Exception):
        raise args_invalid(tool, str(given).rstrip("."))
    try:
        args = json_safe.parse(given.text)
    except json_safe.InvalidJsonError as error:
        raise args_invalid(tool, error.message.rstrip(".")) from None
    if not isinstance(args, dict):
        raise args_invalid(tool, "they are no JSON object")
    return args


def args_invalid(tool: str, problem: str) -> PedelecError:
    """Arguments that are nothing to check against a schema."""
    violation: JsonObject = {"path": "", "message": problem}
    return PedelecError(
        Code.TOOL_ARGS_INVALID,
        f"The arguments of {tool} are not usable: {problem}.",
        details={"tool": tool, "violations": [violation]},
    )


def timed_out(tool: str, limit_ms: int, *, safe_to_repeat: bool) -> PedelecError:
    """The tool's own limit passed. Nobody can fetch a late result."""
    return PedelecError(
        Code.TOOL_TIMEOUT,
        error_class=ErrorClass.RETRYABLE if safe_to_repeat else ErrorClass.PERMANENT,
        recovery_steps=["See what the page shows before you repeat it: it may have taken effect."],
        details={"tool": tool, "timeoutMs": limit_ms},
    )


def read_result(tool: str, outcome: dict[str, Any]) -> Any:
    """What the browser said of a call of one of its tools.

    Args:
        outcome: one of `text` (the result as text), `value` (as a value), `navigated`, `gone` (it was not
            there to be called), `failed` (why, as far as told; `lost`: the tool is no longer there).

    Raises:
        PedelecError: `TOOL_INTERRUPTED`, `TOOL_HANDLER_NOT_FOUND` or `TOOL_HANDLER_ERROR`.
    """
    match outcome:
        case {"text": str(text)}:
            return _value_of(text)
        case {"value": value}:
            return value
        case {"navigated": True}:
            raise _interrupted(tool, f"{tool} made its document go elsewhere, so it gave no result.")
        case {"gone": True}:
            raise PedelecError(
                Code.TOOL_HANDLER_NOT_FOUND,
                f"The page does not offer {tool} any more. Nothing ran.",
                effects=Effects.NONE,
                details={"tool": tool},
            )
        case {"failed": why, "lost": True}:
            raise _interrupted(tool, f"{tool} went away while it ran ({why}).")
        case _:
            raise PedelecError(
                Code.TOOL_HANDLER_ERROR,
                f"{tool} failed. The browser tells no more than: {outcome.get('failed')}",
                details={"tool": tool},
            )


def _value_of(text: str) -> Any:
    """Objects and lists come back as such; a number cannot be told from a text that looks like one."""
    if text == _NO_RESULT:
        return None
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text


def _interrupted(tool: str, message: str) -> PedelecError:
    return PedelecError(
        Code.TOOL_INTERRUPTED, f"{message} Whether it took effect is unknown.", details={"tool": tool}
    )
