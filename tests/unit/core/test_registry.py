"""What Core accepts as a tool, and what it says about one that is not there."""

from pathlib import Path
from typing import Any

import pytest

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS, TOOL_HINTS
from pedelec.wire_fields import to_camel
from pedelec_core.limits import OfferLimits
from pedelec_core.near_misses import SIMILARITY
from pedelec_core.registry import ToolRegistry
from tests.harness.tables import each_row

LIMITS = OfferLimits()


def manifest(**fields: Any) -> JsonObject:
    return {"name": "move_shape", "description": "Moves.", "argsSchema": {"type": "object"}, **fields}


def refusal(*manifests: JsonObject) -> PedelecError:
    with pytest.raises(PedelecError) as caught:
        ToolRegistry.from_manifests(list(manifests))
    assert caught.value.code == Code.INVALID_INPUT
    return caught.value


def nested(depth: int) -> JsonObject:
    schema: JsonObject = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "not": schema}
    return schema


def test_a_tool_is_told_again_as_it_was_declared() -> None:
    declared = manifest(
        timeoutMs=5,
        title="Move",
        resultSchema={"type": "integer"},
        **{to_camel(hint): True for hint in TOOL_HINTS},
    )
    registry = ToolRegistry.from_manifests([declared])
    assert registry.get("move_shape").to_wire() == declared


def test_hints_that_do_not_hold_and_unknown_fields_are_left_out() -> None:
    registry = ToolRegistry.from_manifests([manifest(idempotent=False, timeoutMs=None, colour="red")])
    assert registry.get("move_shape").to_wire() == manifest()


def test_names_keep_the_order_of_declaration() -> None:
    registry = ToolRegistry.from_manifests([manifest(name=name) for name in ("b", "a", "c")])
    assert registry.names() == ["b", "a", "c"]


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "a.b-c_d", "x" * 128])
def test_any_name_of_the_pattern_is_an_ordinary_name(name: str) -> None:
    if name.startswith("_"):
        assert refusal(manifest(name=name)).details is not None
    else:
        assert ToolRegistry.from_manifests([manifest(name=name)]).get(name).name == name


@each_row(
    ("field", "value"),
    [
        ("name", ""),
        ("name", 5),
        ("name", None),
        ("name", "1st"),
        ("name", "spaced out"),
        ("name", "line\n"),
        ("name", "x" * 129),
        ("name", "größe"),
        ("description", ""),
        ("description", " \n"),
        ("description", None),
        ("description", "x" * 10_000),
        ("description", "half a \ud83d"),
        ("argsSchema", None),
        ("argsSchema", True),
        ("argsSchema", {}),
        ("argsSchema", {"type": "array"}),
        ("argsSchema", {"type": ["object"]}),
        ("argsSchema", {"type": "object", "properties": 3}),
        ("argsSchema", {"type": "object", "required": "x"}),
        ("argsSchema", {"type": "object", "properties": {"a": {"pattern": "("}}}),
        ("argsSchema", {"type": "object", "$ref": "#/$defs/nowhere"}),
        ("argsSchema", {"type": "object", "$ref": "http://example.com/schema"}),
        ("argsSchema", {"type": "object", "$ref": "file:///etc/hostname"}),
        ("argsSchema", {"type": "object", "$schema": "http://example.com/unknown"}),
        ("argsSchema", {"type": "object", "description": "x" * LIMITS.schema_bytes}),
        ("argsSchema", nested(100)),
        ("argsSchema", nested(5_000)),
        ("argsSchema", {"type": "object", "title": "half a \ud83d"}),
        ("argsSchema", {"type": "object", "minProperties": float("inf")}),
        ("argsSchema", {"type": "object", "maxProperties": float("nan")}),
        ("argsSchema", {"type": "object", "maxProperties": 10**400}),
        ("title", ""),
        ("title", 3),
        ("title", "half a \ud83d"),
        ("title", "x" * 201),
        ("resultSchema", True),
        ("resultSchema", {"type": "nothing"}),
        ("resultSchema", {"$ref": "http://example.com/schema"}),
        ("timeoutMs", 0),
        ("timeoutMs", -1),
        ("timeoutMs", 1.5),
        ("timeoutMs", True),
        ("timeoutMs", "5"),
        ("timeoutMs", MAX_TOOL_TIMEOUT_MS + 1),
        ("readOnly", 1),
        ("idempotent", "yes"),
        ("exclusive", None),
        ("untrustedContent", 0),
        ("consequential", "true"),
    ],
)
def test_a_bad_manifest_is_refused_with_its_tool_and_field(field: str, value: Any) -> None:
    error = refusal(manifest(name="fine"), manifest(**{field: value}))
    assert error.details is not None
    assert error.details["index"] == 1
    assert error.details["field"] == field
    assert field in error.message
    assert field == "name" or "move_shape" in error.message


def test_a_name_declared_twice_is_refused() -> None:
    error = refusal(manifest(), manifest())
    assert error.details == {"tool": "move_shape", "index": 1, "field": "name"}


def test_names_that_are_taken_already_are_refused_as_if_declared_twice() -> None:
    with pytest.raises(PedelecError) as caught:
        ToolRegistry.from_manifests([manifest(name="zoom"), manifest()], taken=["move_shape"])
    assert caught.value.details == {"tool": "move_shape", "index": 1, "field": "name"}
    with pytest.raises(PedelecError, match="these are 257"):
        ToolRegistry.from_manifests([manifest()], taken=[f"t{number}" for number in range(256)])


def test_there_is_a_limit_to_the_number_of_tools() -> None:
    most = [manifest(name=f"t{number}") for number in range(LIMITS.tools_per_session)]
    assert len(ToolRegistry.from_manifests(most).names()) == LIMITS.tools_per_session
    assert str(LIMITS.tools_per_session) in refusal(*most, manifest()).message


def test_a_session_may_offer_no_tools() -> None:
    registry = ToolRegistry.from_manifests([])
    with pytest.raises(PedelecError, match="offers no tools") as caught:
        registry.get("anything")
    assert caught.value.suggestions == []


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("get_wether", "get_weather"),
        ("getWeather", "get_weather"),
        ("GET-WEATHER", "get_weather"),
        ("weather", "get_weather"),
        ("moveshape", "move_shape"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(asked: str, meant: str) -> None:
    registry = ToolRegistry.from_manifests(
        [manifest(name=name) for name in ("get_weather", "move_shape", "zoom", "undo")]
    )
    with pytest.raises(PedelecError, match=meant) as caught:
        registry.get(asked)
    assert caught.value.code == Code.TOOL_NOT_FOUND
    assert caught.value.suggestions[0] == meant
    assert any("tool-list" in step for step in caught.value.to_wire()["recoverySteps"])


def test_a_name_like_no_other_is_answered_with_the_first_ten() -> None:
    registry = ToolRegistry.from_manifests([manifest(name=f"tool{number}") for number in range(25)])
    with pytest.raises(PedelecError, match="and 15 more") as caught:
        registry.get("QQQ")
    assert caught.value.suggestions == [f"tool{number}" for number in range(10)]


@pytest.mark.parametrize("asked", ["", "x" * 100_000, "\ud800", "tool\x00", "../tool"])
def test_any_text_may_be_asked_for(asked: str) -> None:
    registry = ToolRegistry.from_manifests([manifest()])
    with pytest.raises(PedelecError) as caught:
        registry.get(asked)
    assert len(caught.value.message) < 1_000


def test_the_page_of_errors_states_how_similar_the_nearest_name_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "errors.md").read_text()
    assert f"at least {SIMILARITY:g} % of its letters" in page
