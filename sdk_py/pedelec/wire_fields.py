"""The fields of messages on the wire: what each is called there, and which values it takes.

Owns the one rule between Python names and wire names. Reads dataclasses; knows no message and makes no frame.
"""

import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, NamedTuple

from pedelec.json_text import JsonObject, JsonValue


def to_camel(snake: str) -> str:
    """`tool_request_id` → `toolRequestId`: the one rule between Python names and wire names."""
    head, *rest = snake.split("_")
    return head + "".join(word.capitalize() for word in rest)


class WireField(NamedTuple):
    name: str
    wire_name: str
    lead: str
    """What stands before its value in a frame: a comma, and its name."""
    required: bool
    usual: type | None
    """Values of exactly this type are accepted, texts if they are ASCII; None where none is at sight."""
    accepts: Callable[[object], bool]
    expected: str


def _is_int(value: object) -> bool:
    return type(value) is int


def _is_number(value: object) -> bool:
    """Whether it is one that a double holds; `1e999` is read as infinity, and `false` is an int."""
    return (type(value) is int or type(value) is float) and abs(value) <= sys.float_info.max


def _is_text(value: object) -> bool:
    """Whether it can be written as UTF-8: a lone surrogate comes in as an escape and never gets out again."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_anything(_value: object) -> bool:
    return True


_CHECKS: Mapping[object, tuple[Callable[[object], bool], str]] = {
    str: (_is_text, "a string without lone surrogates"),
    int: (_is_int, "an integer"),
    float: (_is_number, "a number"),
    bool: (lambda value: type(value) is bool, "a boolean"),
    JsonObject: (lambda value: type(value) is dict, "an object"),
    list[JsonObject]: (
        lambda value: type(value) is list and all(type(item) is dict for item in value),
        "an array of objects",
    ),
    list[str]: (
        lambda value: type(value) is list and all(map(_is_text, value)),
        "an array of strings without lone surrogates",
    ),
    JsonValue: (_is_anything, "any JSON value"),
}


def _wire_field(field: Field[Any], annotation: object) -> WireField:
    options = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    checked = next(option for option in options if option in _CHECKS)
    accepts, expected = _CHECKS[checked]
    wire_name = to_camel(field.name)
    usual = {str: str, int: int, bool: bool, JsonObject: dict}.get(checked)
    lead = f',"{wire_name}":'
    return WireField(field.name, wire_name, lead, field.default is MISSING, usual, accepts, expected)


def wire_fields(message_type: type[Any]) -> tuple[WireField, ...]:
    hints = typing.get_type_hints(message_type)
    return tuple(_wire_field(field, hints[field.name]) for field in fields(message_type))
