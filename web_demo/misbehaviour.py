"""Tools that go wrong on purpose, each in one way, so that what an agent reads then can be seen."""

import asyncio
import datetime as dt
import decimal
import enum
import json
import re
from dataclasses import dataclass

import js
from js import window

from pedelec import define_tool

unwritten = define_tool(
    name="unwritten",
    description="Declared by this page and never written: to see what an agent is told then.",
    args_schema={"type": "object", "properties": {}, "additionalProperties": False},
)


@dataclass
class Point:
    x: float


class Colour(enum.Enum):
    RED = 1


def cycle():
    value = []
    value.append(value)
    return value


def deep():
    value = 0
    for _ in range(101):
        value = [value]
    return value


UNSERIALISABLE = {
    "NaN": lambda: float("nan"),
    "infinity": lambda: [float("inf")],
    "large integer": lambda: 2**53,
    "bytes": lambda: b"raw",
    "set": lambda: {1, 2},
    "date and time": lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "decimal": lambda: decimal.Decimal("0.1"),
    "enum": lambda: Colour.RED,
    "dataclass": lambda: Point(1.0),
    "pydantic model": lambda: {"shape": next(iter(shapes.values()))},
    "number as key": lambda: {1: "one"},
    "generator": lambda: (n for n in range(3)),
    "function": lambda: {"f": draw},
    "class instance": lambda: re.compile("x"),
    "cycle": cycle,
    "too deep": deep,
    "too large": lambda: "x" * 2_000_000,
    "lone surrogate": lambda: {"text": "\ud800"},
    "DOM node": lambda: js.document.body,
    "JavaScript Map": js.Map.new,
    "JavaScript Set": js.Set.new,
    "JavaScript Date": lambda: js.Date.new(0),
    "JavaScript symbol": lambda: js.Symbol("s"),
    "JavaScript function": lambda: js.parseInt,
    "Blob": js.Blob.new,
    "typed array": lambda: js.Uint8Array.new(3),
}


async def return_value(args):
    return UNSERIALISABLE[args["kind"]]()


async def take_long(args):
    """Goes on to its end whatever happens: to be timed out, cut off, or reloaded."""
    await asyncio.sleep(args["ms"] / 1000)
    return {"finishedAfterMs": args["ms"]}


def fail(args):
    raise ValueError(f"the {args['what']} is out of reach")


def one_argument(name, schema):
    return {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}


misbehaving = [
    unwritten,
    define_tool(
        name="return_value",
        description="Return a value that JSON cannot hold.",
        args_schema=one_argument("kind", {"type": "string", "enum": list(UNSERIALISABLE)}),
        handler=return_value,
    ),
    define_tool(
        name="take_long",
        description="Do nothing for some time, and do not stop when told to.",
        args_schema=one_argument(
            "ms", {"type": "integer", "minimum": 0, "maximum": 60000, "examples": [3000]}
        ),
        handler=take_long,
    ),
    define_tool(
        name="fail",
        description="Raise an exception.",
        args_schema=one_argument("what", {"type": "string", "examples": ["printer"]}),
        handler=fail,
    ),
]
window.failures.kinds(json.dumps(list(UNSERIALISABLE)))
