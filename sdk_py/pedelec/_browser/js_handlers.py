"""JavaScript authors' functions, made Python's.

Owns the calls of JavaScript handlers that run, so that their progress reaches the right context and their
abort signal the right handler. Arguments and result cross as text, the context's fields one by one, which is
much faster: no proxy is made for a call.
"""

import asyncio
import itertools
import json
from collections.abc import Awaitable
from typing import Any

from pedelec._browser.outcome import read_outcome
from pedelec._browser.page import border, create_proxy
from pedelec.context import ToolContext
from pedelec.errors import Code, PedelecError
from pedelec.json_text import RawJson, encode_value

_keys = itertools.count(1)
_running: dict[int, ToolContext] = {}


def hear_handlers() -> None:
    """Let JavaScript's handlers report progress and ask.

    The proxies of this module, as long as the page: a handler may do so at any time, each call many times.
    """
    border.name_fields(encode_value(ToolContext.wire_names()))
    border.on_progress(create_proxy(_report_progress))
    border.on_ask(create_proxy(_ask))


class JsHandler:
    """A JavaScript function as a Python handler `(args, ctx)`, generic handler or event callback."""

    def __init__(self, function: object) -> None:
        self._function = function

    def __call__(self, *values: Any) -> object:
        if isinstance(values[-1], ToolContext):
            *tool, args, ctx = values
            return _invoke(self._function, args, ctx, generic=bool(tool))
        return border.notify(self._function, encode_value([_plain(value) for value in values]))


def _invoke(function: object, args: object, ctx: ToolContext, *, generic: bool) -> object:
    """Run a handler: its `RawJson` where it does not wait, else an awaitable of that."""
    key = next(_keys)
    _running[key] = ctx
    fields = ctx.wire_values()
    outcome = border.invoke(function, key, generic, ctx.remaining_ms, encode_value(args), *fields)
    if isinstance(outcome, str):
        del _running[key]
        return read_outcome(outcome)
    return _settled(outcome, key, ctx)


async def _settled(outcome: Awaitable[str], key: int, ctx: ToolContext) -> RawJson:
    forget = ctx.cancelled.add_callback(lambda: border.abort(key, ctx.cancelled.reason or ""))
    try:
        return read_outcome(await outcome)
    finally:
        forget()
        del _running[key]


def _plain(value: Any) -> object:
    return value.to_wire() if hasattr(value, "to_wire") else value


def _report_progress(key: int, done: float, total: float | None, message: str | None) -> None:
    if key in _running:
        _running[key].progress(done, total, message)


def _ask(key: int, ask_id: int, text: str) -> None:
    task = asyncio.get_running_loop().create_task(_answer(_running.get(key), ask_id, json.loads(text)))
    _asking.add(task)
    task.add_done_callback(_asking.discard)


async def _answer(ctx: ToolContext | None, ask_id: int, given: dict[str, Any]) -> None:
    try:
        if ctx is None:
            raise PedelecError(Code.INVALID_INPUT, "ask() was called after the handler had ended.")
        options = {name: given.get(name) for name in ("options", "schema", "name")}
        outcome = {"value": await ctx.ask(given.get("question", ""), **options)}
    except PedelecError as error:
        outcome = {"error": error.bare()}
    border.answer(ask_id, encode_value(outcome))


_asking: set[asyncio.Task[None]] = set()
