"""Many inputs from one: hypothesis draws the first, and cheap changes make its relatives."""

import copy
import json
from collections.abc import Iterator
from typing import Any

CHANGES = 20
"""Relatives of each input; each takes three bytes of noise."""

ODDS: list[Any] = [
    None, True, 0, -1, 2**53, 1e308, "", "\x00", "\ud800", "a" * 300, "#", "^(a+)+$", "(?=a)b", "object",
    [], {}, [[]], {"a": 1}, {"$ref": "#"}, {"type": "object"}, {"$id": "x"}, {"pattern": "["}, "x" * 9_000,
]  # fmt: skip
BITS = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\n",
    "\x00",
    "\ud800",
    "€",
    "1e999",
    "\\ud800",
    "null",
    "{}",
]


def relatives(value: Any, noise: bytes) -> Iterator[Any]:
    """The value, and others that differ from it at one place."""
    yield value
    for where, depth, what in _triples(noise):
        holder = [copy.deepcopy(value)]
        _change(holder, where, depth % 6, what)
        yield holder[0]


def damaged(text: str, noise: bytes) -> Iterator[str]:
    """The text, and others with a piece cut out, doubled or put in."""
    yield text
    for where, length, what in _triples(noise):
        at = where * (len(text) + 1) // 256
        middle = BITS[what % len(BITS)] if what % 3 else text[at : at + length]
        yield text[:at] + middle + text[at + length % 8 :]


def as_text(value: Any) -> str:
    return json.dumps(value)


def _triples(noise: bytes) -> Iterator[tuple[int, int, int]]:
    return zip(noise[::3], noise[1::3], noise[2::3], strict=False)


def _change(holder: Any, where: int, depth: int, what: int) -> None:
    places: Any = list(holder) if isinstance(holder, dict) else range(len(holder))
    place = places[where % len(places)]
    inner = holder[place]
    if depth and isinstance(inner, (dict, list)) and inner:
        _change(inner, where * 7 + depth, depth - 1, what)
    elif isinstance(holder, dict) and what % 5 == 0:
        holder[str(ODDS[what % len(ODDS)])[:20]] = holder.pop(place)
    else:
        holder[place] = ODDS[what % len(ODDS)]
