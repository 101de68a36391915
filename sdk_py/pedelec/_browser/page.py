"""What the page offers, typed: the JavaScript names that this package uses, and nothing else.

Every import of `js`, `pyodide`, `pyodide_js` and `_pedelec_js` in the SDK stands here. Importing this module
touches nothing of JavaScript: it happens when the memory snapshot is made, far from any page.
"""

import importlib.util
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

import pyodide.code  # type: ignore[import-not-found]
import pyodide.ffi  # type: ignore[import-not-found]
import pyodide.webloop  # type: ignore[import-not-found]

from pedelec.errors import Code, PedelecError
from pedelec.json_safe import MAX_DEPTH
from pedelec.protocol import Limits


class Proxy(Protocol):
    """A Python object that JavaScript holds, until it is destroyed."""

    def destroy(self) -> None: ...


class Bytes(Protocol):
    """A `Uint8Array`."""

    def to_bytes(self) -> bytes: ...


class WebSocket(Protocol):
    """The browser's WebSocket, as far as it is used."""

    def send(self, data: str) -> None: ...

    def close(self) -> None: ...


class NativeContext(Protocol):
    """`document.modelContext`, as webmcp.mjs shows it: texts in, texts out."""

    def register(self, key: int, tool: str) -> Awaitable[str]:
        """Register a tool; "", or why the browser refused."""

    def unregister(self, key: int) -> None:
        """Take it back."""

    def answer(self, call: int, text: str) -> None:
        """Answer a call of one of our tools with JSON text."""

    def tools(self) -> Awaitable[str]:
        """The tools of others, as a JSON list."""

    def watch(self) -> object:
        """Have changes told from now on."""

    def execute(self, call: int, key: str, args: str) -> Awaitable[str]:
        """Run a tool of others; the outcome as a JSON object."""

    def abort(self, call: int, reason: str) -> None:
        """Tell it that nobody waits any more."""


class Border(Protocol):
    """The module `_pedelec_js`, made by the loader (`connect` in bridge.mjs)."""

    core_url: str
    has_document: bool
    """False in a web worker."""

    def open_socket(
        self, url: str, inbox: Proxy, opened: Proxy, received: Proxy, received_large: Proxy, closed: Proxy
    ) -> WebSocket:
        """Connect.

        Args:
            url: where.
            inbox: a bytearray, for the texts of frames as UTF-8.
            opened: called with nothing.
            received: called with the number of bytes in `inbox` that are a frame's text.
            received_large: called with a frame that `inbox` may be too small for, as `Bytes`.
            closed: the last call of all, with the close code and reason.
        """

    def limit(self, max_bytes: int, max_depth: int) -> None:
        """Set what JavaScript writes at most, in bytes (or a little more) and in levels of nesting."""

    def encode(self, value: object) -> str:
        """An outcome (see `outcome.py`) of a foreign value's JSON text."""

    def is_thenable(self, value: object) -> bool:
        """Whether `await` waits for a foreign value."""

    def name_fields(self, names: str) -> None:
        """What the fields of a call's context are called, as a JSON list."""

    def invoke(
        self,
        handler: object,
        key: int,
        generic: bool,
        remaining_ms: float,
        args: str,
        *fields: str | float | None,
    ) -> "str | Awaitable[str]":
        """Run a JavaScript author's handler; an outcome, or a promise of one.

        `fields`: the context's, in the order of `name_fields`, None where there is none.
        """

    def promise(self, value: object) -> Awaitable[Any]:
        """A promise of what a thenable resolves to."""

    def describe(self, thrown: object) -> str:
        """A refusal (see `outcome.py`) for something that was thrown."""

    def notify(self, callback: object, values: str) -> object:
        """Call a JavaScript author's callback with the values of a JSON array."""

    def abort(self, key: int, reason: str) -> None:
        """Tell the handler of a running call that nobody waits for it any more."""

    def on_progress(self, report: Proxy) -> None:
        """Who hears of a running call's progress: `report(key, done, total, message)`."""

    def on_ask(self, ask: Proxy) -> None:
        """Who is asked by running handlers: `ask(key, id, question)`, answered by `answer`."""

    def answer(self, ask_id: int, answer: str) -> None:
        """Answer a handler that has asked."""

    def open_dialog(self, key: int, question: str) -> None:
        """Show a question in the page's dialog; `key` names it."""

    def close_dialog(self, key: int) -> None:
        """Take a question away, shown or not."""

    def on_answer(self, answered: Proxy) -> None:
        """Who hears what the person says: `answered(key, accepted, content)`, `accepted` null if not
        shown."""

    def is_hidden(self) -> bool:
        """Whether nobody can see the page now."""

    def watch_visibility(self, changed: Proxy) -> None:
        """Who hears that this has changed."""

    def webmcp(
        self, polyfill: bool, called: Proxy, cancelled: Proxy, changed: Proxy
    ) -> Awaitable[NativeContext | None]:
        """The page's WebMCP API; None where it has none. The three are called by it."""

    def settle(self, request_id: int, answer: str) -> None:
        """Answer a request of the JavaScript face."""

    def emit(self, key: str, kind: str, event: str) -> None:
        """Tell the JavaScript face of a session's event."""

    def report(self, stage: str, loaded: int, total: int) -> None:
        """Announce `pedelec:progress`."""

    def invitation(self, core_url: str) -> Awaitable[Any] | None:
        """What to wait for before connecting: the browser asks people, and wants them to have begun it."""

    def explain(self, core_url: str) -> Awaitable[str]:
        """Why Core cannot be reached: the JSON text of an error envelope, or blank."""


