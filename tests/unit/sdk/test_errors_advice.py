"""An error that reaches an agent names the next call, with the arguments of the call that failed."""

from typing import Any

import pytest

from pedelec import Code, PedelecError, ToolError, define_tool
from pedelec.advice import advise
from pedelec.call_text import MAX_CALL_CHARS, CallFacts, best_reader, render_call
from tests.literal_agent.calls import parse_call
from tests.unit.sdk.scripted_core import ScriptedCore, open_session

ARGS = {"shapeId": "s1", "x": 120, "y": 80}
CALL = CallFacts(tool="move_shape", args=ARGS)
CALL_TEXT = 'move_shape(shapeId="s1", x=120, y=80)'


def steps(error: PedelecError, call: CallFacts = CALL) -> list[str]:
    told: list[str] = advise(error, call).get("recoverySteps", [])
    return told


# --- calls written out ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (ARGS, CALL_TEXT),
        ({}, "move_shape()"),
        ({"a b": 1, "c": [True, None, {"d": "ä"}]}, 'move_shape({"a b": 1, "c": [true, null, {"d": "ä"}]})'),
        ({"text": 'say "hi"'}, 'move_shape(text="say \\"hi\\"")'),
        ({"text": "a\u202eb\nc\x7f"}, 'move_shape(text="a\\u202eb\\nc\\u007f")'),
        ({"text": "x" * MAX_CALL_CHARS}, None),
        ({"text": "\ud800"}, None),
        ({"n": float("nan")}, None),
    ],
)
def test_a_call_is_written_out(args: dict[str, Any], text: str | None) -> None:
    assert render_call("move_shape", args) == text


def test_a_call_comes_through_as_it_was_made_whatever_characters_it_holds() -> None:
    args = {"text": "a\u202eb\u2066\x00\u2028“é”", "n": [{"deep": "\ufeff"}]}
    told = advise(PedelecError(Code.TOOL_BUSY, details={"count": 1}), CallFacts(tool="t", args=args))
    (step,) = PedelecError.from_wire(told).to_wire()["recoverySteps"]
    assert parse_call(step.partition("call: ")[2]).args == args


def test_a_call_that_is_too_long_is_told_in_words() -> None:
    call = CallFacts(tool="note", args={"text": "x" * 500, "at": 1})
    assert call.text() == "note with the same arguments"
    assert call.text({"at": 2}) == "note with the same arguments, but at=2"
    assert CallFacts(tool="note").text() == "note with the same arguments"


def test_a_corrected_call_that_is_too_long_leaves_out_what_was_right() -> None:
    call = CallFacts(tool="note", args={"txt": "x" * 500, "to": "a", "at": "1"})
    fixed = {"text": "x" * 500, "to": "a", "at": 1}
    assert call.corrected(fixed) == "note(text=<what you sent as txt>, to=<as you sent it>, at=1)"
    assert call.corrected({"text": "a", "at": 1}) == 'note(text="a", at=1)'


def test_corrected_arguments_that_do_not_fit_whole_are_left_out() -> None:
    rows = [f"row {number} " + "x" * 60 for number in range(300)]
    for fixed, is_told in (({"rows": rows[:3]}, True), ({"rows": rows}, False)):
        error = PedelecError(Code.TOOL_ARGS_INVALID, "x", details={"correctedArgs": fixed})
        told = advise(error, CallFacts(tool="note", args={"rosw": fixed["rows"]}))
        assert ("correctedArgs" in told["details"]) is is_told
        assert told["recoverySteps"][0].endswith("note(rows=<what you sent as rosw>)")


def test_a_value_without_json_is_no_obstacle_to_telling_the_call() -> None:
    call = CallFacts(tool="note", args={"at": 1})
    assert call.text({"at": object()}) == "note with the same arguments, but at=<its value>"


def test_the_argument_that_holds_a_value_is_found_only_where_it_is_the_only_one() -> None:
    call = CallFacts(tool="t", args={"a": 1, "b": True, "c": "x", "d": "x"})
    assert call.argument_holding(1) == "a"
    assert call.argument_holding(True) == "b"
    assert call.argument_holding("x") is None
    assert call.argument_holding("y") is None


def manifest(name: str, *required: str, read_only: bool = True) -> dict[str, Any]:
    return {"name": name, "readOnly": read_only, "argsSchema": {"type": "object", "required": list(required)}}


def test_the_reader_is_read_only_needs_no_arguments_and_speaks_of_the_same_things() -> None:
    manifests = [
        manifest("get_selection"),
        manifest("list_shapes"),
        manifest("get_shape", "shapeId"),
        manifest("delete_shapes", read_only=False),
    ]
    assert best_reader("move_shape", manifests) == "list_shapes"
    assert best_reader("zoom", manifests) == "get_selection"
    assert best_reader("list_shapes", manifests[1:2]) is None


# --- steps ----------------------------------------------------------------------------------------------


def test_steps_of_the_error_itself_stay_as_they_are() -> None:
    assert steps(ToolError.retryable("X", "x", after=1, recovery_steps=["Do this."])) == ["Do this."]


def test_a_retryable_error_says_when_to_make_which_call() -> None:
    assert steps(ToolError.retryable("X", "x", after=2.5)) == [
        f"Wait 2.5 s, then make the same call: {CALL_TEXT}"
    ]


def test_a_timeout_inside_a_handler_that_changes_things_asks_to_look_first() -> None:
    error = PedelecError(Code.TOOL_HANDLER_ERROR, "TimeoutError", error_class="retryable")
    call = CallFacts(tool="move_shape", args=ARGS, reader="list_shapes")
    assert steps(error, call)[0] == "See whether it took effect all the same: list_shapes()"
    assert steps(error, CallFacts(tool="move_shape", args=ARGS, safe_to_repeat=True)) == [
        f"Wait 1 s, then make the same call: {CALL_TEXT}"
    ]


