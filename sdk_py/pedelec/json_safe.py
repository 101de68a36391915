"""Strict JSON: what may leave a handler, and what may come in as arguments.

Owns the I-JSON bar (RFC 7493) and the two ways over it: `encode` turns a value into JSON text, `parse` reads
JSON text into plain values. Nothing is ever altered on the way: a value passes exactly or is refused with
its path, its type and a hint. Does no I/O and reads no clock.

`encode` looks at a value in bulk, one level of nesting at a time. What is wrong and where is worked out by
`json_reader` once there is a fault, or anything that cannot be told in bulk.
"""

import contextlib
import json
import re
from collections.abc import Iterable
from gc import get_referents
from typing import Any

from pedelec.json_errors import (
    InvalidJsonError,
    NotJsonSafeError,
    PathStep,
    ResultError,
    TooLargeError,
    render_path,
)
from pedelec.json_reader import MAX_SAFE_INT, ForeignValues, Reader, Unreadable, is_encodable
from pedelec.json_text import JsonValue, RawJson, reader, writer

__all__ = [
    "MAX_DEPTH",
    "MAX_SAFE_INT",
    "ForeignValues",
    "InvalidJsonError",
    "NotJsonSafeError",
    "PathStep",
    "ResultError",
    "TooLargeError",
    "encode",
    "is_encodable",
    "parse",
    "render_path",
]

MAX_DEPTH = 100


def encode(
    value: object, *, max_bytes: int, max_depth: int = MAX_DEPTH, host: ForeignValues | None = None
) -> RawJson:
    """A value as compact JSON text, exactly as it is.

    Args:
        value: what a handler returned; a `RawJson` passes after the size check alone.
        max_bytes: limit of the text in UTF-8 bytes.
        max_depth: limit of nested arrays and objects.
        host: reads foreign values; without one they are refused as unknown objects.

    Raises:
        NotJsonSafeError: some part is not I-JSON.
        TooLargeError: the text is over `max_bytes`.
    """
    if type(value) is RawJson:
        return _sized(value.text, max_bytes)
    try:
        return _encode_plain(value, max_bytes, max_depth) or _sized(
            _to_text(Reader(max_depth, max_bytes, host).read(value)), max_bytes
        )
    except _TooManyValuesError:
        # A cycle is endless too, and found at once by who walks it.
        with contextlib.suppress(TooLargeError):
            Reader(max_depth, _GLANCE_BYTES, host).read(value)
        raise TooLargeError(size=max_bytes + 1, limit=max_bytes) from None
    except MemoryError:
        raise TooLargeError(size=max_bytes + 1, limit=max_bytes) from None


