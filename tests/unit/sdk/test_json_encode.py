"""What may leave a handler: exact or refused, with the path of the fault."""

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import json
import math
import pathlib
import types
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pedelec.json_safe import MAX_SAFE_INT, NotJsonSafeError, TooLargeError, encode
from pedelec.json_text import RawJson

MIB = 1024 * 1024

moderate = settings(max_examples=40, deadline=None, database=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INT, MAX_SAFE_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Mode(enum.StrEnum):
    FAST = "fast"


@dataclasses.dataclass
class Point:
    x: int = 1


class Pair(NamedTuple):
    left: int
    right: int


class Text(str):
    __slots__ = ()


class Items(list[Any]):
    pass


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


def text_of(value: object, **options: Any) -> str:
    return encode(value, max_bytes=options.pop("max_bytes", MIB), **options).text


def fault_of(value: object, **options: Any) -> NotJsonSafeError:
    with pytest.raises(NotJsonSafeError) as caught:
        text_of(value, **options)
    return caught.value


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


@moderate
@given(json_values)
def test_every_i_json_value_arrives_exactly(value: Any) -> None:
    assert same(json.loads(text_of(value)), value)


plantable = [value for value, _ in BAD_LEAVES if type(value) not in (RawJson, Unnameable, LyingClass)]
planted: st.SearchStrategy[tuple[Any, str]] = st.deferred(
    lambda: st.sampled_from(plantable).map(lambda leaf: (leaf, "")) | in_list | in_dict
)
in_list: st.SearchStrategy[tuple[Any, str]] = st.tuples(
    st.lists(json_values, max_size=2), planted, st.lists(json_values, max_size=2)
).map(lambda parts: ([*parts[0], parts[1][0], *parts[2]], f"[{len(parts[0])}]{parts[1][1]}"))
in_dict: st.SearchStrategy[tuple[Any, str]] = st.tuples(
    st.dictionaries(st.just("good"), json_values), planted
).map(lambda parts: ({**parts[0], "a b": parts[1][0]}, f'["a b"]{parts[1][1]}'))


@moderate
@given(planted)
def test_a_bad_part_is_refused_by_its_path_wherever_it_sits(plant: tuple[Any, str]) -> None:
    value, path = plant
    assert fault_of(value).path == "$" + path


@pytest.mark.parametrize(("value", "type_name"), BAD_LEAVES, ids=lambda item: str(type(item)))
def test_every_kind_that_json_lacks_is_refused_with_its_type_and_a_hint(value: Any, type_name: str) -> None:
    error = fault_of({"rows": [0, {"el": value}]})
    assert error.path == "$.rows[1].el"
    assert error.type_name == type_name
    assert error.details == {"path": error.path, "type": type_name, "hint": error.hint}
    assert error.path in error.message
    assert type_name in error.message
    assert error.hint in error.message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, 2.5), "[1,2.5]"),
        (collections.OrderedDict(a=1), '{"a":1}'),
        (collections.defaultdict(list, a=[]), '{"a":[]}'),
        (collections.Counter("aab"), '{"a":2,"b":1}'),
        (Pair(1, 2), "[1,2]"),
        (Items([1, [2]]), "[1,[2]]"),
        (Text("hi"), '"hi"'),
        ({Text("k"): 1}, '{"k":1}'),
        (MAX_SAFE_INT, "9007199254740991"),
        (-MAX_SAFE_INT, "-9007199254740991"),
        ([1_700_000_000_000_000, 9_007_199_254_740_991], "[1700000000000000,9007199254740991]"),
        (["1,9999999999999999"], '["1,9999999999999999"]'),
        (12345678901234567.0, "1.2345678901234568e+16"),
        ("\U0001f378\u2028\x00", '"\U0001f378\u2028\\u0000"'),
        ({}, "{}"),
        (-0.0, "-0.0"),
    ],
)
def test_what_is_json_in_another_dress_passes(value: object, text: str) -> None:
    assert text_of(value) == text


def test_an_ordered_dict_keeps_its_own_order() -> None:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    assert text_of([ordered]) == '[{"b":2,"a":1}]'


@pytest.mark.parametrize(
    ("digits", "fits"),
    [
        (2**53 - 1, True),
        (2**53, False),
        (-(2**53), False),
        (9 * 10**15, True),
        (10**16, False),
        (10**17, False),
    ],
)
def test_integers_are_told_apart_at_the_edge_wherever_they_stand(digits: int, fits: bool) -> None:
    for value, path in [
        (digits, "$"),
        ([0, digits], "$[1]"),
        ({"a": digits}, "$.a"),
        ([[digits]], "$[0][0]"),
    ]:
        if fits:
            assert json.loads(text_of(value)) == value
        else:
            assert fault_of(value).path == path


