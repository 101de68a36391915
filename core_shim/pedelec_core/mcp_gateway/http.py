"""MCP over Streamable HTTP: both eras on one address.

Owns what becomes of calls when their HTTP request ends, before or after the answer went out. Who may send a
request at all is decided before (`server.guard`, `server.bearer`).
"""

import asyncio
import contextlib
import logging
from http import HTTPStatus
from typing import Final

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from .calls import CallKey
from .gateway import Gateway
from .wire import CHANNEL_SCOPE, Channel

MAX_SESSIONS: Final = 100

_FINISH_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


def is_worth_a_line(record: logging.LogRecord) -> bool:
    """Not so a message that came just as its client ended the session: the SDK has nobody to hand it to."""
    gone = (anyio.BrokenResourceError, anyio.ClosedResourceError)
    return record.exc_info is None or not isinstance(record.exc_info[1], gone)


logging.getLogger("mcp.server.streamable_http").addFilter(is_worth_a_line)


class HttpEndpoint:
    """The ASGI app behind `/mcp`. Works while its `run` context lasts."""

    def __init__(self, gateway: Gateway, max_body_bytes: int) -> None:
        self._gateway = gateway
        self._manager = StreamableHTTPSessionManager(
            gateway.server,
            # Host and Origin are checked for every request of Core, before it gets here.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=max_body_bytes,
            max_sessions=MAX_SESSIONS,
        )
        self.run = self._manager.run
        self._open: set[asyncio.Event] = set()  # those of requests that have no answer yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(self._gateway, scope, send)
        scope[CHANNEL_SCOPE] = exchange.channel
        over = asyncio.Event()
        if scope["method"] == "POST":
            self._open.add(over)
        try:
            await self._manager.asgi_app(scope, receive, exchange.send)
        except Exception:
            if not exchange.is_answered:
                raise
            _log.debug("a request failed after it was answered", exc_info=True)
        finally:
            exchange.close()
            self._open.discard(over)
            over.set()

    async def finish(self) -> None:
        """Wait a moment for the answers that are on their way, once the gateway is closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_SECONDS):
                for over in list(self._open):
                    await over.wait()


class _Exchange:
    """One HTTP request and its response."""

    def __init__(self, gateway: Gateway, scope: Scope, send: Send) -> None:
        headers = Headers(scope=scope)
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        self.channel = Channel(carries=self._carries)
        if session_id is not None:
            self.channel.id = session_id  # cancellations come by another request of the same session
        self._method: str = scope["method"]
        self._is_modern = headers.get(MCP_PROTOCOL_VERSION_HEADER) in MODERN_PROTOCOL_VERSIONS
        self._gateway = gateway
        self._send = send
        self._keys: list[CallKey] = []
        self._is_over = False
        self.is_answered = False

    async def send(self, message: Message) -> None:
        await self._send(message)
        if message["type"] == "http.response.start":
            if message["status"] == HTTPStatus.OK:
                self._started()
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_answered = True
            for key in self._keys:
                self._gateway.calls.received(key)
            self._keys.clear()

    def _started(self) -> None:
        if self._method == "GET":
            self._gateway.stream_opened(self.channel.id)
        elif self._method == "DELETE":
            self._gateway.channel_gone(self.channel.id)

    def close(self) -> None:
        """The request is over; calls whose answers did not go out by now are lost."""
        self._is_over = True
        for key in self._keys:
            self._lost(key)
        self._keys.clear()

    def _carries(self, key: CallKey) -> None:
        if self._is_over:
            self._lost(key)
        else:
            self._keys.append(key)

    def _lost(self, key: CallKey) -> None:
        self._gateway.calls.lost(key, means_cancelled=self._is_modern)
