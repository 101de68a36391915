"""The page's WebSocket to Core as the SDK's transport."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from pedelec._browser.page import Bytes, create_proxy, open_socket
from pedelec.host import Transport, TransportListener

_INBOX_BYTES: Final = 64 * 1024
"""Of a connection. Frames with room to spare in it cost no memory of their own on their way."""


def connect(core_url: str, listener: TransportListener) -> Transport:
    """Open Core's `/page`. As `host.Host.connect`: failure is told through `listener.closed`."""
    url = core_url.replace("http", "ws", 1).rstrip("/") + "/page"
    try:
        return WebSocketTransport(url, listener)
    except OSError as error:
        asyncio.get_running_loop().call_soon(listener.closed, str(error))
        return NoTransport()


class NoTransport:
    """The connection that the browser refused to try. Implements `host.Transport`."""

    def send(self, text: str) -> None:
        """Drop the frame: the connection is over."""

    def close(self) -> None:
        """Do nothing: `closed` is on its way."""


class LaterTransport:
    """A connection that begins once something else has happened. Implements `host.Transport`.

    Args:
        awaited: what has to happen first. Where it raises `OSError` there will be no connection; of anything
            else that keeps it from happening connecting will show the effect.
        connect: makes the connection then.
        listener: that of the connection.
    """

    def __init__(
        self, awaited: Awaitable[Any], connect: Callable[[], Transport], listener: TransportListener
    ) -> None:
        self._connect = connect
        self._listener = listener
        self._opened: Transport | None = None
        self._waiting = asyncio.ensure_future(self._open(awaited))

    def send(self, text: str) -> None:
        if self._opened is not None:
            self._opened.send(text)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        elif not self._waiting.done():
            self._waiting.cancel()
            asyncio.get_running_loop().call_soon(self._listener.closed, "closed by the page")

    async def _open(self, awaited: Awaitable[Any]) -> None:
        try:
            await awaited
        except OSError as error:
            self._opened = NoTransport()
            self._listener.closed(str(error))
            return
        except Exception:  # noqa: BLE001, S110 - as above
            pass
        self._opened = self._connect()


class WebSocketTransport:
    """One connection. Implements `host.Transport`.

    The proxies that the browser calls live from the first event to `closed`, which is always the last.

    Raises:
        OSError: the browser refused at once.
    """

    def __init__(self, url: str, listener: TransportListener) -> None:
        self._listener = listener
        self._open = True
        inbox = bytearray(_INBOX_BYTES)
        self._inbox = memoryview(inbox)
        shared = (inbox, listener.opened, self._received, self._received_large, self._closed)
        self._proxies = [create_proxy(each) for each in shared]
        try:
            socket = open_socket(url, *self._proxies)
        except OSError:
            self._destroy_proxies()
            raise
        # Once: looking a method up makes a proxy each time.
        self._send, self._close = socket.send, socket.close

    def send(self, text: str) -> None:
        if self._open:
            self._send(text)

    def close(self) -> None:
        self._close()

    def _received(self, size: int) -> None:
        self._listener.received(str(self._inbox[:size], "utf-8"))

    def _received_large(self, text: Bytes) -> None:
        self._listener.received(str(text.to_bytes(), "utf-8"))

    def _closed(self, code: int, reason: str) -> None:
        self._open = False
        self._destroy_proxies()
        self._listener.closed(f"the connection closed ({code}{' ' + reason if reason else ''})")

    def _destroy_proxies(self) -> None:
        for proxy in self._proxies:
            proxy.destroy()
