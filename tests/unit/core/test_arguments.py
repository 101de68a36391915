"""Which arguments are accepted, and what a caller is told about those that are not."""

import time
from typing import Any

import pytest

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject
from pedelec.protocol import Limits
from pedelec_core.registry import Tool, ToolRegistry, parse_args
from pedelec_core.violations import MAX_VIOLATIONS
from tests.harness.tables import each_row


def tool(**schema: Any) -> Tool:
    manifest: JsonObject = {
        "name": "probe",
        "description": "Probes.",
        "argsSchema": {"type": "object", **schema},
    }
    return ToolRegistry.from_manifests([manifest]).get("probe")


def refusal(args: Any, **schema: Any) -> PedelecError:
    with pytest.raises(PedelecError) as caught:
        tool(**schema).validate(args)
    assert caught.value.code == Code.TOOL_ARGS_INVALID
    assert caught.value.effects == "none"
    return caught.value


def violations(args: Any, **schema: Any) -> list[dict[str, Any]]:
    details = refusal(args, **schema).details
    assert details is not None
    found: list[dict[str, Any]] = details["violations"]
    assert all(violation["message"] for violation in found)
    return found


def only(args: Any, **schema: Any) -> dict[str, Any]:
    (violation,) = violations(args, **schema)
    return violation


def parse_refusal(text: str, **limits: int) -> PedelecError:
    with pytest.raises(PedelecError) as caught:
        parse_args(text, Limits(**limits))
    assert caught.value.code == Code.TOOL_ARGS_INVALID
    assert caught.value.details is not None
    assert {"path", "message", "expected", "got"} <= set(caught.value.details["violations"][0])
    return caught.value


# --- from text -----------------------------------------------------------------------------------------


def test_arguments_are_read_as_they_are_written() -> None:
    text = ' {"a": [1, 2.5, -0.0, 1e3, true, null, "\\u00e9\\ud83d\\ude00"], "": {}} '
    assert parse_args(text, Limits()) == {"a": [1, 2.5, -0.0, 1000.0, True, None, "é😀"], "": {}}


@pytest.mark.parametrize("text", ["", " ", "{", "{a:1}", "{'a':1}", '{"a":1,}', "{}{}", "\ufeff{}"])
def test_what_is_no_json_is_refused_with_line_and_column(text: str) -> None:
    error = parse_refusal(text)
    assert error.details is not None
    (violation,) = error.details["violations"]
    assert violation["path"] == ""
    assert (violation["line"], violation["column"] > 0) == (1, True)
    assert "JSON" in error.message


def test_the_place_of_a_syntax_error_is_told() -> None:
    error = parse_refusal('{"a": 1,\n "b" 2}')
    assert "line 2, column 6" in error.message


@pytest.mark.parametrize(
    ("text", "name"), [("[]", "array"), ("null", "null"), ("5", "integer"), ('"{}"', "string")]
)
def test_what_is_no_object_is_refused(text: str, name: str) -> None:
    error = parse_refusal(text)
    assert error.details is not None
    assert error.details["violations"][0]["path"] == ""
    assert name in error.message


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a": 1, "a": 2}', ""),
        ('{"a": [9007199254740993]}', "/a/0"),
        ('{"a": "\\ud800"}', "/a"),
        ('{"a": 1e999}', "/a"),
        ('{"a":NaN}', "/a"),
    ],
)
def test_what_would_not_arrive_as_it_was_written_is_refused_with_its_path(text: str, path: str) -> None:
    error = parse_refusal(text)
    assert error.details is not None
    assert error.details["violations"][0]["path"].startswith(path)


def test_arguments_over_a_limit_are_refused() -> None:
    assert "14 bytes" in parse_refusal('{"a":"äää"}', max_args_bytes=13).message
    assert parse_args('{"a":"äää"}', Limits(max_args_bytes=14))
    deep = '{"a":' + "[" * 100 + "]" * 100 + "}"
    assert parse_args(deep.replace("[[", "[", 1).replace("]]", "]", 1), Limits())
    assert "100" in parse_refusal(deep).message
    assert "100" in parse_refusal("[" * 100_000).message


