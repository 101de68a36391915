"""The page as the SDK's host: `host.Host` for browsers."""

import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from pedelec._browser import visibility, web_socket
from pedelec._browser.dialog import BrowserDialog
from pedelec._browser.joining import Joining
from pedelec._browser.js_handlers import JsHandler
from pedelec._browser.outcome import read_outcome
from pedelec._browser.page import JsProxy, border, is_connected, is_function, is_thenable, js_null
from pedelec.errors import PedelecError
from pedelec.host import Handler, ModelContext, Transport, TransportListener
from pedelec.json_text import RawJson


class BrowserHost:
    """Implements `host.Host`; one for each loaded page (`browser_host`)."""

    def __init__(self) -> None:
        self._joining = Joining()
        self.page_instance_id = secrets.token_urlsafe(16)
        self.dialog = BrowserDialog()

    def default_core_url(self) -> str:
        return border.core_url

    def connect(self, core_url: str, listener: TransportListener) -> Transport:
        if is_connected():
            return _connect(core_url, listener)
        joined = self._joining.join(core_url)
        return web_socket.LaterTransport(joined, lambda: _connect(core_url, listener), listener)

    async def explain_unreachable(self, core_url: str) -> PedelecError | None:
        if not is_connected():
            return self._joining.obstacle
        envelope = await border.explain(core_url)
        return PedelecError.from_wire(json.loads(envelope)) if envelope else None

    def report(self, stage: str, loaded: int, total: int) -> None:
        border.report(stage, loaded, total)

    def is_hidden(self) -> bool:
        return visibility.is_hidden()

    def watch_visibility(self, changed: Callable[[], None]) -> None:
        visibility.watchers.append(changed)

    async def model_context(self, *, polyfill: bool = False) -> ModelContext | None:
        from pedelec._browser.model_context import open_model_context  # when a page first asks for it

        return await open_model_context(polyfill=polyfill)

    def is_foreign(self, value: object) -> bool:
        return value is js_null or isinstance(value, JsProxy)

    def foreign_to_json(self, value: object) -> RawJson:
        return read_outcome(border.encode(value))

    def adapt_handler(self, handler: object) -> Handler | None:
        return JsHandler(handler) if is_function(handler) else None

    def adapt_awaitable(self, value: object) -> Awaitable[Any] | None:
        return _awaited(value) if is_thenable(value) else None


def _connect(core_url: str, listener: TransportListener) -> Transport:
    invitation = border.invitation(core_url)
    if invitation is None:
        return web_socket.connect(core_url, listener)
    return web_socket.LaterTransport(invitation, lambda: web_socket.connect(core_url, listener), listener)


async def _awaited(promise: Any) -> Any:
    # A thenable that is no promise has no `__await__` of its own, and may hand out another thenable.
    return await border.promise(promise)
