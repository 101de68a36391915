"""The loop guard remarks on a call that keeps failing, then stops it, and lets go when things change."""

from collections.abc import Callable

import pytest

from pedelec import Code, PedelecError
from pedelec_core.loop_guard import AttemptedCall, LoopGuard, LoopLimits

MOVE = AttemptedCall("move_shape", "a")
OTHER = AttemptedCall("move_shape", "b")


class Session:
    """Makes calls through a guard, each failing with a code (None: it succeeds)."""

    def __init__(self, **limits: int | None) -> None:
        self.guard = LoopGuard(LoopLimits(**limits))  # type: ignore[arg-type] # those of another type are not given
        self.page = "page"
        self.now = 1_000.0

    def call(self, call: AttemptedCall = MOVE, code: str | None = "BROKEN") -> str | None:
        self.guard.admit(call, self.page, self.now)
        if code is None:
            self.guard.succeeded()
            return None
        return self.guard.failed(call, code, self.now)

    def stopped(self, call: AttemptedCall = MOVE) -> PedelecError:
        with pytest.raises(PedelecError) as caught:
            self.call(call)
        assert caught.value.code == Code.TOOL_LOOP_STOPPED
        return caught.value


def test_the_third_failure_in_a_row_gets_a_remark_with_the_count() -> None:
    session = Session()
    assert [session.call(), session.call()] == [None, None]
    remark = session.call()
    assert remark is not None
    assert "failed 3 times in a row with BROKEN" in remark
    assert "failed 4 times" in (session.call() or "")


def test_the_fifth_call_is_stopped_and_says_what_may_run_again_when() -> None:
    session = Session()
    for _ in range(4):
        session.call()
    session.now += 10
    error = session.stopped()
    assert (error.error_class, error.effects) == ("permanent", "none")
    assert error.message == ("move_shape was not run: the same call has failed 4 times in a row with BROKEN.")
    assert error.details == {"tool": "move_shape", "failedWith": "BROKEN", "count": 4, "seconds": 50}
    assert error.to_wire()["recoverySteps"]


def test_it_stays_stopped_however_often_it_is_tried() -> None:
    session = Session()
    for _ in range(4):
        session.call()
    for _ in range(5):
        session.now += 5
        session.stopped()


def another_call(session: Session) -> None:
    session.call(OTHER)


def page_change(session: Session) -> None:
    session.page = "another page"


def minute(session: Session) -> None:
    session.now += 60


@pytest.mark.parametrize("change", [another_call, page_change, minute])
def test_it_may_run_again_after(change: Callable[[Session], None]) -> None:
    session = Session()
    for _ in range(4):
        session.call()
    change(session)
    assert session.call() is None


def test_success_ends_every_count() -> None:
    session = Session(failures=6)
    for _ in range(3):
        session.call()
    session.call(code=None)
    for _ in range(4):
        session.call()
    session.stopped()


def test_another_code_is_another_failure() -> None:
    session = Session()
    for code in ("A", "A", "B", "B", "A", "A"):
        assert session.call(code=code) is None


def test_a_call_that_fails_after_another_began_is_no_repetition() -> None:
    session = Session()
    for _ in range(3):
        session.guard.admit(MOVE, "page", 0)
        session.guard.admit(OTHER, "page", 0)
        assert session.guard.failed(MOVE, "BROKEN", 0) is None


def test_too_many_failures_of_any_kind_stop_every_call_for_a_minute() -> None:
    session = Session(failures=6)
    for number in range(6):
        session.call(AttemptedCall("tool", str(number)))
    assert session.stopped(OTHER).details == {"tool": "move_shape", "failures": 6, "seconds": 60}
    session.now += 60
    session.call(OTHER)


def test_without_a_limit_of_failures_any_number_of_them_may_follow() -> None:
    session = Session(failures=None)
    for number in range(200):
        session.call(AttemptedCall("tool", str(number)))


def test_calls_in_one_go_can_be_limited() -> None:
    session = Session(calls_per_turn=3)
    for number in range(3):
        session.call(AttemptedCall("tool", str(number)), code=None)
    assert "3 calls" in session.stopped(OTHER).message
    session.now += 30
    session.call(OTHER, code=None)


def test_without_such_a_limit_any_number_may_follow() -> None:
    session = Session()
    for number in range(1_000):
        session.call(AttemptedCall("tool", str(number)), code=None)
