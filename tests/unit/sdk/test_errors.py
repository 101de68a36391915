"""What an error carries, in which order and size, and what a page author's error asks for."""

import json
import string
from typing import Any

import pytest

from pedelec import Code, ErrorClass, PedelecError, ToolError
from pedelec.advice import advise
from pedelec.call_text import CallFacts
from pedelec.catalogue import CATALOGUE, info_of
from pedelec.clean_text import clean_foreign_text, clean_text
from pedelec.envelope import HEAD_CHARS, KEYS, MAX_CHOICES, MAX_ERROR_BYTES, bounded
from pedelec.errors import rendered_all
from tests.harness.tables import each_row

WRAPPED = '{"ok":true,"result":{"error":%s}}'


def text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


# --- the catalogue --------------------------------------------------------------------------------------


@each_row("code", list(Code))
def test_every_code_has_a_class_and_a_message_and_a_delay_where_it_is_retryable(code: Code) -> None:
    envelope = PedelecError(code).to_wire()
    assert envelope["class"] in set(ErrorClass)
    assert envelope["message"].strip()
    assert "{" not in envelope["message"]
    assert ("retryAfterSeconds" in envelope) is (envelope["class"] == "retryable")


@each_row("code", [code for code in Code if code.startswith("TOOL_")])
def test_every_code_that_answers_a_call_has_a_next_step(code: Code) -> None:
    assert info_of(code).recovery


@each_row("code", list(Code))
def test_no_text_of_the_catalogue_is_for_developers_or_vague(code: Code) -> None:
    info = info_of(code)
    for sentence in (info.meaning, info.message, *info.recovery):
        low = sentence.lower()
        assert not [
            word for word in ("see log", "check your input", "stack", "traceback", "console") if word in low
        ]


def test_a_message_is_filled_in_from_the_details() -> None:
    error = PedelecError(
        Code.TOOL_TIMEOUT, details={"tool": "draw", "timeoutMs": 50, "invocationId": "inv_1"}
    )
    assert error.message == "draw gave no result within 50 ms. The page may still be running it."
    assert error.to_wire()["recoverySteps"] == ["Fetch a late result: pedelec-cli tool-result inv_1"]


def test_a_message_whose_facts_are_missing_is_the_codes_meaning() -> None:
    assert PedelecError(Code.TOOL_TIMEOUT).message == CATALOGUE[Code.TOOL_TIMEOUT].meaning


def test_details_cannot_reach_into_a_template() -> None:
    error = PedelecError(Code.TOOL_BUSY, details={"tool": "{count.__class__}", "count": 3})
    assert error.message.startswith("{count.__class__} was not run")


def test_sentences_with_unknown_facts_are_left_out() -> None:
    assert rendered_all(["a {x}", "b {y}", "c"], {"x": 1}) == ["a 1", "c"]


# --- the envelope ---------------------------------------------------------------------------------------


def full(**changes: Any) -> PedelecError:
    fields: dict[str, Any] = {
        "error_class": "retryable",
        "error_type": "timeout",
        "reason": "r",
        "retry_after_seconds": 2,
        "recovery_steps": ["Call look()."],
        "options": ["o"],
        "suggestions": ["s"],
        "effects": "none",
        "details": {"d": 1},
    }
    return PedelecError("CODE", "Message.", **(fields | changes))


def test_the_keys_stand_in_the_order_in_which_they_are_needed() -> None:
    assert tuple(full().to_wire()) == KEYS
    assert KEYS[:5] == ("code", "class", "message", "retryAfterSeconds", "recoverySteps")


def test_keys_that_say_nothing_are_left_out() -> None:
    assert ToolError("X", "x", details={}, recovery_steps=[]).to_wire() == {
        "code": "X", "class": "permanent", "message": "x", "retryable": False,
    }  # fmt: skip


def test_an_envelope_survives_the_wire() -> None:
    wire = full().to_wire()
    assert PedelecError.from_wire(json.loads(text(wire))).to_wire() == wire


