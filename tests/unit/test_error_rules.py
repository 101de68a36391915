"""The rules that every test holds the product's errors to can tell good from bad."""

from typing import Any

import pytest

from pedelec import PedelecError, ToolError
from tests.harness.error_rules import broken_rules, commands_told_over_mcp, record_mcp, recording

GOOD: dict[str, Any] = {
    "code": "X",
    "class": "retryable",
    "message": "m",
    "retryAfterSeconds": 1,
    "recoverySteps": ["s"],
}


def test_a_proper_error_breaks_no_rule() -> None:
    assert broken_rules(GOOD) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"code": ""}, "has a code"),
        ({"class": "banana"}, "has a class"),
        ({"message": " "}, "has a message"),
        ({"effects": "some"}, "has effects that there are"),
        ({"errorType": "odd"}, "has a type that there is"),
        ({"details": {"x": "y" * 9_000}}, "is small"),
        ({"recoverySteps": [" "]}, "has no blank step"),
        ({"message": 'File "app.py", line 3, in handler'}, "has no stack"),
        ({"message": "at handler (app.js:3:14)"}, "has no stack"),
        ({"details": {"at": "/home/someone/app.py"}}, "has no path"),
        ({"message": "https://user:pw@host.example/"}, "has no secret"),
    ],
)
def test_each_rule_can_be_broken(change: dict[str, Any], rule: str) -> None:
    assert broken_rules(GOOD | change) == [rule]


def test_a_delay_and_the_order_of_keys_are_rules() -> None:
    late = {key: GOOD[key] for key in ("code", "class", "message")}
    assert broken_rules(late) == ["has a delay where it is retryable"]
    assert broken_rules(dict(reversed(GOOD.items()))) == ["has its keys in order"]


def test_an_mcp_client_must_not_be_told_commands() -> None:
    fine = {"code": "TOOL_TIMEOUT", "class": "permanent", "recoverySteps": ["page_tools_list()"]}
    bad = fine | {"recoverySteps": ["List the tools: pedelec-cli tool-list"]}
    with recording() as made:
        record_mcp({"error": fine})
        assert commands_told_over_mcp() == []
        record_mcp({"error": bad})
        record_mcp(data={"uri": "x", "error": bad})
        record_mcp(data=bad)
        record_mcp({"error": {"code": "MINE", "message": "of a page: pedelec-cli"}})
        assert commands_told_over_mcp() == [bad, bad, bad]
        assert made == [fine, bad, bad, bad]


def test_errors_are_recorded_wherever_they_become_envelopes() -> None:
    with recording() as made:
        ToolError("MINE", "m").to_wire()
        PedelecError("OTHER", "m").to_wire()
        assert [envelope["code"] for envelope in made] == ["MINE", "OTHER"]
