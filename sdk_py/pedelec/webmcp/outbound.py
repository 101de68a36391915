"""A session's tools, registered with the browser (`document.modelContext.registerTool`).

Owns the registrations of one session, and the calls that come by them. They go through the session's own
dispatch, so they have the same lookup, the same checks and one answer each; their arguments are checked by
Core, as an agent's are, since the browser checks none.
"""

import asyncio
import itertools
import logging
from typing import Protocol

from pedelec.context import EventContext
from pedelec.errors import Code, Effects, PedelecError
from pedelec.host import ModelContext
from pedelec.json_text import JsonObject, RawJson
from pedelec.protocol import DEFAULT_TOOL_TIMEOUT_MS, ToolCall
from pedelec.session import PedelecSession
from pedelec.webmcp import answers
from pedelec.webmcp.descriptors import native_tool

logger = logging.getLogger("pedelec")

_numbers = itertools.count(1)


class ArgsChecker(Protocol):
    """Who checks arguments: Core."""

    async def check_args(self, session_id: str, tool: str, args: JsonObject) -> None:
        """Raises `TOOL_ARGS_INVALID`, or why they could not be checked."""


async def offer(
    session: PedelecSession, manifests: list[JsonObject], context: ModelContext, checker: ArgsChecker
) -> None:
    """Register the tools of a session until it ends. What the browser refuses is logged."""
    tools = [_Registration(session, manifest, context, checker) for manifest in manifests]

    def withdraw(_ctx: EventContext) -> None:
        for tool in tools:
            tool.withdraw()

    session.on_ended(withdraw)
    await asyncio.gather(*(tool.claim() for tool in tools))


class _Registration:
    """One tool of one session."""

    def __init__(
        self, session: PedelecSession, manifest: JsonObject, context: ModelContext, checker: ArgsChecker
    ) -> None:
        self._session = session
        self._manifest = manifest
        self._name = str(manifest["name"])
        self._context = context
        self._checker = checker
        self._key: int | None = None
        self._checking: set[int] = set()  # calls whose arguments are being checked, unless called off

    async def claim(self) -> None:
        """Take the name, from an older session if need be, and register."""
        before = self._context.claims.take(self._name, self)
        if isinstance(before, _Registration):
            before._let_go()
        await self._register()

    def withdraw(self) -> None:
        """Unregister for good; an older session that still offers the name has it again."""
        self._let_go()
        heir = self._context.claims.drop(self._name, self)
        if isinstance(heir, _Registration):
            heir._session._owner.start(heir._register())

    async def _register(self) -> None:
        key = self._key = next(_numbers)
        problem = await self._context.register(
            key, native_tool(self._manifest), called=self._called, cancelled=self._cancelled
        )
        if problem is not None and self._key == key:
            self._key = None
            logger.warning("The browser did not register the tool %s. %s", self._name, problem)

    def _let_go(self) -> None:
        if self._key is not None:
            self._context.unregister(self._key)
            self._key = None

    # --- calls --------------------------------------------------------------------------------------------

    def _called(self, call: int, given: RawJson | Exception) -> None:
        self._session._owner.start(self._answer(call, given))

    def _cancelled(self, call: int) -> None:
        if call in self._checking:
            self._checking.discard(call)  # it will not be run
        else:
            self._session._give_up_here(_request_id(call), PedelecError(Code.TOOL_CANCELLED), "cancelled")

    async def _answer(self, call: int, given: RawJson | Exception) -> None:
        self._checking.add(call)
        try:
            args = answers.read_input(self._name, given)
            await self._checker.check_args(self._session.session_id, self._name, args)
            if call not in self._checking:
                raise PedelecError(Code.TOOL_CANCELLED, effects=Effects.NONE)
        except PedelecError as error:
            self._context.answer(call, self._session._failure(self._name, error).text)
            return
        finally:
            self._checking.discard(call)
        limit = self._manifest.get("timeoutMs", DEFAULT_TOOL_TIMEOUT_MS)
        assert isinstance(limit, int)
        timer = asyncio.get_running_loop().call_later(limit / 1000, self._time_out, call, limit)

        def settle(result: RawJson) -> None:
            timer.cancel()
            self._context.answer(call, result.text)

        self._session._call_here(self._message(call, args, limit), settle)

    def _time_out(self, call: int, limit: int) -> None:
        safe = bool(self._manifest.get("readOnly") or self._manifest.get("idempotent"))
        error = answers.timed_out(self._name, limit, safe_to_repeat=safe)
        self._session._give_up_here(_request_id(call), error, "timeout")

    def _message(self, call: int, args: JsonObject, limit: int) -> ToolCall:
        request_id = _request_id(call)
        return ToolCall(
            session_id=self._session.session_id,
            seq=0,
            tool_request_id=request_id,
            turn_id=request_id,
            turn_started_at=round(self._session._owner.now() * 1000),
            tool=self._name,
            timeout_ms=limit,
            args=args,
        )


def _request_id(call: int) -> str:
    return f"webmcp_{call}"