def test_renewed_access_is_followed_by_the_same_call() -> None:
    error = ToolError.auth_required("OUT", "Signed out.", reconnect="Sign in at the top")
    assert steps(error) == [
        "Ask the user to renew access: Sign in at the top",
        f"When the user says that it is done: {CALL_TEXT}",
    ]


def test_what_was_set_up_is_followed_by_the_same_call() -> None:
    assert steps(ToolError.not_configured("the key", "Enter it"))[1].endswith(CALL_TEXT)


def test_an_answer_takes_its_place_in_the_call() -> None:
    error = ToolError.user_input("WHERE", "x?", question="Where to?", details={"argument": "x"})
    assert steps(error) == [
        "Ask the user: Where to?",
        'Then call with the answer in its place: move_shape(shapeId="s1", x="<answer>", y=80)',
    ]


def test_each_option_that_has_a_value_gets_its_call() -> None:
    options = [{"label": "Red", "value": "s1"}, {"label": "Blue", "value": "s2"}, "neither"]
    error = ToolError.user_input("WHICH", "Two fit.", options=options, details={"argument": "shapeId"})
    told = advise(error, CALL)
    assert told["options"][1] == {
        "label": "Blue",
        "call": 'move_shape(shapeId="s2", x=120, y=80)',
        "value": "s2",
    }
    assert told["options"][2] == "neither"
    assert CALL_TEXT in told["recoverySteps"][0]
    assert error.options == options


def test_plain_options_of_a_known_argument_get_their_calls_too() -> None:
    error = ToolError.user_input(
        "SIZE", "x?", question="Which size?", options=["S", "M"], details={"argument": "size"}
    )
    told = advise(error, CallFacts(tool="order", args={}))
    assert told["options"][1] == {"label": "M", "call": 'order(size="M")', "value": "M"}
    calls = '“S”: order(size="S"); “M”: order(size="M")'
    assert told["recoverySteps"] == [f"Ask the user: Which size? Then make the call of the answer: {calls}"]


def test_options_of_an_argument_that_is_not_known_are_named_before_the_same_call() -> None:
    error = ToolError.user_input("SIZE", "x?", options=["S", "M"])
    assert steps(error) == [
        "Ask the user which one is meant: “S”; “M”",
        f"Then make the same call with the answer in it: {CALL_TEXT}",
    ]


def test_a_misuse_of_the_kit_is_a_fault_of_the_page() -> None:
    assert steps(PedelecError(Code.INVALID_INPUT, "x")) == [
        f"Do not repeat {CALL_TEXT}: tell the user that this is a fault of the page itself."
    ]


def test_a_domain_error_of_no_such_class_gets_no_steps() -> None:
    assert steps(ToolError("NO_SELECTION", "Select first.")) == []


# --- in a session ---------------------------------------------------------------------------------------


async def answer(handler: Any, **fields: Any) -> Any:
    core = ScriptedCore()
    schema: dict[str, Any] = {"type": "object"}
    tools = (
        define_tool(name="move_shape", description="Moves.", args_schema=schema, handler=handler, **fields),
        define_tool(name="list_shapes", description="L.", args_schema=schema, read_only=True, handler=list),
        define_tool(name="unwritten", description="U.", args_schema=schema),
    )
    await open_session(core, tools=tools)
    if handler is None:
        return await core.call("unwritten")
    return await core.call("move_shape", ARGS)


def fails(error: BaseException) -> Any:
    async def handler() -> None:
        raise error

    return handler


async def test_a_returned_error_is_as_good_as_a_raised_one() -> None:
    error = ToolError.retryable("BUSY", "Busy.", after=3)
    raised, returned = await answer(fails(error)), await answer(lambda: error)
    assert raised == returned
    assert returned["error"]["recoverySteps"] == [f"Wait 3 s, then make the same call: {CALL_TEXT}"]


async def test_one_error_object_may_serve_many_calls() -> None:
    error = ToolError.retryable("BUSY", "Busy.", after=3)
    core = ScriptedCore()
    session = await open_session(core)
    session.on_tool("probe_tool", fails(error))
    for number in (1, 2):
        told = (await core.call(args={"n": number}))["error"]
        assert told["recoverySteps"] == [f"Wait 3 s, then make the same call: probe_tool(n={number})"]
    assert error.recovery_steps == []


async def test_a_broken_handler_is_followed_by_a_look_at_the_page() -> None:
    told = (await answer(fails(KeyError("x"))))["error"]
    assert told["recoverySteps"][0] == "See whether it took effect: list_shapes()"


async def test_a_timeout_in_a_tool_that_is_safe_to_repeat_is_followed_by_the_same_call() -> None:
    told = (await answer(fails(TimeoutError()), idempotent=True))["error"]
    assert told["recoverySteps"] == [f"Wait 5 s, then make the same call: {CALL_TEXT}"]


async def test_a_result_that_was_lost_is_not_asked_for_again() -> None:
    told = (await answer(lambda: {1, 2}))["error"]
    assert told["recoverySteps"][0].startswith("Do not repeat move_shape: it ran")
    assert told["recoverySteps"][0].endswith("list_shapes()")


async def test_a_tool_without_a_handler_is_told_to_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedelec.switchboard.HANDLER_GRACE_SECONDS", 0.01)
    told = (await answer(None))["error"]
    assert told["code"] == "TOOL_HANDLER_NOT_FOUND"
    assert told["recoverySteps"] == [
        "Tell the user that this page cannot do unwritten; its author has to add the handler."
    ]
