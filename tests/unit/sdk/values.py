"""Values for tests of JSON: what Python has and JSON lacks, and how to tell apart what only looks equal."""

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import math
import pathlib
import types
import uuid
from collections.abc import Iterator
from typing import Any

from pedelec.json_safe import MAX_SAFE_INT
from pedelec.json_text import RawJson


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Mode(enum.StrEnum):
    FAST = "fast"


@dataclasses.dataclass
class Point:
    x: int = 1


class LoudList(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("do not look")


class OtherDict(dict[str, Any]):
    def items(self) -> Any:
        return [("other", 1)]


class FakeNumpyScalar(float):
    pass


FakeNumpyScalar.__module__ = "numpy"


class LyingMeta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no name")

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("no module")


class Unnameable(metaclass=LyingMeta):
    pass


class LyingClass:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")


# Each with the name of the type that is at fault.
BAD_LEAVES: list[tuple[Any, str]] = [
    (math.nan, "float"),
    (math.inf, "float"),
    (-math.inf, "float"),
    (MAX_SAFE_INT + 1, "int"),
    (-MAX_SAFE_INT - 1, "int"),
    (10**5000, "int"),
    (b"x", "bytes"),
    (bytearray(b"x"), "bytearray"),
    (memoryview(b"x"), "memoryview"),
    ({1, 2}, "set"),
    (frozenset(), "frozenset"),
    (dt.datetime(2026, 1, 2, tzinfo=dt.UTC), "datetime"),
    (dt.date(2026, 1, 2), "date"),
    (dt.time(1), "time"),
    (dt.timedelta(1), "timedelta"),
    (decimal.Decimal("1.1"), "Decimal"),
    (fractions.Fraction(1, 3), "Fraction"),
    (uuid.UUID(int=1), "UUID"),
    (pathlib.PurePosixPath("a"), "PurePosixPath"),
    (complex(1, 2), "complex"),
    (Color.RED, "Color"),
    (Level.LOW, "Level"),
    (Mode.FAST, "Mode"),
    (Point(), "Point"),
    (Point, "type"),
    (FakeNumpyScalar(1.5), "FakeNumpyScalar"),
    (range(3), "range"),
    ((character for character in "ab"), "generator"),
    (map(str, ()), "map"),
    (collections.deque([1]), "deque"),
    (collections.UserDict(a=1), "UserDict"),
    (types.MappingProxyType({"a": 1}), "mappingproxy"),
    ({}.keys(), "dict_keys"),
    (array.array("i", [1]), "array"),
    (len, "builtin_function_or_method"),
    (lambda: 1, "function"),
    (object(), "object"),
    (NotImplemented, "NotImplementedType"),
    (..., "ellipsis"),
    (ValueError("x"), "ValueError"),
    ("\ud83c", "str"),
    ({"\udc00": 1}, "str"),
    ({1: "a"}, "int"),
    ({None: "a"}, "NoneType"),
    ({(1, 2): "a"}, "tuple"),
    ({Mode.FAST: 1}, "Mode"),
    (LoudList([1]), "LoudList"),
    (OtherDict(a=1), "OtherDict"),
    (Unnameable(), "Unnameable"),
    (LyingClass(), "LyingClass"),
    (RawJson("1"), "RawJson"),
]


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return math.copysign(1, left) == math.copysign(1, right) and left == right
    return bool(left == right)
