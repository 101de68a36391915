"""The browser's WebMCP API, made Python's: `host.ModelContext` over webmcp.mjs.

Owns the pairing of calls with those who run them or wait for them. Text crosses; the proxies made here live
as long as the page.
"""

import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pedelec._browser.outcome import read_outcome
from pedelec._browser.page import NativeContext, border, create_proxy
from pedelec.context import CancelSignal
from pedelec.json_text import JsonObject, RawJson
from pedelec.webmcp.claims import Claims

type Called = Callable[[int, RawJson | Exception], None]
type Cancelled = Callable[[int], None]

_numbers = itertools.count(1)


class BrowserModelContext:
    """Implements `host.ModelContext`; one for each loaded page (`open_model_context`)."""

    def __init__(self) -> None:
        self.claims: Claims[Any] = Claims()
        self.native: NativeContext
        self._registered: dict[int, tuple[Called, Cancelled]] = {}
        self._calls: dict[int, Cancelled] = {}
        self._watchers: list[Callable[[], None]] = []

    async def register(
        self, key: int, tool: JsonObject, *, called: Called, cancelled: Cancelled
    ) -> str | None:
        self._registered[key] = (called, cancelled)
        return await self.native.register(key, json.dumps(tool)) or None

    def unregister(self, key: int) -> None:
        self._registered.pop(key, None)
        self.native.unregister(key)

    def answer(self, call: int, text: str) -> None:
        self._calls.pop(call, None)
        self.native.answer(call, text)

    async def tools(self) -> list[JsonObject]:
        return cast(list[JsonObject], json.loads(await self.native.tools()))

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        if not self._watchers:
            self.native.watch()
        self._watchers.append(changed)

        def unwatch() -> None:
            if changed in self._watchers:
                self._watchers.remove(changed)

        return unwatch

    async def execute(self, key: str, args: JsonObject, cancelled: CancelSignal) -> JsonObject:
        call = next(_numbers)
        running = self.native.execute(call, key, json.dumps(args, ensure_ascii=False))
        forget = cancelled.add_callback(lambda: self.native.abort(call, cancelled.reason or ""))
        try:
            return cast(JsonObject, json.loads(await running))
        finally:
            forget()

    # --- what webmcp.mjs calls ----------------------------------------------------------------------------

    def on_called(self, key: int, call: int, outcome: str) -> None:
        called, cancelled = self._registered[key]
        self._calls[call] = cancelled
        try:
            given: RawJson | Exception = read_outcome(outcome)
        except Exception as error:  # noqa: BLE001 - whatever keeps it from being JSON, the caller is told
            given = error
        called(call, given)

    def on_cancelled(self, call: int) -> None:
        cancelled = self._calls.pop(call, None)
        if cancelled is not None:
            cancelled(call)

    def on_changed(self) -> None:
        for watcher in list(self._watchers):
            watcher()


_opened: dict[str, BrowserModelContext] = {}


async def open_model_context(*, polyfill: bool) -> BrowserModelContext | None:
    """The page's WebMCP API, or None where it has none."""
    if not _opened:
        context = BrowserModelContext()
        listeners = (context.on_called, context.on_cancelled, context.on_changed)
        proxies = [create_proxy(listener) for listener in listeners]
        native: Awaitable[NativeContext | None] = border.webmcp(polyfill, *proxies)
        found = await native
        if found is None:
            for proxy in proxies:
                proxy.destroy()
            return None
        context.native = found
        return _opened.setdefault("page", context)
    return _opened["page"]