@pytest.mark.parametrize(
    "envelope",
    [
        {
            "code": "X",
            "options": 5,
            "suggestions": "s",
            "recoverySteps": [1, "a"],
            "details": [1],
            "reason": 3,
        },
        {"code": "X", "class": "banana", "effects": 3, "errorType": [], "retryAfterSeconds": "soon"},
        {"code": "X" * 500, "class": None, "retryable": "yes", "retryAfterSeconds": -1, "message": 5},
        {"code": "X", "retryAfterSeconds": True, "class": "retryable"},
    ],
)
def test_a_strange_envelope_becomes_a_proper_one(envelope: dict[str, Any]) -> None:
    wire = PedelecError.from_wire(envelope).to_wire()
    assert wire["class"] in set(ErrorClass)
    assert wire["message"]
    assert ("retryAfterSeconds" in wire) is (wire["class"] == "retryable")
    assert isinstance(wire.get("details", {}), dict)
    assert all(isinstance(step, str) for step in wire.get("recoverySteps", []))


def test_what_is_no_envelope_is_a_protocol_error() -> None:
    values: list[object] = [None, 5, [], {}, {"code": 5}]
    for value in values:
        assert PedelecError.from_wire(value).code == Code.SDK_PROTOCOL_ERROR


def test_retryable_without_a_class_is_the_class() -> None:
    error = ToolError("X", "x", retryable=True)
    assert (error.error_class, error.retry_after_seconds) == ("retryable", 1)


def test_a_long_message_leaves_room_for_the_first_step_and_is_kept_whole_in_the_details() -> None:
    message = "word " * 300
    error = ToolError("CODE", message, recovery_steps=['move_shape(shapeId="s1", x=120, y=80)', "then"])
    shown = (WRAPPED % text(error.to_wire()))[:HEAD_CHARS]
    assert '\\"s1\\", x=120, y=80)"' in shown
    assert error.to_wire()["details"]["fullMessage"] == message.strip()


def test_lists_are_capped_and_say_how_much_is_missing() -> None:
    wire = full(options=list(range(25)), suggestions=["s"] * 11, details={"a": 1}).to_wire()
    assert (len(wire["options"]), len(wire["suggestions"])) == (MAX_CHOICES, MAX_CHOICES)
    assert wire["details"] == {"a": 1, "leftOut": {"options": 15, "suggestions": 1}}


def test_a_count_of_what_was_left_out_before_is_added_to() -> None:
    wire = full(options=list(range(12)), details={"leftOut": {"options": 3}}).to_wire()
    assert wire["details"]["leftOut"] == {"options": 5}


def test_what_is_left_out_is_counted_once_however_often_the_error_is_made_smaller() -> None:
    error = ToolError("X", "x", recovery_steps=["Look."] * 20, suggestions=["s" * 5_000] * 50)
    left_out = {"recoverySteps": 14, "suggestions": 40}
    assert error.to_wire()["details"]["leftOut"] == left_out
    assert advise(error, CallFacts(tool="t", args={}))["details"]["leftOut"] == left_out


@pytest.mark.parametrize(
    "details",
    [
        {"violations": [{"path": f"/{n}", "message": "m" * 200} for n in range(500)]},
        {"text": "ä" * 50_000},
        {f"key{n}": "v" * 30 for n in range(2_000)},
        {"deep": [[["x" * 100] * 30] * 30] * 30},
        {"k" * 9_000: 1},
    ],
    ids=["list", "text", "keys", "nested", "key"],
)
def test_a_whole_error_stays_small_and_keeps_what_is_needed_first(details: dict[str, Any]) -> None:
    envelope = full(details=details).to_wire()
    assert len(text(envelope).encode()) <= MAX_ERROR_BYTES
    assert tuple(envelope)[:5] == KEYS[:5]


