"""Failing calls become cases without secrets, and replays are judged."""

import json
from typing import Any

import pytest

from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.evals.case import Case, Verdict
from pedelec_core.evals.redaction import MAX_TEXT_CHARS, SECRET, Redactor
from pedelec_core.failure_log import Failure

TOKEN = "q8Zr4Xw1Lk7Tn2Vb9Mc3Jd6Hs5"


def case(args: Any = None, error: Any = None) -> Case:
    return Case.of_failure(
        Failure(
            invocation_id="inv_1",
            tool="save",
            args=json.dumps({"id": "s1"} if args is None else args),
            result={"error": error or {"code": "LOCKED", "class": "permanent", "message": "It is locked."}},
            by_page=True,
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        *("password", "apiKey", "api_key", "accessToken", "Authorization", "X-Api-Key", "PIN"),
        *("clientsecret", "refreshtoken", "sessionId", "securityCode", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_what_is_named_like_a_secret_is_left_out_whatever_it_is(name: str) -> None:
    values: list[JsonValue] = ["x", 4711, ["a"], {"b": "c"}]
    for value in values:
        redactor = Redactor()
        assert redactor.value({"a": {name: value}}) == {"a": {name: SECRET}}
        assert redactor.places == [f"/a/{name}"]


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        f"Bearer {TOKEN}",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "sk-live-0123456789abcdef",
        "https://ann:pass@host.example/",
        "-----BEGIN RSA PRIVATE KEY-----",
        "4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00",
        "123-45-6789",
        "https://host.example/?token=abcdef&page=1",
        "Cookie: sid=abc",
        "the password is hunter2",
    ],
)
def test_what_looks_like_a_secret_is_left_out_whatever_its_name(text: str) -> None:
    redactor = Redactor()
    assert redactor.value({"note": [text]}) == {"note": [SECRET]}
    assert redactor.places == ["/note/0"]


def test_ordinary_values_stay_as_they_are() -> None:
    args: JsonObject = {
        "author": "Ann",
        "keyboard": "de",
        "shapeId": "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
        "url": "https://app.example/boards/12?zoom=3",
        "authenticated": True,
        "password": None,
        "when": "2026-11-30T16:40:05.123456+01:00",
        "text": "A sentence with a few words in it, and a number: 1234567.",
        "basic": "A basic understanding of bearer bonds",
        "at": 1764540000000,
    }
    redactor = Redactor()
    assert redactor.value(args) == args
    assert redactor.places == []


def test_a_card_number_that_is_written_as_a_number_is_left_out() -> None:
    redactor = Redactor()
    assert redactor.value({"n": [4111111111111111, 4111111111111112]}) == {"n": [SECRET, 4111111111111112]}
    assert redactor.places == ["/n/0"]


def test_long_texts_are_cut_and_say_how_long_they_were() -> None:
    redactor = Redactor()
    cut = redactor.value("word " * MAX_TEXT_CHARS)
    assert cut == "word word word word word word word word … <1000 characters>"


def test_an_error_does_not_repeat_what_was_left_out_of_the_arguments() -> None:
    made = case(
        {"password": "open sesame"},
        {"code": "DENIED", "message": f"“open sesame” is not the password; nor is {TOKEN}."},
    )
    assert made.message == f"“{SECRET}” is not the password; nor is {SECRET}."
    assert made.redacted == ("/password",)


def test_a_case_is_one_line_that_can_be_read_again() -> None:
    made = case({"password": "open sesame", "text": "two\nlines"})
    line = made.to_line()
    assert "\n" not in line
    assert Case.from_wire(json.loads(line)) == made
    assert list(json.loads(line)) == ["id", "tool", "args", "error", "redacted"]


@pytest.mark.parametrize(
    "line",
    [
        [],
        {},
        {"id": 1, "tool": "x", "args": {}, "error": {"code": "X"}},
        {"id": "a", "tool": "b", "args": [], "error": {"code": "X"}},
        3,
    ],
)
def test_what_is_no_case_is_refused(line: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Case.from_wire(line)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"ok": True, "result": {"saved": True}}, Verdict.WORKS),
        ({"ok": True, "result": None}, Verdict.WORKS),
        ({"ok": True, "result": {"error": {"code": "LOCKED", "message": "m"}}}, Verdict.STILL_FAILS),
        ({"ok": True, "result": {"error": {"code": "FULL", "message": "m"}}}, Verdict.FAILS_OTHERWISE),
        ({"ok": True, "result": {"items": [], "error": "m"}}, Verdict.FAILS_OTHERWISE),
        ({"ok": False, "error": {"code": "LOCKED", "message": "m"}}, Verdict.STILL_FAILS),
        ({"ok": False, "error": {"code": "TOOL_TIMEOUT", "message": "m"}}, Verdict.FAILS_OTHERWISE),
    ],
)
def test_a_replay_works_still_fails_or_fails_otherwise(answer: Any, verdict: Verdict) -> None:
    assert case().judge(answer)[0] is verdict
