"""A browser's WebMCP API without a browser: what others registered, and what of ours is registered there."""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from pedelec.context import CancelSignal
from pedelec.json_text import JsonObject, RawJson
from pedelec.webmcp.claims import Claims

type Called = Callable[[int, RawJson | Exception], None]


class BrowserTwin:
    """Implements `host.ModelContext`.

    Attributes:
        registered: our tools, by name, as the browser was given them.
        others: the tools of others, as `tools` tells them.
        outcomes: by key, what running one of them comes to; it may be awaitable.
        refusals: by name, why the browser refuses to register it.
    """

    def __init__(self) -> None:
        self.claims: Claims[Any] = Claims()
        self.registered: dict[str, JsonObject] = {}
        self.others: list[JsonObject] = []
        self.outcomes: dict[str, Any] = {}
        self.executed: list[tuple[str, JsonObject]] = []
        self.refusals: dict[str, str] = {}
        self.log: list[str] = []
        self._names: dict[int, str] = {}
        self._called: dict[str, tuple[Called, Callable[[int], None]]] = {}
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._watchers: list[Callable[[], None]] = []

    async def register(
        self, key: int, tool: JsonObject, *, called: Called, cancelled: Callable[[int], None]
    ) -> str | None:
        name = str(tool["name"])
        if name in self.refusals:
            return self.refusals[name]
        if name in self.registered:
            return "InvalidStateError: Duplicate tool name"
        self.log.append(f"+{name}")
        self.registered[name] = tool
        self._names[key] = name
        self._called[name] = (called, cancelled)
        return None

    def unregister(self, key: int) -> None:
        name = self._names.pop(key)
        self.log.append(f"-{name}")
        del self.registered[name]

    def answer(self, call: int, text: str) -> None:
        self._answers[call].set_result(json.loads(text))

    def begin(self, name: str, given: str | Exception = "{}") -> tuple[int, "asyncio.Future[Any]"]:
        """Call one of our tools as an agent of the browser; its number and its answer."""
        call = next(self._numbers)
        answer = self._answers[call] = asyncio.get_running_loop().create_future()
        self._called[name][0](call, RawJson(given) if isinstance(given, str) else given)
        return call, answer

    async def call(self, name: str, given: str | Exception = "{}") -> Any:
        """As `begin`, and wait for the answer."""
        async with asyncio.timeout(5):
            return await self.begin(name, given)[1]

    def abort(self, name: str, call: int) -> None:
        """The agent does not want the answer any more."""
        self._called[name][1](call)

    async def tools(self) -> list[JsonObject]:
        await asyncio.sleep(0)
        return list(self.others)

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(changed)
        return lambda: self._watchers.remove(changed)

    def change(self, *others: JsonObject) -> None:
        """Other scripts have registered these tools now."""
        self.others = list(others)
        for watcher in list(self._watchers):
            watcher()

    @property
    def is_watched(self) -> bool:
        return bool(self._watchers)

    async def execute(self, key: str, args: JsonObject, cancelled: CancelSignal) -> JsonObject:
        self.executed.append((key, args))
        outcome = self.outcomes[key]
        if outcome == "until cancelled":
            return {"failed": f"AbortError: {await cancelled}", "lost": False}
        assert isinstance(outcome, dict)
        return outcome
