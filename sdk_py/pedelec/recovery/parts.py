"""`gather_parts`: several sources side by side, and what could be had of them.

Owns that one failed source hides no other, and what the agent is told of those that failed.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pedelec import json_safe
from pedelec.call_text import CallFacts, current_call
from pedelec.catalogue import Code, ErrorClass
from pedelec.envelope import MAX_CHOICES
from pedelec.errors import PedelecError, ToolError
from pedelec.host import current_host
from pedelec.json_safe import NotJsonSafeError, render_path
from pedelec.protocol import Limits
from pedelec.recovery.reports import class_of_all, error_of, longest_delay, short_forms

type Source = Callable[[], Any] | Awaitable[Any]


async def gather_parts(sources: Mapping[str, Source], *, argument: str | None = None) -> dict[str, Any]:
    """Run several sources at once and return what worked.

    A part that JSON cannot carry, or not within a result's limit, has failed as well.

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
    outcomes = await asyncio.gather(*(_outcome(name, source) for name, source in sources.items()))
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
            parts=_listed(list(of_kind)),
            delay=longest_delay(of_kind.values()) or 0,
            again=again,
            reasons=_reasons(of_kind),
        )
    ]


def _reasons(failed: Mapping[str, PedelecError]) -> str:
    told = [f"{name}: {error.reason or error.message.rstrip('.')}" for name, error in failed.items()]
    return _listed(told, "; ")


def _listed(texts: list[str], between: str = ", ") -> str:
    shown = texts[:MAX_CHOICES]
    return between.join(shown if len(texts) == len(shown) else [*shown, f"{len(texts) - len(shown)} more"])


async def _outcome(name: str, source: Source) -> tuple[bool, Any]:
    try:
        value = source() if callable(source) else source
        if inspect.isawaitable(value):
            value = await value
        if isinstance(value, PedelecError):
            return False, value
        json_safe.encode(value, max_bytes=Limits().max_result_bytes, host=current_host.get())
    except NotJsonSafeError as fault:
        return False, fault.below(render_path(["parts", str(name)]))
    except BaseException as failure:  # noqa: BLE001 - the other parts go on, whatever this one raised
        return False, failure
    return True, value