# --- against a schema ----------------------------------------------------------------------------------


def test_arguments_that_fit_pass() -> None:
    tool(properties={"x": {"type": "integer"}}).validate({"x": 1, "other": None})
    tool(properties={"x": {"type": "integer"}}).validate({"x": 1.0})


def test_every_violation_is_told_at_once_with_its_pointer() -> None:
    found = violations(
        {"depth": "2000", "o": {"b": [1, "x"]}, "a/b~c": 1},
        properties={
            "depth": {"type": "integer"},
            "o": {"properties": {"b": {"items": {"type": "integer"}}}},
            "a/b~c": {"type": "string"},
        },
        required=["depth", "gone"],
    )
    assert {violation["path"] for violation in found} == {"/depth", "/o/b/1", "/a~1b~0c", "/gone"}


def test_a_wrong_type_tells_what_is_expected_and_what_came() -> None:
    violation = only({"x": [1]}, properties={"x": {"type": ["string", "null"]}})
    assert (violation["expected"], violation["got"]) == ("string or null", "array [1]")


@pytest.mark.parametrize(
    ("text", "kind", "value"), [("12", "integer", 12), ("1.5", "number", 1.5), ("true", "boolean", True)]
)
def test_a_value_inside_quotation_marks_is_told_to_be_unquoted(text: str, kind: str, value: Any) -> None:
    assert only({"x": text}, properties={"x": {"type": kind}})["suggestion"] == value


@pytest.mark.parametrize("text", ["1e999", "NaN", "-", "9" * 30, "[" * 50])
def test_no_value_is_made_up_from_a_string_that_is_none(text: str) -> None:
    assert "suggestion" not in only({"x": text}, properties={"x": {"type": "number"}})


def test_a_missing_value_tells_what_it_must_be() -> None:
    violation = only({}, properties={"mode": {"enum": ["fast", "slow"]}}, required=["mode"])
    assert violation["path"] == "/mode"
    assert violation["expected"] == 'one of "fast", "slow"'
    assert violation["got"] == "nothing"


def test_a_misspelt_key_is_told_with_the_nearest_valid_one() -> None:
    error = refusal({"dpeth": 1}, properties={"depth": {}, "width": {}}, additionalProperties=False)
    assert "dpeth" in error.message
    assert "depth" in error.message
    assert error.details is not None
    assert error.details["violations"] == [
        {
            "path": "/dpeth",
            "message": '$.dpeth is not a known key: did you mean "depth"?',
            "expected": 'one of the keys "depth", "width"',
            "got": 'the key "dpeth"',
            "allowed": ["depth", "width"],
            "suggestion": "depth",
        }
    ]


def test_snake_case_and_camel_case_of_one_key_are_near() -> None:
    schema = {"properties": {"shapeId": {}}, "additionalProperties": False}
    assert only({"shape_id": 1}, **schema)["suggestion"] == "shapeId"


def test_an_unknown_key_of_a_referenced_schema_is_told_with_the_keys_declared_there() -> None:
    violation = only(
        {"p": {"alpa": 1}},
        **{"$defs": {"P": {"properties": {"alpha": {}}, "additionalProperties": False}}},
        properties={"p": {"$ref": "#/$defs/P"}},
    )
    assert (violation["path"], violation["suggestion"]) == ("/p/alpa", "alpha")


def test_an_option_that_is_none_is_told_with_the_options_and_the_nearest() -> None:
    violation = only({"mode": "fsat"}, properties={"mode": {"enum": ["fast", "slow", 3]}})
    assert violation["allowed"] == ["fast", "slow", 3]
    assert violation["suggestion"] == "fast"


def test_an_optional_value_of_the_wrong_type_names_all_types() -> None:
    schema = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert only({"x": []}, properties={"x": schema})["expected"] == "number or null"