def parse(text: str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read one JSON value, exactly.

    Raises:
        InvalidJsonError: no JSON (says line and column), or JSON that would not arrive as it was written:
            duplicate keys, NaN, integers beyond ±(2^53-1), numbers that overflow or vanish, lone
            surrogates, nesting over `max_depth` (each with the steps that lead to it).
    """
    try:
        value = _read(text)
    except json.JSONDecodeError as error:
        problem = f"The text is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        raise InvalidJsonError(problem, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise InvalidJsonError(f"At $: nested more than {max_depth} deep.", steps=()) from None
    reader = Reader(max_depth, len(text), None)
    try:
        if not _is_plain(value, max_depth, len(text)) or _may_hold_surrogate(text):
            reader.read(value)
    except NotJsonSafeError as error:
        reason = f"At {error.path} ({error.type_name}): {error.hint}"
        raise InvalidJsonError(reason, steps=tuple(reader.steps)) from None
    return value  # type: ignore[no-any-return]


# --- the fast way --------------------------------------------------------------------------------------

# Cycles have met the depth limit before this runs.
_to_text = writer()

_CONTAINERS = frozenset({dict, list, tuple})
_SCALARS = frozenset({str, int, float, bool, type(None)})


class _TooManyValuesError(Exception):
    """No text of so many values is within the limit."""


_GLANCE_BYTES = 64 * 1024


def _encode_plain(value: object, max_bytes: int, max_depth: int) -> RawJson | None:
    """The text of a value that is in order, or None where only `Reader` can tell."""
    if not _is_plain(value, max_depth, max_bytes):
        return None
    try:
        text = _to_text(value)
        data = text.encode()
    except ValueError:  # NaN or a lone surrogate: the encoder knows that, and not where
        return None
    if _may_hold_big_int(data) and not _is_plain(value, max_depth, max_bytes, with_ints=True):
        return None
    if len(data) > max_bytes:
        raise TooLargeError(size=len(data), limit=max_bytes)
    return RawJson(text)


def _is_plain(value: object, max_depth: int, max_bytes: int, *, with_ints: bool = False) -> bool:
    """Whether all values are of JSON's exact Python types, all keys exact str and the depth in order.

    NaN, lone surrogates and (but for `with_ints`) the range of integers are left to the encoder and its text.

    `get_referents` is the fastest way to all children of a level at once. A dict whose keys were all exact
    str from the start shows its values alone, any other dict its keys too: then the count differs.
    """
    containers: list[Any] = [value] if type(value) in _CONTAINERS else []
    if not containers:
        return type(value) in _SCALARS and not (with_ints and _beyond_ints([value]))
    count = 1
    for _ in range(max_depth):
        if not set(map(type, containers)) <= _CONTAINERS:
            return False
        size = sum(map(len, containers))
        count += size
        if 2 * count - 1 > max_bytes:
            raise _TooManyValuesError
        children = get_referents(*containers)
        if len(children) != size or (with_ints and _beyond_ints(children)):
            return False
        containers = [
            child
            for child in children
            if (kind := type(child)) is not str
            and kind is not int
            and kind is not float
            and kind is not bool
            and child is not None
        ]
        if not containers:
            return True
    return False


def _beyond_ints(values: list[Any]) -> bool:
    ints = [value for value in values if type(value) is int]
    return bool(ints) and (max(ints) > MAX_SAFE_INT or min(ints) < -MAX_SAFE_INT)


# What may stand before an integer becomes a colon and digits become 0, so that one search finds whether the
# text has integers of 16 digits. Those are too big if they have more, and may be if they begin with 9. (Some
# text and long floats look like integers here: no harm.)
_COLONS = bytes(58 if byte in b":,[-" else byte for byte in range(256))
_SHAPE = bytes(48 if 48 <= byte <= 57 else byte for byte in _COLONS)
_INT_16 = b":" + b"0" * 16


def _may_hold_big_int(data: bytes) -> bool:
    shape = (b":" + data).translate(_SHAPE)
    if _INT_16 not in shape:
        return False
    if _INT_16 + b"0" in shape:
        return True
    after_9 = (b":" + data).translate(_COLONS).split(b":9")[1:]
    return any(rest[:15].isdigit() and len(rest) >= 15 for rest in after_9)


def _may_hold_surrogate(text: str) -> bool:
    return "\\ud" in text or "\\uD" in text or not is_encodable(text)


def _sized(text: str, limit: int) -> RawJson:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise TooLargeError(size=size, limit=limit)
    return RawJson(text)


# --- reading text --------------------------------------------------------------------------------------


def _read_int(digits: str) -> int | Unreadable:
    if len(digits) <= 17 and -MAX_SAFE_INT <= (number := int(digits)) <= MAX_SAFE_INT:
        return number
    return Unreadable("number", "Integers beyond ±(2^53-1) lose digits: write it as a string.")


def _read_float(digits: str) -> float | Unreadable:
    number = float(digits)
    vanished = number == 0 and any(digit in "123456789" for digit in re.split("[eE]", digits)[0])
    if number - number != 0 or vanished:
        return Unreadable("number", "The number is beyond what a double can hold.")
    return number


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = _first_duplicate(name for name, _ in pairs)
        members[twice] = Unreadable("duplicate key", "The key stands twice in its object: write it once.")
    return members


def _first_duplicate(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("no name stands twice")


_read = reader(
    json.JSONDecoder(
        parse_constant=lambda name: Unreadable(name, f"{name} is not JSON: write null or leave it out."),
        parse_int=_read_int,
        parse_float=_read_float,
        object_pairs_hook=_read_object,
    )
)
