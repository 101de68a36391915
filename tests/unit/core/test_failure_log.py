"""What is remembered of failed calls, and how much."""

import json
from typing import Any

import pytest

from pedelec.errors import Code, PedelecError
from pedelec.json_text import RawJson, encode_value
from pedelec_core.failure_log import MAX_ARGS_CHARS, MAX_FAILURES, MAX_RESULT_CHARS, FailureLog
from pedelec_core.invocation import Call, Outcome


def call(tool: str = "move", args: str = '{"id":"s1"}') -> Call:
    return Call(tool=tool, args=RawJson(args), args_key="", timeout_ms=1)


def answered(value: Any) -> Outcome:
    return Outcome(result=RawJson(encode_value(value)))


def broken(code: str = "BROKEN", **more: Any) -> Outcome:
    return answered({"error": {"code": code, "message": "It broke.", **more}})


def noted(outcome: Outcome) -> Any:
    """What is kept of an outcome."""
    log = FailureLog()
    log.note("inv_1", call(), outcome)
    failure = log.get("inv_1")
    return None if failure is None else failure.result


def test_a_failure_of_the_page_is_kept_with_its_call() -> None:
    log = FailureLog()
    log.note("inv_1", call(), broken())
    failure = log.get("inv_1")
    assert failure is not None
    assert (failure.tool, failure.args, failure.code) == ("move", '{"id":"s1"}', "BROKEN")
    assert [each.invocation_id for each in log.of_the_page()] == ["inv_1"]


def test_an_error_of_core_is_kept_and_is_none_of_the_page() -> None:
    log = FailureLog()
    log.note("inv_1", call(), Outcome(error=PedelecError(Code.TOOL_TIMEOUT, "Too late.")))
    failure = log.get("inv_1")
    assert failure is not None
    assert failure.code == Code.TOOL_TIMEOUT
    assert list(log.of_the_page()) == []


@pytest.mark.parametrize("value", [1, None, [], {"id": "s1"}, {"status": "open"}, "error", {"error": None}])
def test_results_are_not_kept(value: Any) -> None:
    assert noted(answered(value)) is None


def test_of_data_beside_an_error_only_the_form_is_kept() -> None:
    data = {"items": [], "owner": "Ann", "rows": [1, 2], "ok": False, "error": "The board is locked."}
    assert noted(answered(data)) == data | {"owner": "…", "rows": "…"}


def test_what_is_kept_is_bounded() -> None:
    log = FailureLog()
    for number in range(MAX_FAILURES + 5):
        log.note(f"inv_{number}", call(args=json.dumps("x" * MAX_ARGS_CHARS)), broken())
    assert (log.get("inv_4"), len([*log.of_the_page()])) == (None, 1)
    newest = log.get(f"inv_{MAX_FAILURES + 4}")
    assert newest is not None
    assert newest.args is None
    kept = noted(broken(details={"rows": ["y" * 100] * 100}))
    assert len(json.dumps(kept)) < 9_000
    assert noted(broken(details="z" * MAX_RESULT_CHARS)) is None


def test_of_failures_of_one_kind_the_last_is_told_and_all_can_be_asked_for() -> None:
    log = FailureLog()
    for number, code in enumerate(("A", "B", "A")):
        log.note(f"inv_{number}", call(), broken(code))
    assert [each.invocation_id for each in log.of_the_page()] == ["inv_1", "inv_2"]
    assert log.get("inv_0") is not None
    log.note("inv_0", call("again"), broken())
    assert [each.invocation_id for each in log.of_the_page()] == ["inv_1", "inv_2"]
