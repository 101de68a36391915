"""What a typed tool says of arguments that its annotations refuse.

Owns the translation of pydantic's errors into violations (JSON Pointer, sentence, expected, got), of the
shape that Core's own argument check uses. A page hears of them only where Core did not validate first.
"""

import json
import re
from typing import TYPE_CHECKING, Any

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import ValidationError

_MAX_VIOLATIONS = 20


def args_invalid(
    tool_name: str, args: JsonObject, error: "ValidationError", names: list[str]
) -> PedelecError:
    """`TOOL_ARGS_INVALID` with all violations at once; `names` are the arguments that the tool has."""
    found = [_violation(dict(item), args, names) for item in error.errors(include_url=False)]
    violations = list({json.dumps(item, sort_keys=True): item for item in found}.values())[:_MAX_VIOLATIONS]
    told = "; ".join(f"{item['path'] or '(arguments)'}: {item['message']}" for item in violations)
    return PedelecError(
        Code.TOOL_ARGS_INVALID,
        f"The arguments of {tool_name} are not valid. {told}",
        details={"tool": tool_name, "violations": violations},
    )


def _violation(item: dict[str, Any], args: JsonObject, names: list[str]) -> JsonObject:
    kind = item["type"]
    steps = _steps_in(args, item["loc"], missing=kind == "missing")
    told: JsonObject = {
        "path": "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    }
    if kind == "missing":
        return told | {"message": "is missing", "expected": "a value", "got": "nothing"}
    if kind == "extra_forbidden":
        import difflib  # here: most pages never need it

        known = names if len(steps) == 1 else []
        near = difflib.get_close_matches(str(steps[-1]), known, n=1)
        message = "Unknown argument." + (f" Did you mean {near[0]}?" if near else "")
        expected = f"one of {', '.join(known)}" if known else "no such key"
        told |= {"message": message, "expected": expected, "got": f"the key {_json(steps[-1])}"}
        return told | ({"suggestion": near[0]} if near else {})
    message = str(item["msg"])
    expected = str(item.get("ctx", {}).get("expected") or _WORDS_BEFORE.sub("", message))
    return told | {"message": message, "expected": expected, "got": _shown(item.get("input"))}


def _steps_in(args: Any, location: tuple[Any, ...], *, missing: bool) -> list[Any]:
    """The part of pydantic's location that leads through the arguments (it names union branches too)."""
    steps: list[Any] = []
    value = args
    for position, step in enumerate(location):
        is_index = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
        if is_index or (isinstance(value, dict) and step in value):
            value = value[step]
        elif not (missing and position == len(location) - 1):
            continue
        steps.append(step)
    return steps


_WORDS_BEFORE = re.compile("^(?:Input should be |Value error, |Assertion failed, )")
_SHOWN_CHARS = 60


def _shown(value: object) -> str:
    """The type of a value, and the value where it is short."""
    name = _JSON_TYPES.get(type(value), type(value).__name__)
    text = "" if value is None or isinstance(value, (dict, list)) else _json(value)
    return f"{name} {text}" if text and len(text) <= _SHOWN_CHARS else name


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_JSON_TYPES = {
    type(None): "null",
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}
