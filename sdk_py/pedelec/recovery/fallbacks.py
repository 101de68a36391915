"""`first_that_works`: several ways to the same end, one after the other.

Owns when the next way may be tried without asking: it must do the same to the world as the first one, and
the one before it must have done nothing.
"""

import asyncio
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pedelec.catalogue import Code, Effects
from pedelec.errors import PedelecError, ToolError
from pedelec.failures import classify_exception
from pedelec.recovery.reports import class_of_all, error_of, longest_delay, short_forms

NO_EFFECTS = "none"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way of doing it.

    Args:
        name: names it for the agent, in `channelUsed` and in the call that permits it.
        run: does it; a function without parameters, sync or async.
        effects: what it does to the world, in a few words ("sends an e-mail"), or "none".
    """

    name: str
    run: Callable[[], Any]
    effects: str


async def first_that_works(
    alternatives: Sequence[Alternative], *, allow: Collection[str] = (), argument: str | None = None
) -> dict[str, Any]:
    """Try several ways in order and return what the first that works gives.

    Those that do the same to the world as the first (the same `effects`) are tried without asking, others
    only if `allow` names them. After a failure that may have done something all the same, no other way is
    tried.

    Args:
        alternatives: the preferred one first.
        allow: names of those that the caller has permitted.
        argument: the name of the call's argument that says which one is permitted; then the question to the
            user has the call for each.

    Returns:
        `result`, `channelUsed` (a name) and `wasFallback`; after a fallback also `errors`, by name.

    Raises:
        ToolError: `FALLBACK_NEEDS_CONSENT` (class `userInput`), or `NO_CHANNEL_WORKED`.
        PedelecError: `INVALID_INPUT` for no alternatives, equal names or blank effects.
    """
    plan = Plan({one.name: one.effects for one in alternatives}, allow, argument)
    if len(plan.effects) != len(alternatives):
        raise PedelecError(Code.INVALID_INPUT, "Two alternatives have the same name.")
    for one in alternatives:
        if not plan.may_try(one.name):
            continue
        try:
            value = one.run()
            if inspect.isawaitable(value):
                value = await value
            if isinstance(value, PedelecError):
                raise value
        except (Exception, asyncio.CancelledError) as failure:  # whatever it is, the next way may work
            if _is_called_off(failure):
                raise
            plan.failed(one.name, error_of(failure), changed_nothing(failure))
        else:
            return {"result": value} | plan.outcome(one.name)
    raise plan.exhausted()


def _is_called_off(failure: BaseException) -> bool:
    """Whether it is not the way that was cancelled, but the task that tries it."""
    task = asyncio.current_task()
    return isinstance(failure, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def changed_nothing(failure: BaseException) -> bool:
    """Whether it is certain that what failed has had no effect."""
    if isinstance(failure, PedelecError):
        return failure.effects == Effects.NONE
    known = classify_exception(failure)
    return known is not None and known.effects is Effects.NONE


class Plan:
    """Which alternatives may be tried, and what is told in the end.

    Args:
        effects: of each alternative, by name, in order.
        allow, argument: see `first_that_works`.
    """

    def __init__(self, effects: Mapping[str, str], allow: Collection[str], argument: str | None) -> None:
        if not effects or not all(words.strip() for words in effects.values()):
            problem = "first_that_works needs alternatives, each with its effects (`none` for nothing)."
            raise PedelecError(Code.INVALID_INPUT, problem)
        self.effects = {name: _normal(words) for name, words in effects.items()}
        self._first = next(iter(effects))
        self._allow = allow
        self._argument = argument
        self._errors: dict[str, PedelecError] = {}

    def may_try(self, name: str) -> bool:
        """Whether it needs no (further) consent."""
        return self.effects[name] == self.effects[self._first] or name in self._allow

    def failed(self, name: str, error: PedelecError, changed_nothing: bool) -> None:
        """It failed. Raises `NO_CHANNEL_WORKED` where trying another could do the thing twice."""
        self._errors[name] = error
        if self.effects[name] == NO_EFFECTS or changed_nothing:
            return
        raise ToolError(
            Code.NO_CHANNEL_WORKED,
            f"{name} failed, and may have done it all the same: {_reason(error)}.",
            effects=Effects.UNKNOWN,
            details={"channels": name, "errors": short_forms(self._errors), "mayHaveWorked": name},
        )

    def outcome(self, name: str) -> dict[str, Any]:
        """What is told beside the result of the one that worked."""
        told: dict[str, Any] = {"channelUsed": name, "wasFallback": name != self._first}
        return told | ({"errors": short_forms(self._errors)} if self._errors else {})

    def exhausted(self) -> ToolError:
        """None that may be tried has worked."""
        left = [name for name in self.effects if not self.may_try(name)]
        return self._needs_consent(left) if left else self._nothing_worked()

    def _needs_consent(self, left: Sequence[str]) -> ToolError:
        does = {
            name: "changes nothing" if (words := self.effects[name]) == NO_EFFECTS else words for name in left
        }
        details = {
            "failed": ", ".join(self._errors),
            "channel": left[0],
            "does": does[left[0]],
            "errors": short_forms(self._errors),
        }
        steps: list[str] = []
        if self._argument is not None:
            details["argument"] = self._argument
        else:
            ways = "; ".join(f"{name} ({words})" for name, words in does.items())
            steps = [
                f"Do not repeat the same call: tell the user what else the page could do instead: {ways}."
            ]
        options = [{"label": f"{name}: {does[name]}", "value": name} for name in left]
        return ToolError(
            Code.FALLBACK_NEEDS_CONSENT,
            recovery_steps=steps,
            options=options,
            effects=Effects.NONE,
            details=details,
        )

    def _nothing_worked(self) -> ToolError:
        reasons = "; ".join(f"{name}: {_reason(error)}" for name, error in self._errors.items())
        return ToolError(
            Code.NO_CHANNEL_WORKED,
            f"No way of doing it worked. {reasons}.",
            error_class=class_of_all(self._errors.values()),
            retry_after_seconds=longest_delay(self._errors.values()),
            effects=Effects.NONE,
            details={"channels": ", ".join(self._errors), "errors": short_forms(self._errors)},
        )


def _normal(effects: str) -> str:
    return NO_EFFECTS if effects.strip().casefold() == NO_EFFECTS else effects.strip()


def _reason(error: PedelecError) -> str:
    return error.reason or error.message.rstrip(".")
