"""Arguments that were nearly right are told corrected, and nothing is made up."""

from typing import Any

import jsonschema_rs
import pytest

from pedelec.json_text import JsonObject
from pedelec_core.corrections import corrected

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "shapeId": {"type": "string"},
        "x": {"type": "number"},
        "color": {"enum": ["red", "green", "blue"]},
        "unit": {"const": "px"},
        "tags": {"type": "array", "items": {"enum": ["round", "large"]}},
        "at": {
            "type": "object",
            "properties": {"layer": {"type": "integer", "default": 1}, "kind": {"const": "fixed"}},
            "required": ["layer", "kind"],
            "additionalProperties": False,
        },
    },
    "required": ["shapeId", "x"],
    "additionalProperties": False,
}
GOOD: JsonObject = {"shapeId": "s1", "x": 1}


def meant(args: JsonObject, schema: JsonObject = SCHEMA) -> JsonObject | None:
    return corrected(args, schema, jsonschema_rs.validator_for(schema))


@pytest.mark.parametrize(
    ("args", "fixed"),
    [
        ({"shape_id": "s1", "x": 1}, GOOD),
        ({"shapeid": "s1", "X": "1"}, GOOD),
        (GOOD | {"color": "GREEN"}, GOOD | {"color": "green"}),
        (GOOD | {"unit": "Px"}, GOOD | {"unit": "px"}),
        (GOOD | {"tags": ["rond", "large"]}, GOOD | {"tags": ["round", "large"]}),
        (GOOD | {"tags": '["round"]'}, GOOD | {"tags": ["round"]}),
        (GOOD | {"at": {}}, GOOD | {"at": {"layer": 1, "kind": "fixed"}}),
        (GOOD | {"at": {"layers": "2", "kind": "Fixed"}}, GOOD | {"at": {"layer": 2, "kind": "fixed"}}),
    ],
)
def test_what_can_be_told_is_corrected(args: JsonObject, fixed: JsonObject) -> None:
    before = dict(args)
    assert meant(args) == fixed
    assert args == before


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"shapeId": "s1"},
        GOOD | {"zzz": 1},
        GOOD | {"color": "purple"},
        GOOD | {"x": "far"},
        {"shapeId": 5, "x": 1},
        {"shape_id": "s1", "shapeID": "s2", "x": 1},
    ],
)
def test_what_cannot_be_told_is_not_made_up(args: JsonObject) -> None:
    assert meant(args) is None


def shape(kind: str, size: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, size: {"type": "number"}},
        "required": ["kind", size],
        "additionalProperties": False,
    }


ALTERNATIVES: JsonObject = {
    "type": "object",
    "properties": {
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "level": {"enum": [1, 2, 3]},
        "shape": {"oneOf": [shape("circle", "radius"), shape("square", "side")]},
        "fileName": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    ("args", "fixed"),
    [
        ({"limit": "7"}, {"limit": 7}),
        ({"level": "2"}, {"level": 2}),
        ({"shape": {"kind": "circel", "radius": 1}}, {"shape": {"kind": "circle", "radius": 1}}),
        ({"shape": {"kind": "square", "Side": "4"}}, {"shape": {"kind": "square", "side": 4}}),
        ({"limit": "many"}, None),
        ({"shape": {"kind": "star"}}, None),
    ],
)
def test_of_alternatives_the_closest_is_corrected(args: JsonObject, fixed: JsonObject | None) -> None:
    assert meant(args, ALTERNATIVES) == fixed


def test_an_undeclared_key_is_taken_for_the_missing_one_that_it_is_almost_like() -> None:
    schema = ALTERNATIVES | {"required": ["fileName"]}
    assert meant({"filename": "a"}, schema) == {"fileName": "a"}
    assert meant({"folder": "a"}, schema) is None


def test_a_value_is_not_unquoted_to_one_that_is_refused_in_turn() -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 10}}}
    assert meant({"n": "10"}, schema) == {"n": 10}
    assert meant({"n": "12"}, schema) is None


def test_many_mistakes_are_left_alone() -> None:
    items: list[Any] = ["rond"] * 50
    assert meant(GOOD | {"tags": items}) is None


def test_a_key_keeps_its_place() -> None:
    fixed = meant({"color": "red", "shape_id": "s1", "x": 1})
    assert fixed is not None
    assert list(fixed) == ["color", "shapeId", "x"]
