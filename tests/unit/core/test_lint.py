"""The linter finds each kind of tool and error that leaves an agent without a next step."""

import re
from pathlib import Path
from typing import Any

import pytest

from pedelec import ToolError
from pedelec.json_text import JsonObject
from pedelec_core.lint import RULES, lint
from tests.harness.tables import each_row

GOOD_TOOL: JsonObject = {
    "name": "move_shapes",
    "description": "Moves shapes by an offset and returns where they are now.",
    "argsSchema": {
        "type": "object",
        "properties": {"ids": {"type": "array", "maxItems": 10, "items": {"type": "string"}}},
    },
    "readOnly": False,
}
GOOD_ERROR: JsonObject = {
    "error": {
        "code": "NO_SELECTION",
        "class": "userInput",
        "message": "No shape is selected on the board.",
        "recoverySteps": ["Ask the user to select a shape, then: move_shapes(ids=[])"],
    }
}
DOC = Path(__file__).parents[3] / "docs" / "designing-errors.md"


def found(*, tools: list[Any] | None = None, errors: list[Any] | None = None, **options: bool) -> Any:
    """Rule and place of each finding."""
    return [(each.rule.id, each.where) for each in lint(tools or [], errors or [], **options)]


def error(**changes: Any) -> JsonObject:
    envelope: Any = GOOD_ERROR["error"]
    return {"error": envelope | changes}


def test_good_tools_and_errors_are_let_be() -> None:
    made = ToolError.retryable("BUSY_BOARD", "The board is being saved.", after=2).to_wire()
    parts = {"completeness": "partial", "parts": {"a": []}, "errors": {"b": {"code": "X"}}}
    errors = [GOOD_ERROR, {"error": made}, parts, {"status": "open", "items": []}, [], None, 3]
    assert found(tools=[GOOD_TOOL], errors=errors, hints_stated=True) == []


@pytest.mark.parametrize(
    ("change", "rule", "where"),
    [
        ({"description": None}, "tool-description", "/tools/0"),
        ({"description": ""}, "tool-description", "/tools/0"),
        ({"description": "The tool move_shapes."}, "tool-description", "/tools/0/description"),
        ({"description": "Move shape"}, "tool-description", "/tools/0/description"),
        ({"name": "move shapes"}, "tool-refused", "/tools/0/name"),
        ({"argsSchema": {"type": "array"}}, "tool-refused", "/tools/0/argsSchema"),
        ({"readOnly": None}, "read-only-hint", "/tools/0"),
    ],
)
def test_each_rule_for_tools_can_be_broken(change: JsonObject, rule: str, where: str) -> None:
    broken = {key: value for key, value in (GOOD_TOOL | change).items() if value is not None}
    assert (rule, where) in found(tools=[broken], hints_stated=True)


@pytest.mark.parametrize(
    "message",
    [
        "Room 404 is locked by Ann.",
        "The booking code 415 is taken.",
        "The undefined term “x” is used in the formula object.",
        "The document is open in another tab.",
        "The start date is not defined yet.",
    ],
)
def test_ordinary_sentences_are_let_be(message: str) -> None:
    assert found(errors=[error(message=message)]) == []


@pytest.mark.parametrize(
    "step",
    [
        "Ask the user to check the settings under “Services”.",
        "View the source list: list_sources()",
        "Read the document: get_document()",
    ],
)
def test_steps_that_an_agent_can_take_are_let_be(step: str) -> None:
    assert found(errors=[error(recoverySteps=[step])]) == []


@pytest.mark.parametrize(
    "result",
    [
        {"status": "failed", "runs": [{"id": 1}]},
        {"errors": [{"line": 3}], "warnings": []},
        {"errors": [], "items": []},
        {"failed": 2, "passed": []},
    ],
)
def test_data_about_failures_is_no_failure(result: JsonObject) -> None:
    assert found(errors=[result]) == []


def test_a_tool_that_is_no_object_is_told() -> None:
    assert found(tools=[3]) == [("tool-refused", "/tools/0")]


def test_unbounded_arrays_are_found_wherever_they_are() -> None:
    schema: JsonObject = {
        "type": "object",
        "$defs": {"names": {"type": ["array", "null"]}},
        "properties": {
            "a/b": {"type": "array", "items": {"type": "array", "maxItems": 2}},
            "one": {"anyOf": [{"type": "string"}, {"type": "array"}]},
            "pair": {"type": "array", "prefixItems": [{}, {}], "items": False},
            "fixed": {"type": "array", "enum": [[1], [2]]},
        },
    }
    assert found(tools=[GOOD_TOOL | {"argsSchema": schema}]) == [
        ("array-bounds", "/tools/0/argsSchema/$defs/names"),
        ("array-bounds", "/tools/0/argsSchema/properties/a~1b"),
        ("array-bounds", "/tools/0/argsSchema/properties/one/anyOf/1"),
    ]


@pytest.mark.parametrize("name", ["list_shapes", "getShape", "Search", "read"])
def test_of_tools_whose_false_hints_are_left_out_those_that_sound_like_reading_are_asked(name: str) -> None:
    tool = {key: value for key, value in GOOD_TOOL.items() if key != "readOnly"}
    assert found(tools=[tool | {"name": name}]) == [("read-only-hint", "/tools/0")]
    assert found(tools=[tool, tool | {"name": "listen"}, tool | {"name": name, "readOnly": True}]) == []


