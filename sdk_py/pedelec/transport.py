"""The in-memory twin of a page: a host and a transport without a browser, for tests and for embedding.

Owns what a connection does when it is cut, duplicates or holds frames; these are hooks of the twin, no part
of the SDK. Foreign values do not exist here.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pedelec.errors import PedelecError
from pedelec.host import Handler, ModelContext, TransportListener
from pedelec.json_text import RawJson
from pedelec.questions import Answer, Question


class MemoryTransport:
    """Both ends of one connection. The page's end is `host.Transport`, Core's the `core_…` methods.

    Frames are delivered by the event loop in the order in which they were sent, never from within a send.

    Attributes:
        from_page: called with each frame that the page sent, in order.
        on_closed: called once when the connection is over, whoever closed it.
        copies: how often each frame to the page is delivered.
    """

    def __init__(self, listener: TransportListener) -> None:
        self.from_page: Callable[[str], None] = lambda _text: None
        self.on_closed: Callable[[], None] = lambda: None
        self.copies = 1
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._open = False
        self._over = False
        self._held: list[str] | None = None

    @property
    def is_over(self) -> bool:
        return self._over

    # --- the page's end

    def send(self, text: str) -> None:
        if self._open and not self._over:
            self._loop.call_soon(self._arrive_at_core, text)

    def close(self) -> None:
        self.core_close("closed by the page")

    # --- Core's end

    def core_open(self) -> None:
        """Accept the connection."""
        self._open = True
        self._loop.call_soon(self._tell_opened)

    def core_send(self, text: str) -> None:
        """Send a frame to the page."""
        if self._held is not None:
            self._held.append(text)
            return
        for _ in range(self.copies):
            self._loop.call_soon(self._arrive_at_page, text)

    def core_close(self, reason: str) -> None:
        """Close or cut the connection: frames on their way are lost. May be called twice."""
        if not self._over:
            self._over = True
            self._loop.call_soon(self._listener.closed, reason)
            self._loop.call_soon(self.on_closed)

    def hold(self) -> None:
        """Keep frames to the page back until `release`."""
        self._held = self._held or []

    def release(self) -> None:
        """Deliver what was held, in order."""
        held, self._held = self._held or [], None
        for text in held:
            self.core_send(text)

    def _tell_opened(self) -> None:
        if not self._over:
            self._listener.opened()

    def _arrive_at_page(self, text: str) -> None:
        if not self._over:
            self._listener.received(text)

    def _arrive_at_core(self, text: str) -> None:
        if not self._over:
            self.from_page(text)


class MemoryDialog:
    """`host.Dialog` without a screen.

    Attributes:
        shown: every question that was shown, in order.
        now: the one that is shown now, if one is.
        is_broken: whether nothing can be shown.
        can_show: as `host.Dialog` has it.
    """

    def __init__(self) -> None:
        self.shown: list[Question] = []
        self.now: Question | None = None
        self.is_broken = False
        self.can_show = True
        self._answered: Callable[[Answer | None], None] = lambda _answer: None

    def open(self, question: Question, answered: Callable[[Answer | None], None]) -> Callable[[], None]:
        assert self.now is None, "one question at a time"
        if self.is_broken:
            asyncio.get_running_loop().call_soon(answered, None)
            return lambda: None
        self.shown.append(question)
        self.now, self._answered = question, answered
        return self._close

    def answer(self, *, accepted: bool = True, **content: Any) -> None:
        """Be the person."""
        self._answered(Answer(accepted, content))

    def _close(self) -> None:
        self.now = None


class MemoryHost:
    """`host.Host` for CPython.

    Args:
        accept: is given each new connection; calls its `core_open` or `core_close`, then or later.
        model_context: the page's WebMCP API, if it has one.

    Attributes:
        dialog: the page's dialog; a program is the person in front of it.
        obstacle: what `explain_unreachable` tells.
        reports: what was told of stages, in order.
    """

    def __init__(
        self,
        accept: Callable[[MemoryTransport], None],
        *,
        page_instance_id: str = "page",
        model_context: ModelContext | None = None,
    ) -> None:
        self.page_instance_id = page_instance_id
        self.dialog = MemoryDialog()
        self.obstacle: PedelecError | None = None
        self.reports: list[tuple[str, int, int]] = []
        self._accept = accept
        self._hidden = False
        self._watchers: list[Callable[[], None]] = []
        self._model_context = model_context

    def default_core_url(self) -> str:
        return "http://127.0.0.1:0"

    def connect(self, core_url: str, listener: TransportListener) -> MemoryTransport:  # noqa: ARG002 - one Core
        transport = MemoryTransport(listener)
        self._accept(transport)
        return transport

    def is_hidden(self) -> bool:
        return self._hidden

    def watch_visibility(self, changed: Callable[[], None]) -> None:
        self._watchers.append(changed)

    def hide(self, *, hidden: bool = True) -> None:
        """Be in the background from now on, or in front again."""
        self._hidden = hidden
        for changed in self._watchers:
            changed()

    async def explain_unreachable(self, core_url: str) -> PedelecError | None:  # noqa: ARG002 - as above
        return self.obstacle

    def report(self, stage: str, loaded: int, total: int) -> None:
        self.reports.append((stage, loaded, total))

    async def model_context(self, *, polyfill: bool = False) -> ModelContext | None:  # noqa: ARG002
        return self._model_context

    def is_foreign(self, value: object) -> bool:  # noqa: ARG002
        return False

    def foreign_to_json(self, value: object) -> RawJson:  # noqa: ARG002
        raise AssertionError("no value is foreign here")

    def adapt_handler(self, handler: object) -> Handler | None:  # noqa: ARG002
        raise AssertionError("no value is foreign here")

    def adapt_awaitable(self, value: object) -> Awaitable[Any] | None:  # noqa: ARG002
        raise AssertionError("no value is foreign here")