def test_of_alternatives_the_one_with_the_right_tag_is_explained() -> None:
    def shape(kind: str, key: str) -> JsonObject:
        return {
            "type": "object",
            "properties": {"kind": {"const": kind}, key: {"type": "integer"}},
            "required": ["kind", key],
        }

    schema = {"oneOf": [shape("circle", "radius"), shape("square", "side"), {"type": "null"}]}
    violation = only({"s": {"kind": "square", "side": "1"}}, properties={"s": schema})
    assert violation["path"] == "/s/side"


def test_more_than_one_fitting_alternative_is_told_as_such() -> None:
    schema = {"oneOf": [{"type": "number"}, {"minimum": 1}]}
    assert "more than one" in only({"x": 3}, properties={"x": schema})["message"]


@each_row(
    ("schema", "value", "expected"),
    [
        ({"minimum": 1}, 0, "at least 1"),
        ({"exclusiveMinimum": 1}, 1, "more than 1"),
        ({"maximum": 1}, 2, "at most 1"),
        ({"exclusiveMaximum": 1}, 1, "less than 1"),
        ({"multipleOf": 3}, 4, "a multiple of 3"),
        ({"minLength": 2}, "x", "at least 2 characters long"),
        ({"maxLength": 2}, "xxx", "at most 2 characters long"),
        ({"minItems": 1}, [], "at least 1 item long"),
        ({"maxItems": 1}, [1, 2], "at most 1 item long"),
        ({"minProperties": 1}, {}, "an object of at least 1 key"),
        ({"maxProperties": 0}, {"a": 1}, "an object of at most 0 keys"),
        ({"pattern": "^a"}, "b", "text that matches ^a"),
        ({"uniqueItems": True}, [1, 1], "a list without equal items"),
        ({"const": "x"}, "y", '"x"'),
        ({"minimum": 0, "maximum": 9}, 10, "from 0 to 9"),
        ({"type": "integer", "minimum": 0, "maximum": 9}, "x", "integer from 0 to 9"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, 1, "string of 1 to 9 characters"),
        ({"contains": {"const": 1}}, [2], "an array with at least 1 item that is 1"),
        ({"contains": {"const": {"a": 1}}}, [2], 'an array with at least 1 item that is {"a":1}'),
        (
            {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
            ["a"],
            "an array with at least 2 and at most 3 items that are string",
        ),
        (
            {"contains": {"const": 1}, "minContains": 0, "maxContains": 1},
            [1, 1],
            "an array with at most 1 item that is 1",
        ),
        ({"not": {"type": "integer"}}, 1, "anything but integer"),
        ({"not": {"required": ["a"]}}, {"a": 1}, 'anything but what fits {"required":["a"]}'),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "a list without the items 2"),
        ({"oneOf": [{"minimum": 1}, {"type": "number"}]}, 2, "what fits just one of the alternatives"),
        (
            {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
            "x",
            "integer of at least 3 or null",
        ),
        (False, 1, "nothing"),
    ],
)
def test_each_bound_is_told_in_words(schema: Any, value: Any, expected: str) -> None:
    assert only({"v": value}, properties={"v": schema})["expected"] == expected


def test_a_key_that_is_none_of_those_allowed_is_told_with_their_form_or_names() -> None:
    forms = {"patternProperties": {"^S_": {}}, "additionalProperties": False}
    assert only({"T_a": 1}, **forms)["expected"] == "a key that matches ^S_"
    named = only({"v": {"ap": 1}}, properties={"v": {"propertyNames": {"enum": ["api", "web"]}}})
    assert (named["path"], named["suggestion"], named["allowed"]) == ("/v/ap", "api", ["api", "web"])
    parts = [{"properties": {"color": {}}}, {"$ref": "#/$defs/At"}]
    split = {"allOf": parts, "$defs": {"At": {"properties": {"x": {}}}}, "unevaluatedProperties": False}
    assert only({"colour": 1}, **split)["suggestion"] == "color"


def test_an_option_in_or_out_of_quotation_marks_is_the_same() -> None:
    assert only({"v": "2"}, properties={"v": {"enum": [1, 2]}})["suggestion"] == 2
    assert only({"v": 2}, properties={"v": {"enum": ["1", "2"]}})["suggestion"] == "2"


def test_no_value_is_suggested_that_would_be_refused_in_turn() -> None:
    assert "suggestion" not in only({"v": "12"}, properties={"v": {"type": "integer", "maximum": 10}})


def test_a_missing_value_is_told_with_the_undeclared_key_that_may_stand_for_it() -> None:
    fields = {"fileName": {"$ref": "#/$defs/Name"}}
    violation = only(
        {"filename": 1}, properties=fields, required=["fileName"], **{"$defs": {"Name": {"type": "string"}}}
    )
    assert (violation["path"], violation["expected"]) == ("/fileName", "string")
    assert 'the unknown key "filename" may be meant for it' in violation["message"]


def test_what_came_is_shown_short() -> None:
    def got(value: Any) -> str:
        text: str = only({"v": value}, properties={"v": {"const": 0}})["got"]
        return text

    assert got([1, "a"]) == 'array [1,"a"]'
    assert got(["x" * 100] * 3) == "array of 3 items"
    assert got({"a": [1]}) == "object of 1 key"
    assert got("x" * 5_000).startswith("string of 5000 characters")
    assert len(got("x" * 5_000)) < 100


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"contains": {"const": 1}},
        {"propertyNames": {"pattern": "^x"}},
        {"dependentRequired": {"k": ["l"]}},
        {"unevaluatedProperties": False},
        {"if": True, "then": False},
        {"allOf": [False]},
    ],
)
def test_every_other_keyword_is_told_with_its_path(schema: Any) -> None:
    value: Any = [2] if isinstance(schema, dict) and "contains" in schema else {"k": 1}
    found = violations({"v": value}, properties={"v": schema})
    assert all(violation["path"].startswith("/v") for violation in found)
    assert all(violation["expected"] and violation["got"] for violation in found)


