"""Tool definitions: what is checked, and when."""

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import pytest

import pedelec
from pedelec import PedelecError, ToolDefinition, define_tool, defineTool, tool
from pedelec.json_text import encode_value
from pedelec.tools import check_guidance, check_tools
from pedelec.wire_fields import to_camel
from tests.harness.tables import each_row

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
GOOD: dict[str, Any] = {"name": "good", "description": "Does good.", "args_schema": SCHEMA}


def refusal(call: Any, *args: Any, **kwargs: Any) -> PedelecError:
    with pytest.raises(PedelecError) as caught:
        call(*args, **kwargs)
    assert caught.value.code == "INVALID_INPUT"
    return caught.value


FAULTS: list[tuple[str, Any]] = [
    ("name", ""),
    ("name", "9lives"),
    ("name", "a b"),
    ("name", "a" * 129),
    ("name", "a\n"),
    ("name", None),
    ("name", "é"),
    ("description", ""),
    ("description", " \n"),
    ("description", None),
    ("description", "\ud800"),
    ("args_schema", None),
    ("args_schema", []),
    ("args_schema", {}),
    ("args_schema", {"type": "array"}),
    ("args_schema", {"type": "object", "default": math.nan}),
    ("args_schema", {"type": "object", "enum": [{1}]}),
    ("timeout_ms", 0),
    ("timeout_ms", -1),
    ("timeout_ms", True),
    ("timeout_ms", 1.5),
    ("timeout_ms", "100"),
    ("timeout_ms", 24 * 60 * 60 * 1000 + 1),
    ("handler", 5),
    ("handler", lambda a, b, c: None),
    ("title", " "),
    ("title", 5),
    ("title", "\ud800"),
    ("title", "x" * 201),
    ("result_schema", True),
    ("result_schema", []),
    ("result_schema", {"enum": [{1}]}),
    ("result_schema", {"default": math.nan}),
    ("read_only", "yes"),
    ("idempotent", None),
    ("exclusive", 1),
    ("untrusted_content", "true"),
    ("consequential", 0),
]


@each_row(("field", "value"), FAULTS)
def test_a_fault_is_refused_at_once_naming_tool_and_field(field: str, value: Any) -> None:
    fields = {**GOOD, field: value}
    error = refusal(define_tool, **fields)
    assert error.details is not None
    assert error.details["field"] == field
    assert field in error.message
    if field != "name":
        assert error.details["tool"] == "good"
        assert "good" in error.message


@each_row(("field", "value"), FAULTS)
def test_what_was_not_checked_before_is_checked_with_the_session(field: str, value: Any) -> None:
    error = refusal(
        check_tools, [define_tool(**{**GOOD, "name": "other"}), ToolDefinition(**{**GOOD, field: value})]
    )
    assert error.details is not None
    assert (error.details["index"], error.details["field"]) == (1, field)


@pytest.mark.parametrize("name", ["a", "A9_.-", "a" * 128, "constructor", "toString"])
def test_good_names_pass(name: str) -> None:
    assert define_tool(**{**GOOD, "name": name}).name == name


def test_a_duplicate_name_is_refused() -> None:
    error = refusal(check_tools, [define_tool(**GOOD), define_tool(**GOOD)])
    assert error.details == {"tool": "good", "index": 1, "field": "name"}


@pytest.mark.parametrize("tools", [None, "good", 5, {"name": "x"}, [5], [None], [lambda: 1]])
def test_what_is_no_list_of_tools_is_refused(tools: Any) -> None:
    refusal(check_tools, tools)


def test_a_mapping_is_a_definition_in_either_spelling() -> None:
    camel = {"name": "a", "description": "A.", "argsSchema": SCHEMA, "timeoutMs": 5, "readOnly": True}
    snake = {"name": "b", "description": "B.", "args_schema": SCHEMA, "handler": lambda: 1}
    checked = check_tools([camel, snake])
    assert checked.manifests[0] == camel
    assert checked.handlers["b"]({}, None) == 1
    error = refusal(check_tools, [{**camel, "input": {}}])
    assert error.details == {"tool": "a", "index": 0, "field": "input"}


def test_the_manifest_holds_what_core_needs_and_no_hint_that_does_not_hold() -> None:
    plain = define_tool(**GOOD, handler=lambda: 1)
    assert plain.to_wire() == {"name": "good", "description": "Does good.", "argsSchema": SCHEMA}
    full = define_tool(
        **GOOD,
        title="Good",
        result_schema={"type": "integer"},
        timeout_ms=1,
        read_only=True,
        idempotent=True,
        exclusive=True,
        untrusted_content=True,
        consequential=True,
    )
    assert encode_value(full.to_wire()) == (
        '{"name":"good","description":"Does good.",'
        '"argsSchema":{"type":"object","properties":{"a":{"type":"integer"}}},'
        '"title":"Good","resultSchema":{"type":"integer"},"timeoutMs":1,'
        '"readOnly":true,"idempotent":true,"exclusive":true,"untrustedContent":true,"consequential":true}'
    )


def test_the_loader_passes_on_every_field_of_a_manifest() -> None:
    loader = (Path(pedelec.__file__).parent / "static" / "pedelec.js").read_text()
    listed = re.search(r"const TOOL_FIELDS = \[(.*?)\];", loader, re.DOTALL)
    assert listed is not None
    fields = {to_camel(field.name) for field in dataclasses.fields(ToolDefinition)} - {"handler"}
    assert set(re.findall(r'"(\w+)"', listed[1])) == fields | {"input"}


def test_the_schema_is_copied_at_once() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": [1]}}}
    definition = define_tool(name="a", description="A.", args_schema=schema)
    result_schema: dict[str, Any] = {"enum": [1]}
    other = define_tool(name="b", description="B.", args_schema=schema, result_schema=result_schema)
    result_schema["enum"].append({1, 2})
    assert other.result_schema == {"enum": [1]}
    schema["properties"]["a"]["enum"].append({1, 2})
    assert definition.args_schema == {"type": "object", "properties": {"a": {"enum": [1]}}}
    manifest = check_tools([definition]).manifests[0]
    definition.args_schema["type"] = "array"
    assert manifest["argsSchema"] == {"type": "object", "properties": {"a": {"enum": [1]}}}


def test_guidance_is_a_string() -> None:
    assert check_guidance("") == ""
    for guidance in (None, 5, b"x", "\ud800"):
        assert refusal(check_guidance, guidance).details == {"field": "guidance"}


def test_the_camel_case_name_is_the_same_function() -> None:
    assert defineTool is define_tool


def test_a_typed_tool_is_a_definition() -> None:
    @tool
    def nothing() -> None:
        """Does nothing."""

    assert check_tools([nothing]).manifests == [
        {
            "name": "nothing",
            "description": "Does nothing.",
            "argsSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        }
    ]
