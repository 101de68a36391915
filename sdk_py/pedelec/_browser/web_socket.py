"""The page's WebSocket to Core as the SDK's transport."""

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Any

from pedelec._browser.page import Proxy, WebSocket, create_proxy, open_socket
from pedelec.host import Transport, TransportListener


def connect(core_url: str, listener: TransportListener) -> Transport:
    """Open Core's `/page`. As `host.Host.connect`: failure is told through `listener.closed`."""
    url = core_url.replace("http", "ws", 1).rstrip("/") + "/page"
    try:
        return WebSocketTransport(open_socket(url), listener)
    except OSError as error:
        asyncio.get_running_loop().call_soon(listener.closed, str(error))
        return NoTransport()


class NoTransport:
    """The connection that the browser refused to try. Implements `host.Transport`."""

    def send(self, text: str) -> None:
        """Drop the frame: the connection is over."""

    def close(self) -> None:
        """Do nothing: `closed` is on its way."""


class InvitedTransport:
    """A connection that begins once the page may ask for it. Implements `host.Transport`."""

    def __init__(self, invitation: Awaitable[Any], core_url: str, listener: TransportListener) -> None:
        self._listener = listener
        self._opened: Transport | None = None
        self._waiting = asyncio.ensure_future(self._open(invitation, core_url))

    def send(self, text: str) -> None:
        if self._opened is not None:
            self._opened.send(text)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        elif not self._waiting.done():
            self._waiting.cancel()
            asyncio.get_running_loop().call_soon(self._listener.closed, "closed by the page")

    async def _open(self, invitation: Awaitable[Any], core_url: str) -> None:
        with contextlib.suppress(Exception):  # whatever kept the page from being asked, connecting shows it
            await invitation
        self._opened = connect(core_url, self._listener)


class WebSocketTransport:
    """One connection. Implements `host.Transport`.

    The proxies that the browser calls live from the first event to `close`, which is always the last.
    """

    def __init__(self, socket: WebSocket, listener: TransportListener) -> None:
        self._socket = socket
        self._listener = listener
        self._open = True
        self._proxies: list[Proxy] = []
        self._listen("open", lambda _event: listener.opened())
        self._listen("message", self._on_message)
        self._listen("close", self._on_close)

    def send(self, text: str) -> None:
        if self._open:
            self._socket.send(text)

    def close(self) -> None:
        self._socket.close()

    def _listen(self, event: str, handle: Any) -> None:
        proxy = create_proxy(handle)
        self._proxies.append(proxy)
        self._socket.addEventListener(event, proxy)

    def _on_message(self, event: Any) -> None:
        if isinstance(event.data, str):
            self._listener.received(event.data)
        else:
            self._socket.close()  # Core sends text alone

    def _on_close(self, event: Any) -> None:
        self._open = False
        for proxy in self._proxies:
            proxy.destroy()
        reason = f"the connection closed ({event.code}{' ' + event.reason if event.reason else ''})"
        self._listener.closed(reason)
