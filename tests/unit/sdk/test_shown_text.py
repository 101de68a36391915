"""What a person reads before deciding looks like what it is."""

import pytest

from pedelec.shown_text import MAX_ARGUMENTS_CHARS, shown_arguments, shown_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain <b>text</b>\n\tand more", "plain <b>text</b>\n\tand more"),
        ("to\u202etxt.exe", "to\\u202etxt.exe"),
        ("a\u2066b\u2069c\u200bd\ufeff", "a\\u2066b\\u2069c\\u200bd\\ufeff"),
        ("a\x00b\x1bc\x7fd\x9be", "a\\u0000b\\u001bc\\u007fd\\u009be"),
        ("a\rb\r\nc\u2028d", "a\\u000db\nc\\u2028d"),
        ("tag\U000e0041", "tag\\u{e0041}"),
        ("half\ud800", "half\\ud800"),
        ("Grüße 🎈", "Grüße 🎈"),
    ],
)
def test_characters_without_a_shape_are_shown_by_their_numbers(text: str, shown: str) -> None:
    assert shown_text(text) == shown


def test_text_that_is_cut_says_so() -> None:
    assert shown_text("x" * 102, 100) == "x" * 60 + "… (42 more characters)"
    assert shown_text("x" * 100, 100) == "x" * 100


def test_arguments_are_shown_by_name_as_json() -> None:
    assert shown_arguments({"id": "s1\u202e", "at": [1, None]}) == 'id: "s1\\u202e"\nat: [\n  1,\n  null\n]'
    assert shown_arguments({}) == ""
    assert shown_arguments({"Größe": 1, "a b": 2}) == "Größe: 1\na b: 2"
    assert shown_arguments({'x: 1\nto: "ann"\ny': 2}) == '"x: 1\\nto: \\"ann\\"\\ny": 2'
    assert shown_arguments({"x": "y" * 20_000}).endswith("more characters)")
    assert len(shown_arguments({"x": "y" * 20_000})) <= MAX_ARGUMENTS_CHARS
