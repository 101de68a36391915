"""What Core tells an agent about a call that came to no result: one function per failure.

Owns the facts in Core's own call errors (`details`), and the sentences that depend on more than these.
Decides nothing; class, effects, and what is usually said and advised stand in `pedelec.catalogue`.
"""

import math

from pedelec.errors import Code, Effects, ErrorClass, PedelecError


def timeout(tool: str, invocation_id: str, limit_ms: int, *, safe_to_repeat: bool) -> PedelecError:
    """The limit passed while the page ran the call."""
    return PedelecError(
        Code.TOOL_TIMEOUT,
        error_class=ErrorClass.RETRYABLE if safe_to_repeat else ErrorClass.PERMANENT,
        details={"tool": tool, "invocationId": invocation_id, "timeoutMs": limit_ms},
    )


def unanswered(tool: str, limit_ms: int) -> PedelecError:
    """The limit passed while the call waited for a person, and the page did not say so itself."""
    return PedelecError(
        Code.TOOL_UNANSWERED,
        effects=Effects.UNKNOWN,
        details={"tool": tool, "why": "nobody answered in time", "timeoutMs": limit_ms},
    )


def page_unavailable(tool: str, limit_ms: int, *, silent: bool) -> PedelecError:
    """The limit passed and no page was there to take the call. `silent`: one is open, but does not answer."""
    if silent:
        why, ask = "the page is busy or frozen", "bring the page's tab to the front"
    else:
        why, ask = "the page is closed or still loading", "open or reload the page"
    return PedelecError(
        Code.TOOL_PAGE_UNAVAILABLE,
        details={"tool": tool, "timeoutMs": limit_ms, "why": why, "ask": ask},
    )


def session_over(tool: str) -> PedelecError:
    """The session ended before the call reached the page."""
    return PedelecError(
        Code.TOOL_PAGE_UNAVAILABLE,
        f"The session ended before {tool} reached the page. Nothing ran.",
        error_class=ErrorClass.PERMANENT,
        details={"tool": tool},
    )


def interrupted(tool: str, *, safe_to_repeat: bool) -> PedelecError:
    """The page that ran the call is gone."""
    return PedelecError(
        Code.TOOL_INTERRUPTED,
        error_class=ErrorClass.RETRYABLE if safe_to_repeat else ErrorClass.PERMANENT,
        details={"tool": tool},
    )


def cancelled(tool: str, by: str, *, ran: bool) -> PedelecError:
    """Someone on the agent's side called it off."""
    return PedelecError(
        Code.TOOL_CANCELLED,
        f"{tool} was cancelled by {by}.",
        effects=Effects.UNKNOWN if ran else Effects.NONE,
        details={"tool": tool},
    )


def busy(tool: str, count: int, doing: str) -> PedelecError:
    """A limit on calls side by side is reached."""
    calls = "1 call" if count == 1 else f"{count} calls"
    return PedelecError(
        Code.TOOL_BUSY,
        f"{tool} was not run: {calls} of this session already {doing}.",
        details={"tool": tool, "count": count},
    )


def too_fast(tool: str, per_second: float, wait_seconds: float) -> PedelecError:
    """The session's limit on calls per second is reached."""
    return PedelecError(
        Code.TOOL_BUSY,
        f"{tool[:200]} was not run: a session takes {per_second:g} calls per second, and more came.",
        retry_after_seconds=max(1, math.ceil(wait_seconds)),
        details={"tool": tool[:200], "callsPerSecond": per_second},
    )


def call_id_conflict(call_id: str, tool: str) -> PedelecError:
    """A call id names an invocation with another tool or other arguments."""
    return PedelecError(
        Code.CALL_ID_CONFLICT,
        f"The call id {call_id!r} already stands for a call of {tool} with other arguments. Nothing ran.",
        details={"callId": call_id, "tool": tool},
    )


def unknown_invocation(invocation_id: str) -> PedelecError:
    """No such invocation is remembered (settled ones are forgotten after a while)."""
    return PedelecError(Code.INVOCATION_NOT_FOUND, details={"invocationId": invocation_id})


def unknown_failure(invocation_id: str) -> PedelecError:
    """No such call is remembered to have failed."""
    return PedelecError(
        Code.INVOCATION_NOT_FOUND,
        f"No call {invocation_id[:200]} is remembered to have failed: it worked, or is too long ago.",
        recovery_steps=["Make the failing call again, and use the invocationId of its answer."],
        details={"invocationId": invocation_id[:200]},
    )


def result_pending(tool: str, invocation_id: str, told: str | None) -> PedelecError:
    """`tool-result` asked for what has not come yet. `told` is the code the call was answered with."""
    answered = f" It was answered {told}; its late result has not come." if told else ""
    return PedelecError(
        Code.TOOL_RESULT_PENDING,
        f"{tool} is still running in the page.{answered}",
        details={"tool": tool, "invocationId": invocation_id},
    )


def result_too_late(tool: str, told: str | None) -> PedelecError:
    """For the page: its result came after the agent had another answer."""
    return PedelecError(
        Code.SUBMIT_TOOL_RESULT_FAILED,
        f"The result of {tool} came after the agent was told {told}. It is kept for tool-result.",
        details={"tool": tool, "cause": told},
    )
