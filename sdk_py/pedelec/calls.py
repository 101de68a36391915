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
from pedelec.context import ToolContext
from pedelec.errors import Code, PedelecError, error_from_exception, type_name_of
from pedelec.handlers import Bound
from pedelec.host import Host
from pedelec.json_safe import ResultError
from pedelec.protocol import RawJson

logger = logging.getLogger("pedelec")

_MAX_ERROR_BYTES = 64 * 1024
"""An error is let through up to this size even where results may be smaller."""

_MAX_AWAITS = 100
"""So many awaitables may lie one within the other; more are refused as what they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call's result, ready to send; `fault` is set where it stands in for one that could not be sent."""

    result: RawJson
    fault: ResultError | None = None


async def run(handler: Bound, args: Any, ctx: ToolContext, *, max_bytes: int, host: Host) -> Outcome:
    """Call a handler and wait for what it gives. Never raises, not even what stops a program elsewhere."""
    try:
        value = handler(args, ctx)
        for _ in range(_MAX_AWAITS):
            awaitable = as_awaitable(value, host)
            if awaitable is None:
                break
            value = await awaitable
        return Outcome(json_safe.encode(value, max_bytes=max_bytes, host=host))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the agent gets an answer
        return failure(error, ctx.tool, max_bytes=max_bytes)


def as_awaitable(value: object, host: Host) -> Awaitable[Any] | None:
    """What to await in order to get at a handler's value, or None where it is the value itself."""
    if host.is_foreign(value):
        return host.adapt_awaitable(value)
    return value if inspect.isawaitable(value) else None


def failure(error: BaseException, tool: str, *, max_bytes: int) -> Outcome:
    """The result of a call that raised."""
    try:
        told = error_from_exception(error)
        _log(error, told, tool)
        limit = max(max_bytes, _MAX_ERROR_BYTES)
        fault = told if isinstance(told, ResultError) else None
        try:
            return Outcome(json_safe.encode({"error": told.to_wire()}, max_bytes=limit), fault)
        except ResultError as unsendable:
            _log(unsendable, unsendable, tool)
            return Outcome(_envelope(unsendable), unsendable)
    except BaseException:  # noqa: BLE001 - an exception that breaks its own report
        name = type_name_of(error)
        logger.error("The handler of %s raised %s.", tool, name)
        return Outcome(_envelope(PedelecError(Code.TOOL_HANDLER_ERROR, name, details={"type": name})))


def _envelope(error: PedelecError) -> RawJson:
    return json_safe.encode({"error": error.to_wire()}, max_bytes=_MAX_ERROR_BYTES)


def _log(error: BaseException, told: PedelecError, tool: str) -> None:
    if told.code == Code.TOOL_HANDLER_ERROR:
        logger.error("The handler of %s raised.", tool, exc_info=error)
    elif isinstance(told, ResultError):
        logger.error("The result of %s could not be sent. %s", tool, told)
