"""The page socket: whole text frames between one WebSocket and a desk, the page desk above all.

Owns a page's connection: its order, its bounds and its end. Looks into no frame; what they mean is the
page desk's business. Bytes are `page_protocol`'s.
"""

import asyncio
import contextlib
import functools
import logging
import secrets
import time
from collections.abc import Callable
from typing import Final, Protocol

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from pedelec import batches
from pedelec.errors import Code, PedelecError
from pedelec.protocol import ErrorEvent, encode
from pedelec_core.hub import PageConnection
from pedelec_core.limits import ConnectionLimits, CoreLimits
from pedelec_core.pace import Pace, Paces

from .page_protocol import PROTOCOL, PageProtocol

CLOSE_UNSUPPORTED_DATA: Final = 1003
CLOSE_INTERNAL_ERROR: Final = 1011

_log = logging.getLogger(__name__)


class FrameDesk(Protocol):
    """Where the frames of connections go."""

    def opened(self, connection: PageConnection) -> None: ...
    def closed(self, connection: PageConnection) -> None: ...
    def frame(self, connection: PageConnection, text: str) -> None: ...
    def browser_answered(self, connection: PageConnection) -> None: ...


class Cork:
    """What pages are sent within this context leaves at its end, in one piece for each of them.

    A write costs Core, and the browser that reads it, as much as several small frames.
    """

    def __init__(self) -> None:
        self._held: dict[str, PageSocket] | None = None

    def __enter__(self) -> None:
        self._held = {}

    def __exit__(self, *_: object) -> None:
        held, self._held = self._held or {}, None
        for page in held.values():
            page.flush()

    def holds(self, page: "PageSocket") -> bool:
        """Whether a page has to wait with what it was sent: then it is flushed later."""
        if self._held is None:
            return False
        self._held[page.id] = page
        return True


class PageSocket:
    """One page's connection, as the hub sees it (`hub.PageConnection`).

    Args:
        websocket: accepted already.
        origin: where the page comes from.
        protocol: below it.
        pace: its own.
        limits: a page that leaves more unread than these say is cut off: its share of memory is spent.
        cork: holds back what would otherwise be sent at once.
    """

    def __init__(
        self,
        websocket: WebSocket,
        origin: str,
        protocol: PageProtocol,
        pace: Pace,
        limits: ConnectionLimits,
        cork: Cork,
    ) -> None:
        self.id = secrets.token_hex(8)
        self.origin = origin
        self._websocket = websocket
        self._protocol = protocol
        self._pace = pace
        self._limits = limits
        self._cork = cork
        self._unsent: list[str] = []
        self._batches = False
        self._uncounted = 0  # messages that came in the frame of another
        self._closing: asyncio.Task[None] | None = None
        self._closed = False

    def send(self, text: str) -> None:
        """Send a message; it is dropped where the connection is over."""
        if self._closed:
            return
        self._unsent.append(text)
        if not self._cork.holds(self):
            self.flush()

    def flush(self) -> None:
        """Send what was held back."""
        messages, self._unsent = self._unsent, []
        for frame in batches.join(messages) if self._batches else messages:
            self._protocol.add_text(frame)
        self._protocol.flush()
        self._cut_if_unread()

    def _cut_if_unread(self) -> None:
        if self._protocol.unsent_bytes > self._limits.unsent_bytes and not self._closed:
            _log.warning("page %s reads too slowly: cut off", self.id)
            self.cut()

    def close(self, code: int, reason: str) -> None:
        """Close once everything is sent. Called again, it does nothing."""
        if not self._closed:
            self._closed = True
            self._closing = asyncio.create_task(self._close(code, reason))

    def batch(self) -> None:
        """Let messages share frames from now on, in both directions."""
        self._batches = True

    def probe(self) -> None:
        """Have the page's browser answer."""
        self._protocol.ping()

    def cut(self) -> None:
        """End the connection at once, without a word."""
        self._closed = True
        self._protocol.abort()

    async def serve(self, desk: FrameDesk) -> None:
        """Hand every frame to the desk, until the connection is over."""
        self._protocol.message_seconds = self._limits.body_seconds
        self._protocol.on_read = self._count
        self._protocol.on_ping = self._cut_if_unread
        self._protocol.on_pong = functools.partial(desk.browser_answered, self)
        self._protocol.on_message = functools.partial(self._received, desk)
        while (event := await self._websocket.receive())["type"] != "websocket.disconnect":
            # What came in one piece with the opening handshake.
            self._received(desk, event["bytes"] if event.get("text") is None else event["text"])
        if self._closing is not None:
            await self._closing

    def _count(self, frames: int, size: int) -> float:
        if self._closed:
            return 0  # what still comes is thrown away, up to the other side's goodbye
        wait = self._pace.spend(frames + self._uncounted, size, time.monotonic())
        self._uncounted = 0
        if self._pace.is_new:
            _log.warning("page %s sends too fast: it is read more slowly", self.id)
            self.send(encode(ErrorEvent(error=self._pace.too_fast(wait).to_wire())))
        return wait

    def _received(self, desk: FrameDesk, message: str | bytes) -> None:
        if self._closed:
            return
        try:
            if isinstance(message, str):
                self._received_text(desk, message)
            else:
                self._refuse_binary()
        except Exception:  # noqa: BLE001 — whatever it was, it ends this connection and no other
            _log.exception("page %s: the connection failed", self.id)
            self.close(CLOSE_INTERNAL_ERROR, "internal error")

    def _received_text(self, desk: FrameDesk, frame: str) -> None:
        messages = batches.split(frame) if self._batches else [frame]
        self._uncounted += len(messages) - 1
        for message in messages:
            if not self._closed:
                desk.frame(self, message)

    async def _close(self, code: int, reason: str) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            await self._websocket.close(code, reason)

    def _refuse_binary(self) -> None:
        error = PedelecError(Code.SDK_PROTOCOL_ERROR, "Core reads text frames only.")
        self.send(encode(ErrorEvent(error=error.to_wire())))
        self.close(CLOSE_UNSUPPORTED_DATA, "text frames only")


class PageEndpoint:
    """The ASGI app behind `/page`. The guard has seen to it that there is one, approved, `Origin`.

    Args:
        desk: where the frames go.
        limits: on connections, and on how fast they are read.
        shares_with: what the connections of an origin share their rate with; else it is the origin.
        cork: of all its connections.
    """

    def __init__(
        self,
        desk: FrameDesk,
        limits: CoreLimits | None = None,
        shares_with: Callable[[str], str] = str,
        cork: Cork | None = None,
    ) -> None:
        limits = limits or CoreLimits()
        self._desk = desk
        self._limits = limits.connections
        self._paces = Paces(limits.pages)
        self._shares_with = shares_with
        self._cork = cork or Cork()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        protocol: PageProtocol = scope["extensions"][PROTOCOL]["protocol"]
        origin = websocket.headers["origin"]
        pace = self._paces.join(self._shares_with(origin))
        page = PageSocket(websocket, origin, protocol, pace, self._limits, self._cork)
        self._desk.opened(page)
        try:
            await page.serve(self._desk)
        finally:
            pace.leave()
            self._desk.closed(page)
