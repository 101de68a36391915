"""Schemas that are made to cost too much: refused before the validator sees them, and the others are not."""

import time
from typing import Any

import pytest

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject
from pedelec_core.registry import Tool, ToolRegistry


def tool(**schema: Any) -> Tool:
    manifest: JsonObject = {
        "name": "probe",
        "description": "Probe.",
        "argsSchema": {"type": "object", **schema},
    }
    return ToolRegistry.from_manifests([manifest]).get("probe")


def refusal(**schema: Any) -> str:
    with pytest.raises(PedelecError) as caught:
        tool(**schema)
    assert caught.value.code == Code.INVALID_INPUT
    assert caught.value.details is not None
    assert caught.value.details["field"] == "argsSchema"
    return caught.value.message


def fan_out(levels: int) -> JsonObject:
    """Each level refers twice to the next: twice as many parts with each."""
    twice: JsonObject = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**twice, f"a{levels}": {}}, "$ref": "#/$defs/a0"}


def nested_leftovers(levels: int) -> JsonObject:
    schema: JsonObject = {}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


def chain_of_references(length: int) -> JsonObject:
    links: JsonObject = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(length)}
    return {"$defs": {**links, f"a{length}": {}}, "$ref": "#/$defs/a0"}


BOMBS: dict[str, tuple[JsonObject, str]] = {
    "references that fan out": (fan_out(30), "as often as references lead to it"),
    "leftovers of leftovers": (nested_leftovers(40), "as often as references lead to it"),
    "a chain of references": (chain_of_references(1_500), "references in a row"),
    "many patterns": ({"properties": {f"p{n}": {"pattern": f"{n}"} for n in range(101)}}, "100 patterns"),
    "many keys by pattern": ({"patternProperties": {f"p{n}": {} for n in range(101)}}, "100 patterns"),
    "a pattern that grows": ({"properties": {"a": {"pattern": r"(\p{L}{1,99}x){1,9}y\p{L}{1,99}"}}}, "valid"),
    "a remote reference": ({"properties": {"a": {"$ref": "http://127.0.0.1:9/a.json"}}}, "own parts"),
    "a file": ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "own parts"),
    "a remote dynamic reference": ({"$dynamicRef": "http://127.0.0.1:9/a.json#x"}, "own parts"),
    "a remote dialect": ({"$schema": "http://127.0.0.1:9/dialect"}, "valid"),
    "a reference to nowhere": ({"$ref": "#/$defs/nope"}, "own parts"),
    "an anchor that is not there": ({"$ref": "#nope"}, "own parts"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_schema_that_costs_too_much_is_refused_at_once(name: str) -> None:
    schema, reason = BOMBS[name]
    began = time.process_time()
    assert reason in refusal(**schema)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}}},
        {"properties": {"a": {"$id": "T0", "properties": {"b": {"$ref": "T0"}}}}},
        {"$defs": {"x": {"$anchor": "here", "type": "object"}}, "properties": {"a": {"$ref": "#here"}}},
        {"$defs": {"a/b~c d": {"type": "object"}}, "properties": {"a": {"$ref": "#/$defs/a~1b~0c%20d"}}},
        {"$dynamicAnchor": "node", "properties": {"a": {"$dynamicRef": "#node"}}},
        fan_out(8),
        chain_of_references(50),
    ],
)
def test_references_within_a_schema_are_followed(schema: JsonObject) -> None:
    made = tool(**schema)
    made.validate({"a": {"b": {}}})


def test_recursion_holds_at_every_depth() -> None:
    tree = tool(properties={"n": {"type": "integer"}, "a": {"$ref": "#"}}, required=["n"])
    args: JsonObject = {"n": 1}
    for _ in range(90):
        args = {"n": 1, "a": args}
    tree.validate(args)
    args["a"] = {"n": "x"}
    with pytest.raises(PedelecError, match=r"\$\.a\.n must be integer"):
        tree.validate(args)


def test_faults_that_multiply_on_the_way_down_are_not_listed() -> None:
    branch = {"properties": {"a": {"$ref": "#/$defs/s"}}}
    bomb = tool(
        **{"$defs": {"s": {"type": "object", "anyOf": [branch, branch, branch]}}, "$ref": "#/$defs/s"}
    )
    args: JsonObject = {"a": 1}
    for _ in range(90):
        args = {"a": args}
    began = time.process_time()
    with pytest.raises(PedelecError, match="too large to say where"):
        bomb.validate(args)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "pattern", ["(?=a*b)c", "(?!a*b)c", "(?<=a)a*c", "(?=(a|b)*c)a", r"(a*)\1b", "(?=(a+)+$)b"]
)
def test_a_pattern_that_looks_around_is_not_tried_on_long_text(pattern: str) -> None:
    made = tool(properties={"a": {"pattern": pattern}})
    began = time.process_time()
    with pytest.raises(PedelecError, match="texts too long"):
        made.validate({"a": "a" * 500_000})
    with pytest.raises(PedelecError, match="texts too long"):
        made.validate({"a": "a" * 20_000})
    made.validate({"b": "a" * 500_000})
    with pytest.raises(PedelecError, match=r"\$\.a (must be text that matches|is refused)"):
        made.validate({"a": "a" * 1_000})
    assert time.process_time() - began < 2


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_patterns_that_are_catastrophic_elsewhere_take_no_time_here(pattern: str) -> None:
    made = tool(properties={"a": {"pattern": pattern}})
    began = time.process_time()
    with pytest.raises(PedelecError):
        made.validate({"a": "a" * 500_000 + "!"})
    assert time.process_time() - began < 2


def test_patterns_with_many_repetitions_are_not_tried_on_long_text() -> None:
    made = tool(properties={"a": {"pattern": "(a?){500}(aa?){500}b"}, "b": {"pattern": "^[a-z]{1,50}"}})
    began = time.process_time()
    with pytest.raises(PedelecError, match="texts too long"):
        made.validate({"a": "a" * 100_000})
    made.validate({"b": "a" * 500_000})
    assert time.process_time() - began < 2


def test_a_usual_password_pattern_goes_on_to_work() -> None:
    made = tool(properties={"p": {"pattern": r"^(?=.*[A-Z])(?=.*\d).{8,}$"}})
    made.validate({"p": "Secret-123"})
    with pytest.raises(PedelecError, match="must be text that matches"):
        made.validate({"p": "secret"})


def test_many_values_against_many_alternatives_are_refused_or_checked_soon() -> None:
    made = tool(properties={"a": {"items": {"anyOf": [{"type": "string"}] * 2_000 + [{"type": "integer"}]}}})
    began = time.process_time()
    made.validate({"a": list(range(5_000))})
    with pytest.raises(PedelecError, match="too large"):
        made.validate({"a": list(range(101_000))})
    assert time.process_time() - began < 4
