"""Tabs of a real browser whose sockets meet with faults: Playwright stands between the page and Core."""

import asyncio
import inspect
import json
from collections.abc import Coroutine
from dataclasses import dataclass, field
from urllib.parse import urlencode

from playwright.async_api import BrowserContext, Page, WebSocketRoute

from pedelec import batches
from tests.chaos.ledger import Ledger
from tests.chaos.schedules import Act, Faults, Schedule

LOAD_SECONDS = 120.0
"""How long a page may take to start, on a busy machine."""

_ABNORMAL = 3001
"""Any close code of an application: the one of a lost connection cannot be sent."""


class PageDidNotOpenError(Exception):
    """The page has no session in good time. The message is what it said, and every frame that passed."""


@dataclass(slots=True)
class _Wire:
    """One connection of the page."""

    page_side: WebSocketRoute
    core_side: WebSocketRoute
    over: bool = False

    async def close(self) -> None:
        """End it on both sides."""
        for side in (self.core_side, self.page_side):
            closing = side.close(code=_ABNORMAL)
            if inspect.isawaitable(closing):  # Playwright's two sides differ
                await closing


@dataclass
class BrowserTab:
    """A tab of the browser, which may be reloaded or crash. What `pages.Tab` is, with a browser in it."""

    schedule: Schedule
    core_url: str
    ledger: Ledger
    context: BrowserContext
    session_id: str = ""
    _loads: int = 0
    _page: Page | None = None
    _faults: Faults = field(init=False)
    _opened: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _heard: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults = Faults(self.schedule.frame_faults)

    async def open(self, session_id: str = "") -> None:
        """Open the tab and have it load the page."""
        self._page = await self.context.new_page()
        self._page.on("console", lambda message: self._heard.append(f"{message.type}: {message.text}"))
        self._page.on("pageerror", lambda error: self._heard.append(f"uncaught: {error}"))
        for event in ("request", "requestfinished", "requestfailed"):
            self._page.on(event, lambda request, event=event: self._heard.append(f"{event}: {request.url}"))
        await self._page.expose_function("ledgerStarted", self.ledger.started)
        await self._page.expose_function("ledgerFinished", self.ledger.finished)
        await self._page.expose_function("opened", self._has_opened)
        await self._page.route_web_socket("**/page", self._connect)
        await self._load(session_id)

    async def opened(self) -> str:
        """The id of the session, once there is one."""
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await self._opened.wait()
        except TimeoutError:
            raise PageDidNotOpenError("\n".join(self._heard) or "and said nothing") from None
        return self.session_id

    async def leave(self) -> None:
        """Close the tab for good."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._page is not None:
            await self._page.close()

    async def _load(self, session_id: str) -> None:
        assert self._page is not None
        self._loads += 1
        words = {"tool": self.schedule.tool, "handler": self.schedule.handler}
        if session_id:
            words["session"] = session_id
        await self._page.goto(f"{self.core_url}/tab.html?{urlencode(words)}", wait_until="commit")

    def _has_opened(self, session_id: str) -> None:
        self.session_id = session_id
        self._opened.set()

    # --- faults

    def _connect(self, page_side: WebSocketRoute) -> None:
        wire = _Wire(page_side, page_side.connect_to_server())
        load = f"load-{self._loads}"
        page_side.on_message(lambda text: self._pass(wire, load, "to_core", str(text)))
        wire.core_side.on_message(lambda text: self._pass(wire, load, "to_page", str(text)))

    def _pass(self, wire: _Wire, load: str, direction: str, text: str) -> None:
        if wire.over:
            return
        messages = [json.loads(message) for message in batches.split(text)]
        kinds = [message["type"] for message in messages]
        self._heard += (f"{direction}: {kind}" for kind in kinds)
        for message in messages:
            self.ledger.frame(load, direction, message)
        act = self._faults.meet(direction, *kinds)
        to = wire.core_side if direction == "to_core" else wire.page_side
        if act not in {Act.CUT_BEFORE, Act.RELOAD, Act.CRASH}:
            for _ in range(2 if act is Act.DUPLICATE else 1):
                to.send(text)
        if act in {Act.CUT_BEFORE, Act.CUT_AFTER}:
            wire.over = True
            self._later(wire.close())
        elif act in {Act.RELOAD, Act.CRASH}:
            wire.over = True
            self._later(self._lose_page(crash=act is Act.CRASH))

    async def _lose_page(self, *, crash: bool) -> None:
        assert self._page is not None
        if not crash:
            await self._load(self.session_id)
            return
        crashed, self._page = self._page, None
        is_over = asyncio.Event()
        crashed.on("crash", lambda _: is_over.set())
        devtools = await self.context.new_cdp_session(crashed)
        command = asyncio.create_task(devtools.send("Page.crash"))  # nobody is left to answer it
        await is_over.wait()
        command.cancel()
        await asyncio.gather(command, return_exceptions=True)
        await crashed.close()
        await self.open(self.session_id)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
