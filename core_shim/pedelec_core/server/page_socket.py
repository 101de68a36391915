"""The page socket: whole text frames between one WebSocket and the page desk.

Owns a page's connection: its order, its bounds and its end. Looks into no frame; what they mean is the
page desk's business.
"""

import asyncio
import contextlib
import functools
import logging
import secrets
from collections.abc import Callable
from typing import Final, override

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from pedelec.errors import Code, PedelecError
from pedelec.protocol import ErrorEvent, Limits, encode
from pedelec_core.page_desk import PageDesk

CLOSE_UNSUPPORTED_DATA: Final = 1003
CLOSE_INTERNAL_ERROR: Final = 1011

MAX_UNSENT_CHARS: Final = 4 * Limits().max_frame_bytes
"""A page that leaves more than this unread is cut off: its share of memory is spent."""

_PROTOCOL: Final = "pedelec.protocol"

_log = logging.getLogger(__name__)


class PageProtocol(WebSocketsSansIOProtocol):
    """Uvicorn's WebSocket, which lends the app what ASGI has no word for: cutting off, ping and pong.

    A peer that has stopped reading never gets to see a close frame, so it can only be cut off.
    """

    on_pong: Callable[[], None] | None = None

    @override
    async def run_asgi(self) -> None:
        self.scope["extensions"] = {**(self.scope["extensions"] or {}), _PROTOCOL: {"protocol": self}}
        await super().run_asgi()

    @override
    def handle_pong(self, event: Frame) -> None:
        if self.on_pong is not None:
            self.on_pong()

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def ping(self) -> None:
        """Have the other side answer with a pong, if it still can."""
        if not (self.close_sent or self.transport.is_closing()):
            self.conn.send_ping(b"")
            self.transport.write(b"".join(self.conn.data_to_send()))


class PageSocket:
    """One page's connection, as the hub sees it (`hub.PageConnection`).

    Args:
        websocket: accepted already.
        origin: where the page comes from.
        protocol: below it.
    """

    def __init__(self, websocket: WebSocket, origin: str, protocol: PageProtocol) -> None:
        self.id = secrets.token_hex(8)
        self.origin = origin
        self._websocket = websocket
        self._protocol = protocol
        self._unsent: asyncio.Queue[str | tuple[int, str]] = asyncio.Queue()
        self._unsent_chars = 0
        self._closed = False

    def send(self, text: str) -> None:
        """Queue a frame; it is dropped where the connection is over."""
        if self._closed:
            return
        self._unsent_chars += len(text)
        if self._unsent_chars > MAX_UNSENT_CHARS:
            _log.warning("page %s reads too slowly: cut off", self.id)
            self.cut()
            return
        self._unsent.put_nowait(text)

    def close(self, code: int, reason: str) -> None:
        """Close once everything queued is sent. Called again, it does nothing."""
        if not self._closed:
            self._closed = True
            self._unsent.put_nowait((code, reason))

    def probe(self) -> None:
        """Have the page's browser answer."""
        self._protocol.ping()

    def cut(self) -> None:
        """End the connection at once, without a word."""
        self._closed = True
        self._protocol.abort()

    async def write(self) -> None:
        """Send what is queued, until the connection is over."""
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                match await self._unsent.get():
                    case str(text):
                        await self._websocket.send_text(text)
                        self._unsent_chars -= len(text)
                    case (code, reason):
                        await self._websocket.close(code, reason)
                        return

    async def read(self, desk: PageDesk) -> None:
        """Hand every frame to the desk, until the connection is over."""
        while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
            if self._closed:
                continue
            text = message.get("text")
            if text is None:
                self._refuse_binary()
            else:
                desk.frame(self, text)

    def _refuse_binary(self) -> None:
        error = PedelecError(Code.SDK_PROTOCOL_ERROR, "Core reads text frames only.")
        self.send(encode(ErrorEvent(error=error.to_wire())))
        self.close(CLOSE_UNSUPPORTED_DATA, "text frames only")


class PageEndpoint:
    """The ASGI app behind `/page`. The guard has seen to it that there is one, approved, `Origin`."""

    def __init__(self, desk: PageDesk) -> None:
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        protocol: PageProtocol = scope["extensions"][_PROTOCOL]["protocol"]
        page = PageSocket(websocket, websocket.headers["origin"], protocol)
        protocol.on_pong = functools.partial(self._desk.browser_answered, page)
        writer = asyncio.create_task(page.write())
        self._desk.opened(page)
        try:
            await page.read(self._desk)
        except Exception:  # noqa: BLE001 — whatever it was, it ends this connection and no other
            _log.exception("page %s: the connection failed", page.id)
            page.close(CLOSE_INTERNAL_ERROR, "internal error")
            await writer
        finally:
            self._desk.closed(page)
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
