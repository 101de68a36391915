"""What the SDK needs from the place it runs in, as interfaces.

Owns the border between the SDK and a page: how frames travel, which foreign (JavaScript) values exist and
how they become Python's. Implemented for browsers in `_browser/` and for CPython by the in-memory twin in
`transport.py`; everything else in the SDK sees these interfaces alone.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject, RawJson
from pedelec.questions import Answer, Question

if TYPE_CHECKING:
    from pedelec.context import CancelSignal
    from pedelec.webmcp.claims import Claims

type Handler = Callable[..., Any]

current_host: "ContextVar[Host | None]" = ContextVar("current_host", default=None)
"""The host of the call that this task answers, for the parts of the kit that read what a handler gives."""


class TransportListener(Protocol):
    """Hears what happens to a connection. Calls arrive in order, never from within `connect` or `send`."""

    def opened(self) -> None:
        """Frames may be sent from now on."""

    def received(self, text: str) -> None:
        """One whole frame arrived."""

    def closed(self, reason: str) -> None:
        """The connection is over or never came about; the last call of all. `reason` is for people."""


class Transport(Protocol):
    """One connection to Core: ordered, whole frames, each delivered at most once."""

    def send(self, text: str) -> None:
        """Queue a frame. After `closed` it is dropped without an error: whoever needs to know waits for
        an answer."""

    def close(self) -> None:
        """Close for good; `closed` follows. May be called twice."""


class Dialog(Protocol):
    """What puts a question before the person at the page. Shows one at a time."""

    @property
    def can_show(self) -> bool:
        """Whether there is anything here to show a question on: a web worker has nothing."""

    def open(self, question: Question, answered: Callable[[Answer | None], None]) -> Callable[[], None]:
        """Show a question. Returns what takes it away again, which is called once, answered or not.

        Args:
            question: its texts are shown as text, never as markup.
            answered: called with the answer, or None where the question cannot be shown. Only the first call
                counts, and not from within `open`.
        """


class ModelContext(Protocol):
    """The page's WebMCP API (`document.modelContext`): its tools, and how they are called."""

    claims: "Claims[Any]"
    """Which session of this page has which name there."""

    async def register(
        self,
        key: int,
        tool: JsonObject,
        *,
        called: Callable[[int, RawJson | Exception], None],
        cancelled: Callable[[int], None],
    ) -> str | None:
        """Register a tool; returns None, or why the browser refused.

        `key` names the registration in `unregister`. `called` is given each call's number and input (or why
        it has no JSON); `answer` answers it. `cancelled`: nobody waits for that call any more.
        """

    def unregister(self, key: int) -> None:
        """Take a tool back, also one whose registration is not finished. Calls that run go on."""

    def answer(self, call: int, text: str) -> None:
        """What a call came to, as JSON text."""

    async def tools(self) -> list[JsonObject]:
        """The tools that others registered: `key`, and `name`, `title`, `description`, `inputSchema`,
        `annotations` as the browser has them."""

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have somebody told whenever the tools may have changed; returns what ends that."""

    async def execute(self, key: str, args: JsonObject, cancelled: "CancelSignal") -> JsonObject:
        """Run a tool of `tools`; gives what `webmcp.answers.read_result` reads."""


class Host(Protocol):
    """The page (or its twin) that the SDK runs in."""

    @property
    def dialog(self) -> Dialog:
        """The page's own dialog, made when it is first needed."""

    page_instance_id: str
    """Unguessable, made afresh by each load of the page, kept across reconnects."""

    def default_core_url(self) -> str:
        """Core's address as an `http://host:port` URL, from where the loader came from.

        Raises:
            PedelecError: `CORE_RUNTIME_UNAVAILABLE` where no loader ran: then the address has to be given.
        """

    def is_hidden(self) -> bool:
        """Whether nobody can see the page now: its tab is in the background, its window minimised.

        Nobody ever sees a web worker.
        """

    def watch_visibility(self, changed: Callable[[], None]) -> None:
        """Have somebody told, from now on, when `is_hidden` changes."""

    def connect(self, core_url: str, listener: TransportListener) -> Transport:
        """Open Core's page socket (`/page`). Failure is told through `listener.closed`, never raised."""

    async def explain_unreachable(self, core_url: str) -> PedelecError | None:
        """Why `connect` found no Core there, as far as this place can tell; None where it cannot.

        `LOCAL_NETWORK_DENIED`: the browser has no permission for it; `CREATE_SESSION_NOT_APPROVED`: Core runs
        and does not let this page in; `CORE_RUNTIME_UNAVAILABLE`: it does not run.
        """

    def report(self, stage: str, loaded: int, total: int) -> None:
        """Tell the page how far something is that it waits for."""

    async def model_context(self, *, polyfill: bool = False) -> ModelContext | None:
        """The page's WebMCP API, or None where the browser lacks it and no polyfill is asked for."""

    def is_foreign(self, value: object) -> bool:
        """Whether a value belongs to the host's other language (in a browser: is a JsProxy or `jsnull`)."""

    def foreign_to_json(self, value: object) -> RawJson:
        """A foreign value as JSON text.

        Raises:
            NotJsonSafeError: with the path below the value, its foreign type's name, and a hint.
        """

    def adapt_handler(self, handler: object) -> Handler | None:
        """A foreign function as a Python handler `(args, ctx)`, or None where it is not callable."""

    def adapt_awaitable(self, value: object) -> Awaitable[Any] | None:
        """A foreign promise as an awaitable, or None where it is none."""
