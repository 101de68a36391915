"""What an answer to a question has to look like, and what the asker gets of it."""

from typing import Any

import pytest

from pedelec import PedelecError, forms
from tests.harness.tables import each_row

FIELDS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "score": {"type": "number"},
        "sure": {"type": "boolean"},
        "size": {"type": "string", "enum": ["s", "m"]},
        "color": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}]},
        "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}, "maxItems": 1},
        "kinds": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    "content",
    [
        {"name": "Ann"},
        {"name": "Ann", "age": 3.0, "score": 1.5, "sure": False, "size": "m", "color": "#f00"},
        {"name": "Ann", "days": ["mo"], "kinds": ["a"], "age": None},
        {"name": "Ann", "unknown": object()},
    ],
)
def test_an_answer_that_holds_to_its_form_is_one(content: Any) -> None:
    assert forms.fields(FIELDS).problem_with(content) is None


@each_row(
    ("content", "problem"),
    [
        ("Ann", "it is no object"),
        ({}, "name is missing"),
        ({"name": None}, "name is missing"),
        ({"name": 3}, "name does not fit"),
        ({"name": "A"}, "name does not fit"),
        ({"name": "Annabelle"}, "name does not fit"),
        ({"name": "Ann", "age": 1.5}, "age does not fit"),
        ({"name": "Ann", "age": True}, "age does not fit"),
        ({"name": "Ann", "age": 151}, "age does not fit"),
        ({"name": "Ann", "score": "1"}, "score does not fit"),
        ({"name": "Ann", "sure": 1}, "sure does not fit"),
        ({"name": "Ann", "size": "xl"}, "size does not fit"),
        ({"name": "Ann", "color": "Red"}, "color does not fit"),
        ({"name": "Ann", "days": "mo"}, "days does not fit"),
        ({"name": "Ann", "days": ["we"]}, "days does not fit"),
        ({"name": "Ann", "days": ["mo", "tu"]}, "days does not fit"),
        ({"name": "Ann", "kinds": [{}]}, "kinds does not fit"),
    ],
)
def test_an_answer_that_breaks_its_form_is_none(content: Any, problem: str) -> None:
    assert forms.fields(FIELDS).problem_with(content) == problem


def test_the_asker_gets_the_fields_that_it_asked_for_and_no_others() -> None:
    assert forms.fields(FIELDS).value_of({"name": "Ann", "other": 1}) == {"name": "Ann"}


@pytest.mark.parametrize("value", ["red", 3, {"id": 7}, None, True])
def test_a_choice_gives_back_the_option_s_own_value(value: Any) -> None:
    form = forms.choice([{"label": "This", "value": value}, {"label": "That", "value": "else"}])
    content = form.content_of(value)
    assert form.problem_with(content) is None
    assert form.value_of(content) == value


def test_plain_options_are_an_enum_and_others_have_titles() -> None:
    assert forms.choice(["a", "b"]).schema["properties"] == {
        "answer": {"type": "string", "title": "Choice", "enum": ["a", "b"]}
    }
    answer: Any = forms.choice([True, None, "b"]).schema["properties"]
    assert answer["answer"]["enum"] == ["true", "null", "b"]
    assert forms.choice([{"label": "One", "value": 1}]).schema["properties"] == {
        "answer": {"type": "string", "title": "Choice", "oneOf": [{"const": "1", "title": "One"}]}
    }


def test_what_is_no_option_is_no_answer() -> None:
    form = forms.choice(["a", "b"])
    assert form.problem_with(form.content_of("c")) == "answer does not fit"
    assert form.problem_with(form.content_of(object())) == "answer does not fit"


@pytest.mark.parametrize("options", [[], "ab", {"a": 1}, ["a", "a"], [1, "1"], [{1}], ["x"] * 101, 3])
def test_options_that_nobody_could_choose_from_are_refused(options: Any) -> None:
    with pytest.raises(PedelecError, match="INVALID_INPUT"):
        forms.choice(options)


@each_row(
    "schema",
    [
        [],
        {"type": "string"},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"a": "string"}},
        {"type": "object", "properties": {"a": {"type": ["string"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "oneOf": ["x"]}}},
        {"type": "object", "properties": {"a": {"type": "string", "oneOf": 5}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": 5}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": [{}]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": 5},
        {"type": "object", "properties": {"a": {"type": "string", "default": float("nan")}}},
        {"type": "object", "properties": {str(n): {"type": "string"} for n in range(21)}},
        {"type": "object", "properties": {"a\u202e": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "string", "enum": ["x\u200b", "x"]}}},
        {
            "type": "object",
            "properties": {"a": {"type": "string", "oneOf": [{"const": "x", "title": "\u2066"}]}},
        },
    ],
)
def test_fields_that_no_form_can_show_are_refused(schema: Any) -> None:
    with pytest.raises(PedelecError, match="INVALID_INPUT"):
        forms.fields(schema)


def test_what_a_person_reads_of_a_field_is_clean() -> None:
    member = {"type": "string", "title": "T\u202e", "description": "D\u200b"}
    form = forms.fields({"type": "object", "properties": {"a": member}})
    assert form.schema["properties"] == {
        "a": {"type": "string", "title": "T\\u202e", "description": "D\\u200b"}
    }
