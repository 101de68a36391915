"""Runs a handler and turns whatever it does into exactly one result.

Owns the one place where values and exceptions become results, and what the log hears of them. Needs no event
loop of its own: `run` is a coroutine that waits for nothing but the handler.
"""

import inspect
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from pedelec import json_safe
from pedelec.advice import advise
from pedelec.call_text import CallFacts, current_call
from pedelec.context import ToolContext
from pedelec.errors import MAX_ERROR_BYTES, Code, PedelecError, error_from_exception, type_name_of
from pedelec.handlers import Bound
from pedelec.host import Host, current_host
from pedelec.json_safe import ResultError
from pedelec.json_text import RawJson

logger = logging.getLogger("pedelec")

_MAX_AWAITS = 100
"""So many awaitables may lie one within the other; more are refused as what they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call's result, ready to send; `fault` is set where it stands in for one that could not be sent."""

    result: RawJson
    fault: ResultError | None = None


async def run(
    handler: Bound, args: Any, ctx: ToolContext, call: CallFacts, *, max_bytes: int, host: Host
) -> Outcome:
    """Call a handler and wait for what it gives. Never raises, not even what stops a program elsewhere.

    An error that the handler returns (a `ToolError`) is its result just as if it had been raised.
    """
    current_call.set(call)
    current_host.set(host)
    try:
        value = handler(args, ctx)
        for _ in range(_MAX_AWAITS):
            awaitable = as_awaitable(value, host)
            if awaitable is None:
                break
            value = await awaitable
        if isinstance(value, PedelecError):
            return failure(value, call)
        return Outcome(json_safe.encode(value, max_bytes=max_bytes, host=host))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the agent gets an answer
        return failure(error, call, now=ctx.now())


_VALUES = frozenset({dict, list, str, int, float, bool, type(None), RawJson})
"""Types that are neither awaited nor foreign: asking for both costs more than the rest of a small call."""


def as_awaitable(value: object, host: Host) -> Awaitable[Any] | None:
    """What to await in order to get at a handler's value, or None where it is the value itself."""
    if type(value) in _VALUES:
        return None
    if host.is_foreign(value):
        return host.adapt_awaitable(value)
    return value if inspect.isawaitable(value) else None


def failure(error: BaseException, call: CallFacts, *, now: float | None = None) -> Outcome:
    """The result of a call that raised; errors have a size limit of their own. `now`: as `time.time()`."""
    try:
        told = error_from_exception(error, now)
        _log(error, told, call.tool)
        fault = told if isinstance(told, ResultError) else None
        try:
            return Outcome(_result(advise(told, call)), fault)
        except ResultError as unsendable:
            _log(unsendable, unsendable, call.tool)
            return Outcome(_result(advise(unsendable, call)), unsendable)
    except BaseException:  # noqa: BLE001 - an exception that breaks its own report
        name = type_name_of(error)
        logger.error("The handler of %s raised %s.", call.tool, name)
        plain = PedelecError(Code.TOOL_HANDLER_ERROR, name, details={"type": name})
        return Outcome(_result(advise(plain, call)))


def _result(envelope: dict[str, Any]) -> RawJson:
    return json_safe.encode({"error": envelope}, max_bytes=2 * MAX_ERROR_BYTES)


def _log(error: BaseException, told: PedelecError, tool: str) -> None:
    if told.code == Code.TOOL_HANDLER_ERROR:
        logger.error("The handler of %s raised.", tool, exc_info=error)
    elif isinstance(told, ResultError):
        logger.error("The result of %s could not be sent. %s", tool, told)