def test_many_violations_are_cut_and_long_values_are_not_echoed() -> None:
    error = refusal({"v": ["x" * 1_000] * 1_000}, properties={"v": {"items": {"type": "integer"}}})
    assert error.details is not None
    assert len(error.details["violations"]) == MAX_VIOLATIONS
    assert len(str(error.to_wire())) < 50_000
    assert len(error.message) <= 2_000


@pytest.mark.parametrize(
    "schema",
    [
        {"required": [f"a{number}" for number in range(5_000)]},
        {"anyOf": [{"required": [f"a{number}"]} for number in range(1_000)]},
        {"properties": {"v": {"items": {"anyOf": [{"type": "integer"}] * 1_000}}}},
        {"properties": {"v": {"allOf": [{"minItems": 1_000_000}] * 1_000}}},
    ],
)
def test_what_would_take_too_much_memory_to_list_is_refused_without_a_list(schema: JsonObject) -> None:
    (violation,) = violations({"v": ["x" * 10] * 20_000}, **schema)
    assert violation["path"] == ""
    assert "too large to say where" in violation["message"]


def test_large_arguments_of_an_ordinary_tool_are_listed() -> None:
    properties = {f"p{number}": {"type": "string", "description": "A text."} for number in range(10)}
    found = violations({"p0": "x" * 300_000, "p1": 1, "p2": 2}, properties=properties)
    assert [violation["path"] for violation in found] == ["/p1", "/p2"]


def test_a_schema_that_refers_to_itself_is_harmless() -> None:
    recursive = tool(properties={"child": {"$ref": "#"}, "x": {"type": "integer"}}, **{"$ref": "#"})
    recursive.validate({"child": {"child": {}}})
    with pytest.raises(PedelecError, match=r"\$\.child\.child\.x"):
        recursive.validate({"child": {"child": {"x": "a"}}})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(a*)*b", r"^(a+)+\1$", "^(?=(a+)+$)b"])
def test_no_pattern_makes_core_hang(pattern: str) -> None:
    started = time.process_time()
    assert violations({"v": "a" * 2_000 + "!"}, properties={"v": {"pattern": pattern}})
    assert time.process_time() - started < 5


def test_an_older_draft_is_understood_where_the_schema_names_it() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"P": {"type": "string"}},
        "properties": {"p": {"$ref": "#/definitions/P"}},
    }
    assert only({"p": 1}, **schema)["path"] == "/p"