def test_what_has_no_json_is_left_for_the_check_of_results() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    for value in (object(), circle):
        assert bounded({"code": "X", "class": "permanent", "message": "m", "details": {"v": value}})[
            "details"
        ]


# --- text that may leave ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_text", "told"),
    [
        ("see https://user:pw@host.example/a?b=c", "see https://host.example/a?b=c"),
        ("Authorization: Bearer abcdef.123456", "Authorization: Bearer …"),
        ("in /home/someone/app.py", "in app.py"),
        ("a\x00b\u202ec", "a b c"),
    ],
)
def test_own_text_loses_credentials_paths_and_control_characters(given_text: str, told: str) -> None:
    assert clean_text(given_text) == told


@pytest.mark.parametrize(
    ("given_text", "told"),
    [
        ("for url 'https://u:p@api.example/v1?key=abc123'", "for url 'https://api.example'"),
        ("api_key=sk-123456 refused", "api_key=… refused"),
        ('{"access_token": "abc"}', '{"access_token": …}'),
        ("token: expired", "token: expired"),
        ("wss://host.example:81/x/y#frag closed", "wss://host.example:81 closed"),
    ],
)
def test_foreign_text_loses_what_urls_carry_and_named_secrets(given_text: str, told: str) -> None:
    assert clean_foreign_text(given_text) == told


# --- ToolError ------------------------------------------------------------------------------------------


def test_a_retryable_error_has_its_delay() -> None:
    wire = ToolError.retryable("BUSY", "The board is busy.", after=2.5).to_wire()
    assert (wire["class"], wire["retryAfterSeconds"], wire["retryable"]) == ("retryable", 2.5, True)


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), "5", None, True])
def test_a_retryable_error_without_a_proper_delay_is_refused(after: Any) -> None:
    with pytest.raises(PedelecError, match="after"):
        ToolError.retryable("BUSY", "Busy.", after=after)


def test_a_permanent_error_may_name_the_call_that_works() -> None:
    wire = ToolError.permanent("GONE", "It is gone.", recovery_steps="list_shapes()").to_wire()
    assert (wire["class"], wire["recoverySteps"]) == ("permanent", ["list_shapes()"])


def test_a_question_or_options_make_a_user_input_error() -> None:
    asked = ToolError.user_input("WHICH", "Two fit.", question="Red or blue?")
    assert (asked.error_class, asked.details) == ("userInput", {"question": "Red or blue?"})
    assert ToolError.user_input("WHICH", "Two fit.", options=["red", "blue"]).options == ["red", "blue"]
    with pytest.raises(PedelecError, match="question or options"):
        ToolError.user_input("WHICH", "Two fit.")


def test_an_auth_error_says_how_access_is_renewed() -> None:
    error = ToolError.auth_required("SIGNED_OUT", "The calendar is closed.", reconnect="Sign in at the top.")
    assert (error.error_class, error.error_type) == ("authRequired", "auth")
    with pytest.raises(PedelecError, match="reconnect"):
        ToolError.auth_required("SIGNED_OUT", "The calendar is closed.", reconnect=" ")


def test_what_only_the_user_can_set_up_is_not_configured() -> None:
    wire = ToolError.not_configured("the weather key", "Enter it under Settings").to_wire()
    assert (wire["code"], wire["class"], wire["errorType"]) == (
        "NOT_CONFIGURED",
        "userInput",
        "not_configured",
    )
    assert wire["message"] == "The weather key is not set up."
    assert wire["recoverySteps"] == ["Ask the user to set it up: Enter it under Settings"]
    with pytest.raises(PedelecError, match="both"):
        ToolError.not_configured("the weather key", "")


@pytest.mark.parametrize(("code", "message"), [("", "m"), (" ", "m"), ("C", ""), ("C", " \n")])
def test_an_error_without_code_or_message_is_refused(code: str, message: str) -> None:
    with pytest.raises(PedelecError, match="code and a message"):
        ToolError.permanent(code, message)