def test_a_cycle_is_named_by_the_edge_that_closes_it() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert fault_of(ring).path == "$[0]"
    outer: dict[str, Any] = {"list": [{}]}
    outer["list"][0]["self"] = outer
    assert fault_of(outer).path == "$.list[0].self"


def test_a_shared_reference_is_no_cycle() -> None:
    shared = {"x": [1]}
    assert text_of([shared, shared, [shared]]) == '[{"x":[1]},{"x":[1]},[{"x":[1]}]]'
    assert text_of([Items([shared]), shared]) == '[[{"x":[1]}],{"x":[1]}]'


def test_nesting_ends_at_the_limit() -> None:
    value: list[Any] = []
    for _ in range(99):
        value = [value]
    assert text_of(value) == "[" * 100 + "]" * 100
    assert fault_of([value]).path == "$" + "[0]" * 100
    assert fault_of([[1]], max_depth=1).path == "$[0]"


def test_size_counts_utf8_bytes() -> None:
    assert text_of("é" * 10, max_bytes=22) == '"éééééééééé"'
    with pytest.raises(TooLargeError) as caught:
        text_of("é" * 10, max_bytes=21)
    assert caught.value.details == {"size": 22, "limit": 21}
    with pytest.raises(TooLargeError):
        text_of(RawJson('"é"'), max_bytes=3)
    assert text_of(RawJson('"é"'), max_bytes=4) == '"é"'


@pytest.mark.parametrize("leaf", [1, Text("x")])
def test_a_value_that_explodes_through_shared_references_is_too_large_at_once(leaf: object) -> None:
    value: list[Any] = [leaf]
    for _ in range(90):
        value = [value, value]
    with pytest.raises(TooLargeError):
        text_of(value)


def test_a_dict_that_once_had_other_keys_is_read_again() -> None:
    table: dict[Any, int] = {1: 1, "a": 2}
    del table[1]
    assert text_of(table) == '{"a":2}'


def test_two_keys_of_one_text_are_refused() -> None:
    class Odd(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return False

        def __hash__(self) -> int:
            return 1

    assert fault_of([{Odd("a"): 1, "a": 2}]).path == "$[0]"


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("a", ".a"),
        ("$_9", ".$_9"),
        ("9a", '["9a"]'),
        ("é", '["é"]'),
        ("", '[""]'),
        ('"', '["\\""]'),
        ("a\n", '["a\\n"]'),
    ],
)
def test_keys_in_a_path_are_quoted_unless_they_are_identifiers(key: str, step: str) -> None:
    assert fault_of({key: {1}}).path == f"${step}"


def test_an_overlong_key_is_cut_in_the_path() -> None:
    assert len(fault_of({"k" * 10_000: {1}}).path) < 200


class Foreign:
    def __init__(self, text: str) -> None:
        self.text = text


class ForeignHost:
    """Reads `Foreign`; what is not JSON there is refused at `$.inner[0]` as a `Map`."""

    def is_foreign(self, value: object) -> bool:
        return isinstance(value, Foreign)

    def foreign_to_json(self, value: object) -> RawJson:
        assert isinstance(value, Foreign)
        if value.text == "bad":
            raise NotJsonSafeError(path="$.inner[0]", type_name="Map", hint="Use an object.")
        return RawJson(value.text)


def test_foreign_values_join_where_they_sit() -> None:
    value = {"js": [Foreign('{"a":[1,null,1e+21]}'), 2]}
    assert text_of(value, host=ForeignHost()) == '{"js":[{"a":[1,null,1e+21]},2]}'


def test_a_fault_inside_a_foreign_value_has_the_whole_path() -> None:
    error = fault_of({"js": [Foreign("bad")]}, host=ForeignHost())
    assert (error.path, error.type_name, error.hint) == ("$.js[0].inner[0]", "Map", "Use an object.")


def test_depth_counts_through_foreign_values() -> None:
    assert fault_of([[Foreign("[[1]]")]], host=ForeignHost(), max_depth=3).path == "$[0][0][0]"


def test_a_very_long_path_leaves_room_for_the_hint_and_stands_whole_in_the_details() -> None:
    value: object = {1}
    for _ in range(60):
        value = {"member": value}
    with pytest.raises(NotJsonSafeError) as refused:
        encode(value, max_bytes=1_000)
    error = refused.value.to_wire()
    assert error["details"]["path"] == "$" + ".member" * 60
    assert "$.member" in error["message"]
    assert error["details"]["hint"] in error["message"]
    assert len(error["message"]) < 300
