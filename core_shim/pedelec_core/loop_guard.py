"""Stops an agent that makes the same failing call over and over.

Owns when a repetition is remarked on and when it is refused. Calls, outcomes and times go in; a remark or a
refusal comes out. Does no I/O and reads no clock; knows neither tools nor sessions.

The same failing call is: same tool, same arguments, same code, with no other call in between. The third
failure in a row gets a remark; from the fifth call on nothing runs, until another call is made, the page's
state changes, or a minute has passed since the last failure. Success ends every count.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from pedelec.errors import Code, PedelecError

_NOTHING: Final = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopLimits:
    """When the guard speaks and when it stops. `None` sets no limit."""

    remark_at: int = 3
    """From so many failures of the same call in a row on, the answer carries a remark."""
    stop_after: int = 4
    """After so many of them the call runs no more."""
    failures: int | None = 50
    """After so many failures of whatever kind, with no success in between, no call runs any more."""
    calls_per_turn: int | None = None
    """So many calls may follow each other without a pause of `turn_pause_seconds`."""
    turn_pause_seconds: float = 30
    forget_seconds: float = 60
    """What is stopped may run again so long after the last failure."""


class AttemptedCall(NamedTuple):
    """A call as far as repetition goes. `args_key`: equal exactly where the arguments are."""

    tool: str
    args_key: str


class LoopGuard:
    """Watches the calls of one session."""

    def __init__(self, limits: LoopLimits) -> None:
        self._limits = limits
        self._call = AttemptedCall(*_NOTHING)
        self._code = ""
        self._in_a_row = 0
        self._failures = 0
        self._failed_at = 0.0
        self._page_state = ""
        self._turn_calls = 0
        self._called_at = 0.0

    def admit(self, call: AttemptedCall, page_state: str, now: float) -> None:
        """A call is about to be made.

        Args:
            call: the call.
            page_state: anything that changes when the page does (the page instance that runs calls).
            now: seconds, on any clock that never goes back.

        Raises:
            PedelecError: `TOOL_LOOP_STOPPED`; the call must not run.
        """
        if page_state != self._page_state or now - self._failed_at >= self._limits.forget_seconds:
            self._forget()
        self._page_state = page_state
        if call != self._call:
            self._call, self._code, self._in_a_row = call, "", 0
        if self._in_a_row >= self._limits.stop_after:
            raise self._stopped(call, now)
        if self._limits.failures is not None and self._failures >= self._limits.failures:
            raise self._too_many_failures(call, now)
        self._count_turn(call, now)

    def succeeded(self) -> None:
        """A call of the session came to a result."""
        self._forget()

    def failed(self, call: AttemptedCall, code: str, now: float) -> str | None:
        """A call failed. Returns a remark for whoever made it, where it has failed the same way before."""
        self._failures += 1
        self._failed_at = now
        if call != self._call:  # another one began meanwhile
            return None
        self._in_a_row = self._in_a_row + 1 if code == self._code else 1
        self._code = code
        if self._in_a_row < self._limits.remark_at:
            return None
        return (
            f"This same call has failed {self._in_a_row} times in a row with {code}. "
            "Do not make it again unchanged: follow another step, or ask the user."
        )

    def _forget(self) -> None:
        self._call, self._code = AttemptedCall(*_NOTHING), ""
        self._in_a_row = self._failures = 0

    def _count_turn(self, call: AttemptedCall, now: float) -> None:
        paused = now - self._called_at >= self._limits.turn_pause_seconds
        self._turn_calls = 1 if paused else self._turn_calls + 1
        self._called_at = now
        limit = self._limits.calls_per_turn
        if limit is not None and self._turn_calls > limit:
            raise PedelecError(
                Code.TOOL_LOOP_STOPPED,
                f"{call.tool} was not run: {limit} calls were made in one go, and no more are allowed.",
                recovery_steps=["Tell the user what has been done so far, and ask whether to go on."],
                details={"tool": call.tool, "callsPerTurn": limit},
            )

    def _stopped(self, call: AttemptedCall, now: float) -> PedelecError:
        details = {
            "tool": call.tool,
            "failedWith": self._code,
            "count": self._in_a_row,
            "seconds": self._remaining(now),
        }
        return PedelecError(Code.TOOL_LOOP_STOPPED, details=details)

    def _too_many_failures(self, call: AttemptedCall, now: float) -> PedelecError:
        details = {"tool": call.tool, "failures": self._failures, "seconds": self._remaining(now)}
        message = f"{call.tool} was not run: the last {self._failures} calls have all failed."
        steps = ["Stop here and tell the user which calls failed, and how."]
        return PedelecError(Code.TOOL_LOOP_STOPPED, message, recovery_steps=steps, details=details)

    def _remaining(self, now: float) -> int:
        return max(1, round(self._failed_at + self._limits.forget_seconds - now))
