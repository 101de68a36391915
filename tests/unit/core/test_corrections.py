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


def test_a_schema_with_alternatives_is_left_alone() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"oneOf": [{"const": 1}, {"const": 2}]}}}
    assert meant({"a": "1"}, schema) is None


def test_many_mistakes_are_left_alone() -> None:
    items: list[Any] = ["rond"] * 50
    assert meant(GOOD | {"tags": items}) is None


def test_a_key_keeps_its_place() -> None:
    fixed = meant({"color": "red", "shape_id": "s1", "x": 1})
    assert fixed is not None
    assert list(fixed) == ["color", "shapeId", "x"]