class _LazyBorder:
    """`_pedelec_js`, looked up when a name of it is first needed.

    It then has that name itself: each look-up in a JavaScript module makes a new proxy.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            import _pedelec_js  # type: ignore[import-not-found]
        except ImportError:
            raise PedelecError(
                Code.CORE_RUNTIME_UNAVAILABLE,
                "No loader connected this Python to its page. Give Core's address, as "
                '`Pedelec("http://127.0.0.1:7420")`; or load pedelec.js from Core and '
                "`await pedelec.attach(pyodide)` before Python uses Pedelec.",
            ) from None
        value = getattr(_pedelec_js, name)
        setattr(self, name, value)
        return value


border = cast(Border, _LazyBorder())
JsProxy: type = pyodide.ffi.JsProxy
Promised: Any = pyodide.webloop.PyodideFuture
"""The future that stands for a JavaScript promise in `await`."""
js_null: object = pyodide.ffi.jsnull


def is_connected() -> bool:
    """Whether a loader has connected this Python to its page, or `attach` has."""
    return "_pedelec_js" in sys.modules or importlib.util.find_spec("_pedelec_js") is not None


def origin() -> str:
    """The origin of the page, or of the worker."""
    import js  # type: ignore[import-not-found]

    return cast(str, js.location.origin)


async def attach(core_url: str) -> None:
    """Connect this Python to its page, or worker, with the JavaScript that Core serves.

    Raises:
        PedelecError: as `pedelec.attach` in JavaScript says; `CORE_RUNTIME_UNAVAILABLE` if it did not load.
    """
    import pyodide_js  # type: ignore[import-not-found]

    load = pyodide.code.run_js("(url) => import(url)")
    try:
        loader = await load(f"{core_url}/pedelec.mjs?attach")
        await loader.attach(pyodide_js)
    except pyodide.ffi.JsException as error:
        envelope = json.loads(pyodide.code.run_js("(error) => JSON.stringify(error)")(error))
        if isinstance(envelope.get("code"), str):
            raise PedelecError.from_wire(envelope) from None
        raise PedelecError(
            Code.CORE_RUNTIME_UNAVAILABLE,
            f"The JavaScript of Core at {core_url} did not load: {error}",
            details={"cause": str(error)},
        ) from None


async def answers(url: str, **options: str) -> bool:
    """Whether a request gets an answer that this origin may have.

    Args:
        url: where. options: those of `fetch`.
    """
    import pyodide.http  # type: ignore[import-not-found]  # where something is amiss

    try:
        await pyodide.http.pyfetch(url, cache="no-store", credentials="omit", **options)
    except OSError:
        return False
    return True


def limit_border() -> None:
    """Tell JavaScript what it writes at most.

    More than any frame holds, so that the session, which knows the limit in force, can name the true size.
    """
    border.limit(2 * Limits().max_frame_bytes, MAX_DEPTH)


def open_socket(url: str, *proxies: Proxy) -> WebSocket:
    """A new WebSocket. Its failure comes as `closed`, save for a URL or a page that allows none.

    Raises:
        OSError: the browser refused at once.
    """
    try:
        return border.open_socket(url, *proxies)
    except pyodide.ffi.JsException as error:
        raise OSError(str(error)) from None


def create_proxy(value: Callable[..., Any] | bytearray) -> Proxy:
    """A function for JavaScript to call, or bytes to write to, until it is destroyed."""
    return cast(Proxy, pyodide.ffi.create_proxy(value))


def is_function(value: object) -> bool:
    """Whether a foreign value can be called."""
    return isinstance(value, JsProxy) and cast(Any, value).typeof == "function"


def is_thenable(value: object) -> bool:
    """Whether a foreign value is a promise, or stands for one."""
    return isinstance(value, JsProxy) and border.is_thenable(value)


async def evaluate(source: str, namespace: dict[str, Any], file: str) -> None:
    """Run a script with top-level `await`; `file` is its name in tracebacks."""
    await pyodide.code.eval_code_async(source, namespace, filename=file)
