"""The page socket: whole text frames between one WebSocket and a desk, the page desk above all.

Owns a page's connection: its order, its bounds and its end. Looks into no frame; what they mean is the
page desk's business.

Frames do not go through ASGI, whose queues and tasks cost more than all that Core does with most of them:
they go from the protocol to the desk, and back into the transport, within one turn of the event loop. ASGI
opens the connection, behind the guard, and ends it.
"""

import asyncio
import contextlib
import functools
import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Final, Protocol, override

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

from pedelec.errors import Code, PedelecError
from pedelec.protocol import ErrorEvent, encode
from pedelec_core.hub import PageConnection
from pedelec_core.limits import ConnectionLimits

CLOSE_UNSUPPORTED_DATA: Final = 1003
CLOSE_INTERNAL_ERROR: Final = 1011

HOLD_SECONDS: Final = 0.01
"""How long a frame that nobody waits for is held back, that it may share its way with the next one."""

_PROTOCOL: Final = "pedelec.protocol"

_log = logging.getLogger(__name__)


class PageProtocol(WebSocketsSansIOProtocol):
    """Uvicorn's WebSocket, which lends the app what ASGI has no word for: frames at once, cutting off, ping
    and pong.

    A peer that has stopped reading never gets to see a close frame, so it can only be cut off.

    Attributes:
        on_message: hears of each message from then on, text or bytes; without it they wait in ASGI's queue.
        on_pong: hears of each pong.
    """

    on_message: Callable[[str | bytes], None] | None = None
    on_pong: Callable[[], None] | None = None

    @override
    async def run_asgi(self) -> None:
        self.scope["extensions"] = {**(self.scope["extensions"] or {}), _PROTOCOL: {"protocol": self}}
        await super().run_asgi()

    @override
    def send_receive_event_to_app(self) -> None:
        if self.on_message is None or self.close_sent:
            super().send_receive_event_to_app()
            return
        data = b"".join(self.frames)
        try:
            message = data.decode() if self.curr_msg_data_type == "text" else data
        except UnicodeDecodeError:
            super().send_receive_event_to_app()  # which knows how to end such a connection
            return
        self.frames = []
        self.on_message(message)

    @override
    def handle_pong(self, event: Frame) -> None:
        if self.on_pong is not None:
            self.on_pong()

    @property
    def unsent_bytes(self) -> int:
        """How much the other side has yet to read."""
        return self.transport.get_write_buffer_size()

    def send_texts(self, texts: Iterable[str]) -> None:
        """Send frames, in one piece; they are dropped where the connection is over."""
        if self.close_sent or self.transport.is_closing():
            return
        try:
            for text in texts:
                self.conn.send_text(text.encode())
        except InvalidState:
            return  # the other side has closed
        self.transport.write(b"".join(self.conn.data_to_send()))

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def ping(self) -> None:
        """Have the other side answer with a pong, if it still can."""
        if not (self.close_sent or self.transport.is_closing()):
            self.conn.send_ping(b"")
            self.transport.write(b"".join(self.conn.data_to_send()))


class FrameDesk(Protocol):
    """Where the frames of connections go."""

    def opened(self, connection: PageConnection) -> None: ...
    def closed(self, connection: PageConnection) -> None: ...
    def frame(self, connection: PageConnection, text: str) -> None: ...
    def browser_answered(self, connection: PageConnection) -> None: ...


class PageSocket:
    """One page's connection, as the hub sees it (`hub.PageConnection`).

    Args:
        websocket: accepted already.
        origin: where the page comes from.
        protocol: below it.
        max_unsent: bytes. A page that leaves more than this unread is cut off: its share of memory is spent.
    """

    def __init__(self, websocket: WebSocket, origin: str, protocol: PageProtocol, max_unsent: int) -> None:
        self.id = secrets.token_hex(8)
        self.origin = origin
        self._websocket = websocket
        self._protocol = protocol
        self._held: list[str] = []
        self._release: asyncio.TimerHandle | None = None
        self._max_unsent = max_unsent
        self._closing: asyncio.Task[None] | None = None
        self._closed = False

    def send(self, text: str) -> None:
        """Send a frame; it is dropped where the connection is over."""
        self._held.append(text)
        self._send_held()

    def send_later(self, text: str) -> None:
        """Send a frame with the next one, or by itself where none follows soon."""
        self._held.append(text)
        if self._release is None:
            self._release = asyncio.get_running_loop().call_later(HOLD_SECONDS, self._send_held)

    def _send_held(self) -> None:
        if self._release is not None:
            self._release.cancel()
            self._release = None
        held, self._held = self._held, []
        if self._closed or not held:
            return
        self._protocol.send_texts(held)
        if self._protocol.unsent_bytes > self._max_unsent:
            _log.warning("page %s reads too slowly: cut off", self.id)
            self.cut()

    def close(self, code: int, reason: str) -> None:
        """Close once everything is sent. Called again, it does nothing."""
        if not self._closed:
            self._send_held()
            self._closed = True
            self._closing = asyncio.create_task(self._close(code, reason))

    def probe(self) -> None:
        """Have the page's browser answer."""
        self._protocol.ping()

    def cut(self) -> None:
        """End the connection at once, without a word."""
        self._closed = True
        self._protocol.abort()

    async def serve(self, desk: FrameDesk) -> None:
        """Hand every frame to the desk, until the connection is over."""
        self._protocol.on_pong = functools.partial(desk.browser_answered, self)
        self._protocol.on_message = functools.partial(self._received, desk)
        while (event := await self._websocket.receive())["type"] != "websocket.disconnect":
            # What came in one piece with the opening handshake.
            self._received(desk, event["bytes"] if event.get("text") is None else event["text"])
        if self._closing is not None:
            await self._closing

    def _received(self, desk: FrameDesk, message: str | bytes) -> None:
        if self._closed:
            return
        try:
            if isinstance(message, str):
                desk.frame(self, message)
            else:
                self._refuse_binary()
        except Exception:  # noqa: BLE001 — whatever it was, it ends this connection and no other
            _log.exception("page %s: the connection failed", self.id)
            self.close(CLOSE_INTERNAL_ERROR, "internal error")

    async def _close(self, code: int, reason: str) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            await self._websocket.close(code, reason)

    def _refuse_binary(self) -> None:
        error = PedelecError(Code.SDK_PROTOCOL_ERROR, "Core reads text frames only.")
        self.send(encode(ErrorEvent(error=error.to_wire())))
        self.close(CLOSE_UNSUPPORTED_DATA, "text frames only")


class PageEndpoint:
    """The ASGI app behind `/page`. The guard has seen to it that there is one, approved, `Origin`."""

    def __init__(self, desk: FrameDesk, max_unsent: int = ConnectionLimits().unsent_bytes) -> None:
        self._desk = desk
        self._max_unsent = max_unsent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        await websocket.accept()
        protocol: PageProtocol = scope["extensions"][_PROTOCOL]["protocol"]
        page = PageSocket(websocket, websocket.headers["origin"], protocol, self._max_unsent)
        self._desk.opened(page)
        try:
            await page.serve(self._desk)
        finally:
            self._desk.closed(page)
