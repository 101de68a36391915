"""What may leave a handler: exact or refused, with the path of the fault."""

import collections
import json
from typing import Any, NamedTuple

import pytest

from pedelec.json_safe import MAX_SAFE_INT, NotJsonSafeError, TooLargeError, encode
from pedelec.json_text import RawJson
from tests.harness.tables import each_row
from tests.unit.sdk.values import BAD_LEAVES

MIB = 1024 * 1024


class Pair(NamedTuple):
    left: int
    right: int


class Text(str):
    __slots__ = ()


class Items(list[Any]):
    pass


def text_of(value: object, **options: Any) -> str:
    return encode(value, max_bytes=options.pop("max_bytes", MIB), **options).text


def fault_of(value: object, **options: Any) -> NotJsonSafeError:
    with pytest.raises(NotJsonSafeError) as caught:
        text_of(value, **options)
    return caught.value


@each_row(("value", "type_name"), BAD_LEAVES)
def test_every_kind_that_json_lacks_is_refused_with_its_type_and_a_hint(value: Any, type_name: str) -> None:
    error = fault_of({"rows": [0, {"el": value}]})
    assert error.path == "$.rows[1].el"
    assert error.type_name == type_name
    assert error.details == {"path": error.path, "type": type_name, "hint": error.hint}
    assert error.path in error.message
    assert type_name in error.message
    assert error.hint in error.message


@each_row(
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
        text_of(value, max_bytes=4_096)


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
