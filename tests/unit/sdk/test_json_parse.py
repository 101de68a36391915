"""What may come in as arguments: read exactly, or refused with line and column or path."""

import json
from typing import Any

import pytest

from pedelec.json_safe import MAX_SAFE_INT, InvalidJsonError, parse, render_path
from tests.harness.tables import each_row
from tests.unit.sdk.values import same


def refusal_of(text: str) -> InvalidJsonError:
    with pytest.raises(InvalidJsonError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("{", 1, 2),
        ('{"a":}', 1, 6),
        ("[1,\n 2,,3]", 2, 4),
        ("[1] 2", 1, 5),
        ("{'a':1}", 1, 2),
        ("[01]", 1, 3),
        ("nul", 1, 1),
        ('"\x01"', 1, 2),
        ("\ufeff{}", 1, 1),
    ],
)
def test_text_that_is_no_json_says_line_and_column(text: str, line: int, column: int) -> None:
    error = refusal_of(text)
    assert (error.line, error.column, error.steps) == (line, column, None)
    assert error.code == "TOOL_ARGS_INVALID"
    assert f"line {line}, column {column}" in error.message


@each_row(
    ("text", "path"),
    [
        ('{"a":1,"a":1}', "$.a"),
        ('[{"x":{"b":1,"c":2,"b":3}}]', "$[0].x.b"),
        ('{"a":NaN}', "$.a"),
        ("[1,Infinity]", "$[1]"),
        ("-Infinity", "$"),
        ('{"id":9007199254740992}', "$.id"),
        ("[-9007199254740992]", "$[0]"),
        ("[" + "9" * 5000 + "]", "$[0]"),
        ('{"n":1e400}', "$.n"),
        ('{"n":-1E999}', "$.n"),
        ('{"n":1e-400}', "$.n"),
        ('["\\ud83c"]', "$[0]"),
        ('["\\uDC00\\uD800"]', "$[0]"),
        ('{"a":"\ud83c"}', "$.a"),
        ('{"o":{"\\ud800":1}}', "$.o"),
        ("[" * 101 + "]" * 101, "$" + "[0]" * 100),
        ("[" * 100_000, "$"),
    ],
)
def test_json_that_would_not_arrive_as_written_says_where(text: str, path: str) -> None:
    error = refusal_of(text)
    assert error.details == {"path": path}
    assert render_path(error.steps or ()) == path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\ud83c\\udf78"', "\U0001f378"),
        ('{"__proto__":{"constructor":1}}', {"__proto__": {"constructor": 1}}),
        (str(MAX_SAFE_INT), MAX_SAFE_INT),
        ("0e5", 0.0),
        ("0.000", 0.0),
        (" [1]\n", [1]),
        ("[" * 100 + "]" * 100, json.loads("[" * 100 + "]" * 100)),
        ('"\\\\ud800"', "\\ud800"),
    ],
)
def test_what_only_looks_odd_is_read(text: str, value: Any) -> None:
    assert same(parse(text), value)


def test_a_duplicate_at_the_end_of_a_large_object_is_found_quickly() -> None:
    members = ",".join(f'"k{number}":0' for number in range(5_000))
    assert refusal_of("{" + members + ',"k4999":1}').details == {"path": "$.k4999"}
