"""`gather_parts`: several sources side by side, and what could be had of them.

Owns that one failed source hides no other, and what the agent is told of those that failed.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pedelec.call_text import CallFacts, current_call
from pedelec.catalogue import Code, ErrorClass
from pedelec.errors import PedelecError, ToolError
from pedelec.recovery.reports import class_of_all, error_of, longest_delay, short_forms

type Source = Callable[[], Any] | Awaitable[Any]


async def gather_parts(sources: Mapping[str, Source], *, argument: str | None = None) -> dict[str, Any]:
    """Run several sources at once and return what worked.

    Args:
        sources: by name a function without parameters (sync or async), or an awaitable.
        argument: the name of the call's argument that takes a list of parts, where it has one: then the steps
            name a call for the missing parts alone.

    Returns:
        `completeness` (`complete` or `partial`) and `parts`, by name; the parts that failed are None. Where
        some failed, also `errors`, by name, and `recoverySteps`.

    Raises:
        ToolError: `NO_PART_WORKED` where every source failed.
        PedelecError: `INVALID_INPUT` where there are no sources.
    """
    outcomes = await asyncio.gather(*(_outcome(source) for source in sources.values()))
    named = dict(zip(sources, outcomes, strict=True))
    failed = {name: error_of(value) for name, (worked, value) in named.items() if not worked}
    parts = {name: value if worked else None for name, (worked, value) in named.items()}
    return {"parts": parts} | summary(list(sources), failed, current_call.get(), argument)


def summary(
    names: list[str], failed: Mapping[str, PedelecError], call: CallFacts | None, argument: str | None = None
) -> dict[str, Any]:
    """All of the result but the parts themselves; raises as `gather_parts` does."""
    if not names:
        raise PedelecError(Code.INVALID_INPUT, "gather_parts needs at least one source.")
    if not failed:
        return {"completeness": "complete"}
    if len(failed) == len(names):
        raise ToolError(
            Code.NO_PART_WORKED,
            f"None of it could be had: {_reasons(failed)}.",
            error_class=class_of_all(failed.values()),
            retry_after_seconds=longest_delay(failed.values()),
            details={"parts": ", ".join(failed), "errors": short_forms(failed)},
        )
    steps = [step for kind, step in _STEPS.items() for step in _steps(kind, step, failed, call, argument)]
    return {"completeness": "partial", "errors": short_forms(failed), "recoverySteps": steps}


_STEPS = {
    ErrorClass.RETRYABLE: "For {parts}: wait {delay:g} s, then {again}",
    ErrorClass.AUTH_REQUIRED: "For {parts}: ask the user to renew access, then {again}",
    ErrorClass.USER_INPUT: "For {parts}: tell the user what is needed ({reasons}), then {again}",
    ErrorClass.PERMANENT: "Do without {parts}: asking again will not help ({reasons}).",
}


def _steps(
    kind: ErrorClass,
    template: str,
    failed: Mapping[str, PedelecError],
    call: CallFacts | None,
    argument: str | None,
) -> list[str]:
    of_kind = {name: error for name, error in failed.items() if error.error_class == kind}
    if not of_kind:
        return []
    changes = {} if argument is None else {argument: list(of_kind)}
    again = "make the same call again." if call is None else f"call {call.text(changes)}"
    return [
        template.format(
            parts=", ".join(of_kind),
            delay=longest_delay(of_kind.values()) or 0,
            again=again,
            reasons=_reasons(of_kind),
        )
    ]


def _reasons(failed: Mapping[str, PedelecError]) -> str:
    return "; ".join(f"{name}: {error.reason or error.message.rstrip('.')}" for name, error in failed.items())


async def _outcome(source: Source) -> tuple[bool, Any]:
    try:
        value = source() if callable(source) else source
        if inspect.isawaitable(value):
            value = await value
    except BaseException as failure:  # noqa: BLE001 - the other parts go on, whatever this one raised
        return False, failure
    return not isinstance(value, PedelecError), value
