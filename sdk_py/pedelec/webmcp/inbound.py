"""The browser's tools (`document.modelContext.getTools`), offered to Core under a session.

Owns what is offered, that it follows the browser's changes, and that a tool which Core cannot take does not
keep the others from being offered.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from pedelec.context import ToolContext
from pedelec.errors import Code, PedelecError
from pedelec.host import Host, ModelContext
from pedelec.json_text import JsonObject
from pedelec.session import PedelecSession
from pedelec.webmcp.answers import read_result
from pedelec.webmcp.descriptors import NativeTool, read_tools

logger = logging.getLogger("pedelec")


async def follow(session: PedelecSession, host: Host) -> Callable[[], None]:
    """Offer the browser's tools until the session ends or what this returns is called.

    Raises:
        PedelecError: they could not be offered.
    """
    context = await host.model_context()
    if context is None:
        logger.info("The browser has no WebMCP API: nothing is imported.")
        return _nothing
    following = _Following(session, context)
    await following.start()
    return following.stop


def _nothing() -> None:
    """Stop what never began."""


class _Following:
    """The browser's tools under one session."""

    def __init__(self, session: PedelecSession, context: ModelContext) -> None:
        self._session = session
        self._context = context
        self._offered: list[JsonObject] | None = None  # what Core knows of; None: nobody can say
        self._is_stale = True
        self._is_busy = False
        self._is_over = False
        self._unwatch: Callable[[], None] = _nothing

    async def start(self) -> None:
        self._unwatch = self._context.watch(self._changed)
        try:
            await self._refresh()
        except PedelecError:
            self.stop()
            raise
        self._session._on_joined.append(self._joined)
        self._session.on_ended(self.stop)

    def stop(self) -> None:
        """Offer nothing any more. May be called twice."""
        if self._is_over:
            return
        self._is_over = True
        self._unwatch()
        if self._joined in self._session._on_joined:
            self._session._on_joined.remove(self._joined)
        self._session._set_found({}, {})
        if self._session.get_status() != "ended":
            self._session._owner.start(self._withdraw())

    def _joined(self) -> None:
        """Core may be another one, which knows nothing of the offer."""
        self._offered = None
        self._changed()

    def _changed(self) -> None:
        self._is_stale = True
        if not self._is_busy and not self._is_over:
            self._session._owner.start(self._refresh_quietly())

    async def _refresh_quietly(self) -> None:
        try:
            await self._refresh()
        except PedelecError as error:
            logger.warning("The browser's tools could not be offered. %s", error)
            if error.is_retryable:
                asyncio.get_running_loop().call_later(error.retry_after_seconds or 1, self._changed)

    async def _refresh(self) -> None:
        """Look, and offer, until nothing has changed meanwhile."""
        self._is_busy = True
        try:
            while self._is_stale and not self._is_over:
                self._is_stale = False
                await self._offer(await self._context.tools())
        finally:
            self._is_busy = False

    async def _offer(self, listed: list[JsonObject]) -> None:
        """Offer what Core takes: a schema that it refuses is left out, and what else it refuses, the tool."""
        taken = set(self._session._declared or ())
        refused: dict[str, int] = {}
        while True:
            tools = [
                tool.without_schema() if refused.get(tool.key) else tool
                for tool in read_tools(listed, taken)
                if refused.get(tool.key, 0) < 2
            ]
            manifests = [tool.manifest for tool in tools]
            if manifests == self._offered:
                return
            self._take(tools)
            try:
                await self._session._owner.offer_tools(self._session.session_id, manifests)
            except PedelecError as error:
                tool = _refused_tool(error, tools)
                if tool is None:
                    raise
                if (error.details or {}).get("field") == "name":
                    taken.add(str(tool.manifest["name"]))
                else:
                    refused[tool.key] = refused.get(tool.key, 0) + 1
                    logger.warning("The browser's tool %s is not taken as it is. %s", tool.native_name, error)
            else:
                self._offered = manifests
                return

    def _take(self, tools: list[NativeTool]) -> None:
        manifests = {str(tool.manifest["name"]): tool.manifest for tool in tools}
        handlers = {str(tool.manifest["name"]): partial(self._run, tool) for tool in tools}
        self._session._set_found(manifests, dict(handlers))

    async def _run(self, tool: NativeTool, args: JsonObject, ctx: ToolContext) -> Any:
        outcome = await self._context.execute(tool.key, args, ctx.cancelled)
        return read_result(tool.native_name, outcome)

    async def _withdraw(self) -> None:
        try:
            await self._session._owner.offer_tools(self._session.session_id, [])
        except PedelecError as error:
            logger.info("The browser's tools could not be withdrawn. %s", error)


def _refused_tool(error: PedelecError, tools: list[NativeTool]) -> NativeTool | None:
    """Which tool Core refused, where it is one that it refused."""
    index = (error.details or {}).get("index")
    if error.code != Code.INVALID_INPUT or not isinstance(index, int) or not 0 <= index < len(tools):
        return None
    return tools[index]
