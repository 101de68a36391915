"""Uvicorn's WebSocket, with what ASGI has no word for: frames at once, their pace, cutting off, pings.

Frames do not go through ASGI, whose queues and tasks cost more than all that Core does with most of them:
they go from the protocol to the desk, and back into the transport, within one turn of the event loop. ASGI
opens the connection, behind the guard, and ends it.

Owns when bytes are read and how long a message may take to come. Decides nothing about a connection: its
owner gives the bounds, and is told.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, override

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

PROTOCOL: Final = "pedelec.protocol"
"""The ASGI extension under which the app finds the connection's protocol."""

_PIECE_BYTES: Final = 2_048
"""What is parsed before anybody looks whether it was enough: no more small frames than fit in."""
_FRAMES_PER_TURN: Final = 64
"""After so many, others have their turn. Results that come together are to be written down together, too."""

_log = logging.getLogger(__name__)


class PageProtocol(WebSocketsSansIOProtocol):
    """A connection. A peer that has stopped reading never gets to see a close frame: it can only be cut off.

    Attributes:
        on_message: hears of each message from then on, text or bytes; without it they wait in ASGI's queue.
        on_ping: hears of each ping; the pong is on its way.
        on_pong: hears of each pong.
        on_read: hears how many frames were read, and bytes; says for how many seconds nothing is to be read.
        message_seconds: how long a message may take from its first byte to its last.
    """

    on_message: Callable[[str | bytes], None] | None = None
    on_ping: Callable[[], None] | None = None
    on_pong: Callable[[], None] | None = None
    on_read: Callable[[int, int], float] | None = None
    message_seconds: float | None = None

    _frames_read = 0
    _unread = b""
    _reads_on: asyncio.TimerHandle | None = None
    _message_due: asyncio.TimerHandle | None = None
    _message_ended = False

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        self._added: list[bytes] = []

    @override
    async def run_asgi(self) -> None:
        self.scope["extensions"] = {**(self.scope["extensions"] or {}), PROTOCOL: {"protocol": self}}
        await super().run_asgi()

    @override
    async def send(self, message: "ASGISendEvent") -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # it was refused; uvicorn would complain that it never was

    # --- reading --------------------------------------------------------------------------------------------

    @override
    def data_received(self, data: bytes) -> None:
        if self._reads_on is None:
            self._read(data)
        else:  # uvicorn reads on by itself once its queue is empty
            self._unread += data
            self.transport.pause_reading()

    def _read(self, data: bytes) -> None:
        in_this_turn = end = 0
        while end < len(data) and not self.transport.is_closing():
            piece = data[end : end + _PIECE_BYTES]
            end += len(piece)
            self._frames_read = 0
            super().data_received(piece)
            in_this_turn += self._frames_read
            pause = self.on_read(self._frames_read, len(piece)) if self.on_read is not None else 0
            if pause or (in_this_turn > _FRAMES_PER_TURN and end < len(data)):
                self._read_on_in(pause, data[end:])
                break
        self._watch_the_message()

    def _read_on_in(self, seconds: float, unread: bytes) -> None:
        self._unread = unread
        self.transport.pause_reading()
        self._reads_on = self.loop.call_later(seconds, self._read_on)

    def _read_on(self) -> None:
        self._reads_on = None
        unread, self._unread = self._unread, b""
        self._read(unread)
        if self._reads_on is None:
            self.transport.resume_reading()

    def _watch_the_message(self) -> None:
        """Memory is kept for a message that has begun, so it has to end."""
        has_begun = bool(self.frames or self.conn.reader.buffer)
        if self._message_due is not None and (self._message_ended or not has_begun):
            self._message_due.cancel()
            self._message_due = None
        self._message_ended = False
        if has_begun and self._message_due is None and self.message_seconds is not None:
            self._message_due = self.loop.call_later(self.message_seconds, self._cut)

    def _cut(self) -> None:
        _log.warning("a page writes too slowly: cut off")
        self.abort()

    @override
    def handle_events(self) -> None:
        self._frames_read += len(self.conn.events)
        super().handle_events()

    @override
    def send_receive_event_to_app(self) -> None:
        self._message_ended = True
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
    def handle_ping(self) -> None:
        super().handle_ping()
        if self.on_ping is not None:
            self.on_ping()

    @override
    def handle_pong(self, event: Frame) -> None:
        if self.on_pong is not None:
            self.on_pong()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._reads_on, self._message_due):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    # --- writing --------------------------------------------------------------------------------------------

    @property
    def unsent_bytes(self) -> int:
        """How much the other side has yet to read."""
        return self.transport.get_write_buffer_size()

    def add_text(self, text: str) -> None:
        """Have a frame go out with the next `flush`; it is dropped where the connection is over."""
        if self.conn.state is State.OPEN:
            self._added.append(_frame_of(text))

    def flush(self) -> None:
        """Send what was added."""
        frames, self._added = self._added, []
        if frames and self.conn.state is State.OPEN and not self.transport.is_closing():
            self.transport.write(b"".join(frames))

    def abort(self) -> None:
        """End the connection at once."""
        self.transport.abort()

    def ping(self) -> None:
        """Have the other side answer with a pong, if it still can."""
        if not (self.close_sent or self.transport.is_closing()):
            self.conn.send_ping(b"")
            self.transport.write(b"".join(self.conn.data_to_send()))


@lru_cache(maxsize=1)
def _frame_of(text: str) -> bytes:
    """A text as a frame; one that goes to a thousand pages, as a heartbeat does, is made once."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)
