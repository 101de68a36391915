"""JSON values and what a schema wants of them, in a few words for who made a call.

Owns these words alone: what is wrong with a value is told by `violations`.
"""

from collections.abc import Mapping
from typing import Any, Final

from pedelec.json_text import JsonValue, encode_value

ALLOWED_SHOWN: Final = 20

_PREVIEW_CHARS: Final = 60
_MEMBERS_SHOWN: Final = 10
_ALTERNATIVES_SHOWN: Final = 4
_TYPE_NAMES: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}
_SCALARS: Final = (str, int, float, type(None))


def type_name(value: Any) -> str:
    """The JSON type of a value; whole numbers are told apart."""
    return _TYPE_NAMES.get(type(value), "object")


def preview(value: Any) -> str:
    """The type of a value, and the value where that says more."""
    name = type_name(value)
    if name == "null":
        return name
    if isinstance(value, (dict, list)):
        return _container(name, value)
    if isinstance(value, str) and len(value) > _PREVIEW_CHARS:
        return f"string of {len(value)} characters {preview_value(value)}"
    return f"{name} {preview_value(value)}"


def preview_value(value: Any) -> str:
    """A value's JSON, cut."""
    return cut(encode_value(value[:_PREVIEW_CHARS] if isinstance(value, str) else value), _PREVIEW_CHARS)


def cut(text: str, limit: int) -> str:
    """The text, with an ellipsis at the end where it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _container(name: str, value: dict[str, Any] | list[Any]) -> str:
    if not value:
        return f"empty {name}"
    members = value.values() if isinstance(value, dict) else value
    if len(value) <= _MEMBERS_SHOWN and all(isinstance(member, _SCALARS) for member in members):
        whole = encode_value(value)
        if len(whole) <= _PREVIEW_CHARS:
            return f"{name} {whole}"
    return f"{name} of {counted(len(value), 'key' if isinstance(value, dict) else 'item')}"


def counted(count: object, what: str) -> str:
    """A number of things."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def wanted(schema: JsonValue) -> str:
    """What a schema wants of a value, or "" where that is not said in a few words."""
    if not isinstance(schema, dict):
        return ""
    if "const" in schema:
        return preview_value(schema["const"])
    if isinstance(options := schema.get("enum"), list):
        return one_of(options)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(keyword), list):
            return _any_of([wanted(branch) for branch in branches])
    types = schema.get("type")
    if isinstance(types, list):
        return " or ".join(str(name) for name in types)
    return f"{types}{_bounds(schema)}" if isinstance(types, str) else ""


def one_of(options: list[Any]) -> str:
    """The values to choose from."""
    shown = [preview_value(option) for option in options[:ALLOWED_SHOWN]]
    more = f" or {len(options) - len(shown)} others" if len(options) > len(shown) else ""
    return ("one of " if len(options) > 1 else "") + ", ".join(shown) + more


def _any_of(alternatives: list[str]) -> str:
    different = list(dict.fromkeys(alternatives))
    if not all(different) or len(different) > _ALTERNATIVES_SHOWN:
        return ""
    return " or ".join(different)


def _bounds(schema: Mapping[str, JsonValue]) -> str:
    """What a schema with one type says of a value's size and form."""
    said: list[str] = []
    match schema["type"]:
        case "integer" | "number":
            limits = number_range(schema)
            said += [limits if limits.startswith("from") else f"of {limits}"] if limits else []
            if "multipleOf" in schema:
                said.append(f"that is a multiple of {schema['multipleOf']}")
        case "string":
            said += _length(schema, "Length", "character")
            said += [f"that matches {schema['pattern']}"] if "pattern" in schema else []
            said += [f"in the form of a {schema['format']}"] if "format" in schema else []
        case "array":
            said += _length(schema, "Items", "item")
        case _:
            pass
    return f" {', '.join(said)}" if said else ""


def number_range(schema: Mapping[str, JsonValue]) -> str:
    """Between which limits a number must be, or ""."""
    low = _limit(schema, "minimum", "at least", "exclusiveMinimum", "more than")
    high = _limit(schema, "maximum", "at most", "exclusiveMaximum", "less than")
    if low and high and "minimum" in schema and "maximum" in schema:
        return f"from {schema['minimum']} to {schema['maximum']}"
    return " and ".join(part for part in (low, high) if part)


def _limit(schema: Mapping[str, JsonValue], name: str, words: str, strict: str, strict_words: str) -> str:
    if name in schema:
        return f"{words} {schema[name]}"
    return f"{strict_words} {schema[strict]}" if strict in schema else ""


def _length(schema: Mapping[str, JsonValue], kind: str, what: str) -> list[str]:
    low, high = schema.get(f"min{kind}"), schema.get(f"max{kind}")
    if low is not None and high is not None:
        return [f"of {low} to {counted(high, what)}"]
    if high is not None:
        return [f"of at most {counted(high, what)}"]
    return [] if low is None else [f"of at least {counted(low, what)}"]