@each_row(
    ("broken", "rule", "where"),
    [
        (error(message=" "), "vague-message", "/errors/0/error/message"),
        (error(message=None), "vague-message", "/errors/0/error/message"),
        (error(message="Something went wrong. Please try again later!"), "vague-message", "message"),
        (error(message="An unexpected error occurred"), "vague-message", "message"),
        (error(message="Not found."), "vague-message", "message"),
        (error(message="No selection"), "vague-message", "message"),
        (error(**{"class": None}), "missing-class", "/errors/0/error"),
        (error(**{"class": "temporary"}), "missing-class", "/errors/0/error"),
        (error(**{"class": "retryable"}), "retry-delay", "/errors/0/error"),
        (error(retryable=True), "retry-delay", "/errors/0/error"),
        (error(recoverySteps=["Wait.", "See the server logs."]), "developer-text", "recoverySteps/1"),
        (error(recoverySteps=["Check your input."]), "developer-text", "recoverySteps/0"),
        (error(message="The shape is locked, contact the administrator."), "developer-text", "message"),
        (error(message="The weather service answered with HTTP 503."), "raw-failure", "message"),
        (error(message="Request to weather failed: status code 404"), "raw-failure", "message"),
        (error(message="429 Too Many Requests"), "raw-failure", "message"),
        (error(message="KeyError: 'shape'"), "raw-failure", "message"),
        (error(message="undefined is not a function"), "raw-failure", "message"),
        (error(message="Cannot read properties of undefined (reading 'x')"), "raw-failure", "message"),
        (error(message="Error: 500"), "raw-failure", "message"),
        (error(message="The server returned 502"), "raw-failure", "message"),
        (error(message="connect ECONNREFUSED 127.0.0.1:3000"), "raw-failure", "message"),
        (error(message="Unexpected token < in JSON at position 0"), "raw-failure", "message"),
        (error(message="list index out of range"), "raw-failure", "message"),
        (error(message="undefined"), "vague-message", "message"),
        (error(message="An error occurred while processing your request."), "vague-message", "message"),
        (error(recoverySteps=["Please try again later."]), "developer-text", "recoverySteps/0"),
        (error(recoverySteps=["Refer to the documentation."]), "developer-text", "recoverySteps/0"),
        (error(recoverySteps=["Verify the parameters."]), "developer-text", "recoverySteps/0"),
        (error(recoverySteps=["Set the API_KEY environment variable."]), "developer-text", "recoverySteps/0"),
        (error(reason="ConnectionError"), "raw-failure", "/errors/0/error/reason"),
        (error(options=[{"value": n} for n in range(11)]), "too-many-options", "/errors/0/error/options"),
        (error(options=[1], details={"leftOut": {"options": 10}}), "too-many-options", "options"),
        ({"items": [], **GOOD_ERROR}, "success-shaped-failure", "/errors/0"),
        ({"items": [], "error": "The board is locked by Ann."}, "success-shaped-failure", "/errors/0"),
        ({"error": "The board is locked by Ann."}, "success-shaped-failure", "/errors/0"),
        ({"ok": False, "reason": "The board is locked."}, "success-shaped-failure", "/errors/0"),
        ({"success": False}, "success-shaped-failure", "/errors/0"),
        ({"isError": True, "content": []}, "success-shaped-failure", "/errors/0"),
        ({"items": [], "errorMessage": "The board is locked."}, "success-shaped-failure", "/errors/0"),
        ({"status": "error", "data": None}, "success-shaped-failure", "/errors/0"),
        ({"errors": ["The board is locked."], "items": []}, "success-shaped-failure", "/errors/0"),
    ],
)
def test_each_rule_for_errors_can_be_broken(broken: JsonObject, rule: str, where: str) -> None:
    ((told, place),) = found(errors=[broken])
    assert (told, place.endswith(where)) == (rule, True)


def test_an_exception_that_nobody_caught_is_passed_on_as_it_is() -> None:
    raised = {"code": "TOOL_HANDLER_ERROR", "class": "permanent", "message": "ValueError: broken"}
    assert found(errors=[{"error": raised}]) == [("raw-failure", "/errors/0/error/message")]


def test_the_errors_of_the_kit_are_good_ones() -> None:
    made = [
        ToolError.not_configured("the weather key", "Enter it under Settings."),
        ToolError.user_input("WHICH", "Two shapes fit.", options=[{"label": "a", "value": "1"}]),
        ToolError.permanent("LOCKED", "Ann has locked the board."),
    ]
    assert found(errors=[{"error": each.to_wire()} for each in made]) == []


def test_every_rule_says_why_it_is_there_and_what_to_do() -> None:
    for rule in RULES:
        assert rule.why.endswith(".")
        assert rule.fix.endswith((".", "”"))
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_the_rules_stand_in_the_documentation_word_for_word() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| (.*) \| (.*) \|$", DOC.read_text(), re.MULTILINE)
    assert rows == [(rule.id, rule.severity.value, rule.why, rule.fix) for rule in RULES]
