"""Uvicorn's HTTP, which gives nobody more time, and no more connections, than the limits say.

Owns the deadlines of a connection: for a request's head, for its body, and for taking what Core has for it.
Reads no request; its owner decides what to do with one.
"""

import asyncio
import logging
from typing import ClassVar, Final, override

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pedelec_core.limits import ConnectionLimits

_log = logging.getLogger(__name__)

_WAITING_FOR: Final = {h11.IDLE: "head", h11.SEND_BODY: "body"}


class BoundedHttp(H11Protocol):
    """One connection. Use a subclass that `bounded` made.

    A deadline begins with what it is for and is not put off by single bytes, so that a slow sender gains
    nothing by sending some.
    """

    limits: ClassVar[ConnectionLimits] = ConnectionLimits()

    _waits_for: str | None = None
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            _log.warning("more than %d connections: one was refused", self.limits.connections)
            transport.abort()
            return
        self._wait_for("head")

    @override
    def handle_events(self) -> None:
        super().handle_events()
        if self.transport.get_protocol() is self:
            self._wait_for(_WAITING_FOR.get(self.conn.their_state))

    @override
    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._wait_for(None)
        super().handle_websocket_upgrade(event)

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(self.limits.stall_seconds, self._cut, "reads")

    @override
    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_for(None)
        super().connection_lost(exc)

    def _wait_for(self, what: str | None) -> None:
        if what == self._waits_for:
            return
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._waits_for = what
        if what is not None:
            seconds = self.limits.head_seconds if what == "head" else self.limits.body_seconds
            self._deadline = self.loop.call_later(seconds, self._cut, "writes")

    def _cut(self, what: str) -> None:
        _log.warning("an HTTP client %s too slowly: cut off", what)
        self.transport.abort()


def bounded(limits: ConnectionLimits) -> type[BoundedHttp]:
    """The protocol with some limits."""
    return type("BoundedHttp", (BoundedHttp,), {"limits": limits})
