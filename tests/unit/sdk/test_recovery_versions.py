"""A call for another version, or for a page that has changed, is told what holds now."""

import json
from typing import Any

import pytest

from pedelec import ToolError, define_tool
from pedelec.recovery import require_version, stale_call
from tests.unit.sdk.scripted_core import ScriptedCore, answer_of, open_session


def test_the_current_version_goes_on() -> None:
    require_version(7, 7)
    require_version("a", "a")
    require_version(7.0, 7)


@pytest.mark.parametrize("expected", [6, "7", None, True])
def test_any_other_version_is_a_conflict(expected: Any) -> None:
    with pytest.raises(ToolError) as caught:
        require_version(expected, 7, what="the document")
    error = caught.value
    assert (error.code, error.error_class, error.effects) == ("VERSION_CONFLICT", "permanent", "none")
    assert error.details is not None
    assert error.details["current"] == 7
    assert "7" in error.message


@pytest.mark.parametrize(("expected", "actual"), [(True, 1), ("1", 1), (1, "1")])
def test_a_version_of_another_type_is_a_conflict_that_says_so(expected: Any, actual: Any) -> None:
    with pytest.raises(ToolError) as caught:
        require_version(expected, actual)
    assert json.dumps(actual) in caught.value.message
    if str(expected) == str(actual):
        assert "of another type" in caught.value.message


async def test_the_steps_read_first_and_then_name_the_call_for_the_current_version() -> None:
    def handler(args: Any) -> None:
        require_version(args["version"], 7, what="the document", read="get_document")

    envelope = (await answer_of(handler, {"text": "new", "version": 3}))["error"]
    assert envelope["message"] == "The document is at version 7, and the call was for 3. Nothing was done."
    assert envelope["recoverySteps"] == [
        "Read the document anew: get_document()",
        'If the change still makes sense, make it with: probe_tool(text="new", version=7)',
    ]


async def test_a_call_without_a_version_can_be_told_which_argument_it_is() -> None:
    def handler(args: Any) -> None:
        require_version(args.get("version"), 7, argument="version", read='get("doc")')

    envelope = (await answer_of(handler, {"text": "new"}))["error"]
    assert envelope["recoverySteps"] == [
        'Read this anew: get("doc")',
        'If the change still makes sense, make it with: probe_tool(text="new", version=7)',
    ]


async def test_a_stale_call_is_followed_by_a_look_and_no_repeat() -> None:
    core = ScriptedCore()
    schema: dict[str, Any] = {"type": "object"}
    tools = (
        define_tool(
            name="press",
            description="P.",
            args_schema=schema,
            handler=lambda: stale_call("the dialog was closed"),
        ),
        define_tool(name="look", description="L.", args_schema=schema, read_only=True, handler=dict),
    )
    await open_session(core, tools=tools)
    envelope = (await core.call("press"))["error"]
    assert envelope["code"] == "STALE_CALL"
    assert "the dialog was closed" in envelope["message"]
    assert envelope["recoverySteps"] == [
        "Look again: look()",
        "Then decide anew; do not repeat the same call.",
    ]
