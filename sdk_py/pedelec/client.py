"""The client: what a page starts with. Makes sessions, routes Core's messages to them, delivers results.

Owns the sessions, the order of their events, and the outbox. The connection is `connection`'s, what happens
within a session is `session`'s.
"""

import asyncio
import itertools
import sys
import time
from collections.abc import Coroutine, Iterable
from typing import Any

from pedelec.connection import Connection
from pedelec.errors import Code, PedelecError
from pedelec.host import Host
from pedelec.outbox import Entry, Outbox
from pedelec.protocol import (
    REQUEST_TIMEOUT_MS,
    CoreMessage,
    CreateSession,
    Ended,
    EndSession,
    ErrorEvent,
    GetApprovalStatus,
    JsonObject,
    Message,
    ProtocolError,
    RawJson,
    Response,
    ResumeSession,
    SubmitToolResult,
    ToolCall,
    ToolCancel,
    encode,
)
from pedelec.session import PedelecSession
from pedelec.tools import CheckedTools, ToolDefinition, check_guidance, check_tools

HANDLER_GRACE_SECONDS = 0.5
"""How long calls without a handler wait after their session was made: the page is setting its handlers."""

_GONE = frozenset({Code.THREAD_NOT_FOUND, Code.THREAD_ACCESS_DENIED, Code.SESSION_ENDED})
_client_numbers = itertools.count(1)


class Pedelec:
    """A page's client of one Core. Connects when it is first needed, and again whenever that breaks.

    Args:
        core_url: `http://host:port`; where the loader came from if not given.
        bridge_timeout_ms: how long a request waits for Core's answer.
        max_result_bytes: refuse results over this size earlier than Core's own limit does.
        app_name: what to call this page where sessions are listed.
        host: where the SDK runs; in a browser found by itself.

    Raises:
        PedelecError: `INVALID_INPUT` for an option that cannot be; `CORE_RUNTIME_UNAVAILABLE` where neither
            an address nor a loader is there; `NOT_SUPPORTED` outside a page without a host.
    """

    def __init__(
        self,
        core_url: str | None = None,
        *,
        bridge_timeout_ms: int = REQUEST_TIMEOUT_MS,
        max_result_bytes: int | None = None,
        app_name: str | None = None,
        host: Host | None = None,
    ) -> None:
        _check_option("core_url", core_url, str)
        _check_option("app_name", app_name, str)
        _check_option("bridge_timeout_ms", bridge_timeout_ms, int)
        _check_option("max_result_bytes", max_result_bytes, int)
        self._host = host or _host_of_this_page()
        self.core_url = core_url or self._host.default_core_url()
        self._app_name = app_name
        self._max_result_bytes = max_result_bytes
        self._timeout = bridge_timeout_ms / 1000
        self._events = _Events(self)
        self._connection = Connection(
            self._host,
            self.core_url,
            self._events,
            # Two clients on one page are two instances: each has calls of its own to come back to.
            instance_id=f"{self._host.page_instance_id}-{next(_client_numbers)}",
            timeout_ms=bridge_timeout_ms,
        )
        self._sessions: dict[str, PedelecSession] = {}
        self._last_seq: dict[str, int] = {}
        self._joined: set[str] = set()  # sessions that Core knows this connection to serve
        self._outbox = Outbox()
        self._watch: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def create_session(
        self,
        guidance: str = "",
        tools: Iterable[ToolDefinition | JsonObject] = (),
        auto_end_on_disconnect: bool = True,
    ) -> PedelecSession:
        """Offer tools to the agent.

        Args:
            guidance: text for the agent: what the page is and how its tools go together.
            tools: what `define_tool` and `@tool` made.
            auto_end_on_disconnect: end the session some seconds after its last page went away.

        Raises:
            PedelecError: `INVALID_INPUT` names the tool and the field; else as Core or the connection says.
        """
        check_guidance(guidance)
        _check_option("auto_end_on_disconnect", auto_end_on_disconnect, bool)
        checked = check_tools(tools, self._host)

        def message(request_id: str) -> CreateSession:
            return CreateSession(
                request_id=request_id,
                guidance=guidance,
                tools=checked.manifests,
                auto_end_on_disconnect=auto_end_on_disconnect,
                app_name=self._app_name,
            )

        return await self._connection.request(
            message, lambda result: self._register(result, checked), repeatable=False
        )

    async def resume_session(self, session_id: str) -> PedelecSession:
        """Join a session that this page's origin made before, by its id.

        Its calls go to the handlers set on the returned object; those that came with the definitions of an
        earlier page are not known here.

        Raises:
            PedelecError: `INVALID_INPUT`; `THREAD_ACCESS_DENIED` or `SESSION_ENDED` as Core says.
        """
        _check_option("session_id", session_id, str)
        if not session_id.strip():
            raise PedelecError(Code.INVALID_INPUT, "session_id is required.", details={"field": "session_id"})

        return await self._resume(session_id, repeatable=True)

    async def get_approval_status(self) -> JsonObject:
        """Whether Core is there and lets this page's origin make sessions.

        Returns:
            `installed`, `approved`, `appConnected` (bool) and `origin` (str or None).
        """
        try:
            return await self._connection.request(
                lambda request_id: GetApprovalStatus(request_id=request_id), dict, repeatable=True
            )
        except PedelecError as error:
            if error.code != Code.CORE_RUNTIME_UNAVAILABLE:
                raise
            return {"installed": False, "approved": False, "origin": None, "appConnected": False}

    def close(self) -> None:
        """Let go of Core. The sessions are over for this page; Core ends those that end by themselves."""
        self._connection.close()
        if self._watch is not None:
            self._watch.cancel()
        for session in list(self._sessions.values()):
            session._end("sdk")
            self._forget(session.session_id)

    createSession = create_session  # noqa: N815 - the TypeScript SDK's names
    resumeSession = resume_session  # noqa: N815
    getApprovalStatus = get_approval_status  # noqa: N815

    # --- for the sessions: session.SessionOwner ---------------------------------------------------------

    @property
    def host(self) -> Host:
        return self._host

    @property
    def max_result_bytes(self) -> int:
        """The limit that holds: Core's, or this client's own if that is lower."""
        announced = self._connection.limits.max_result_bytes
        return announced if self._max_result_bytes is None else min(announced, self._max_result_bytes)

    def now(self) -> float:
        return time.time()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        # Eager, so that a handler which does not wait answers in this very turn of the event loop.
        task = asyncio.Task(coroutine, loop=asyncio.get_running_loop(), eager_start=True)
        if not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def send(self, message: Message) -> None:
        self._connection.send(encode(message))

    def submit(self, session_id: str, tool_request_id: str, result: RawJson) -> None:
        request_id = self._connection.new_request_id()
        message = SubmitToolResult(
            request_id=request_id, session_id=session_id, tool_request_id=tool_request_id, result=result
        )
        entry = Entry(request_id, session_id, tool_request_id, encode(message))
        for dropped in self._outbox.add(entry):
            self._delivery_failed(
                dropped, PedelecError(Code.SDK_TRANSPORT_ERROR, "Too many results wait for the connection.")
            )
        self._post(entry)

    def submit_again(self, tool_request_id: str) -> None:
        entry = self._outbox.of_call(tool_request_id)
        if entry is not None:
            entry.connection = 0
            self._post(entry)

    async def end_session(self, session_id: str) -> None:
        try:
            await self._connection.request(
                lambda request_id: EndSession(request_id=request_id, session_id=session_id),
                dict,
                repeatable=True,
            )
        except PedelecError as error:
            if error.code not in _GONE:
                raise
        self._forget(session_id)

    # --- sessions ---------------------------------------------------------------------------------------

    def _register(self, result: JsonObject, tools: CheckedTools | None) -> PedelecSession:
        session_id = result.get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            raise ProtocolError("The response did not include sessionId.")
        self._joined.add(session_id)
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = PedelecSession(self, session_id, tools)
            asyncio.get_running_loop().call_later(HANDLER_GRACE_SECONDS, session._stop_holding)
        return session

    async def _resume(self, session_id: str, *, repeatable: bool) -> PedelecSession:
        def message(request_id: str) -> ResumeSession:
            last_seq = self._last_seq.get(session_id, 0)
            return ResumeSession(request_id=request_id, session_id=session_id, last_seq=last_seq)

        return await self._connection.request(
            message, lambda result: self._register(result, None), repeatable=repeatable
        )

    def _forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        self._last_seq.pop(session_id, None)
        self._joined.discard(session_id)
        self._outbox.drop_session(session_id)

    async def _rejoin(self, session: PedelecSession) -> None:
        """Take a session up again on a new connection, and deliver what became ready meanwhile."""
        session_id = session.session_id
        number = self._connection.number
        while session_id in self._sessions:
            try:
                await self._resume(session_id, repeatable=False)
            except PedelecError as error:
                if not self._connection.ready or self._connection.number != number:
                    return  # lost again: the next connection does it
                session._session_failed(error, "sdk")
                if error.code in _GONE:
                    session._end("sdk")
                    self._forget(session_id)
                elif error.code != Code.SDK_BRIDGE_TIMEOUT:
                    return
            else:
                session._connection_changed(connected=True)
                for entry in self._outbox.of_session(session_id):
                    self._post(entry)
                return

    # --- results ----------------------------------------------------------------------------------------

    def _post(self, entry: Entry) -> None:
        """Send an entry, once on each connection; without one it waits."""
        ready = self._connection.ready and entry.session_id in self._joined
        if not ready or entry.connection == self._connection.number:
            return
        entry.connection = self._connection.number
        entry.sent_at = time.monotonic()
        self._connection.send(entry.frame)
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(self._timeout, self._look_for_overdue)

    def _look_for_overdue(self) -> None:
        self._watch = None
        for entry in self._outbox.overdue(time.monotonic() - self._timeout):
            entry.reported = True
            self._delivery_failed(
                entry, PedelecError(Code.SDK_BRIDGE_TIMEOUT, "Core did not confirm it in time.")
            )
        if len(self._outbox):
            self._watch = asyncio.get_running_loop().call_later(self._timeout, self._look_for_overdue)

    def _confirmed(self, message: Response) -> None:
        entry = self._outbox.take(message.request_id)
        if entry is not None and not message.ok:
            self._delivery_failed(entry, PedelecError.from_wire(message.error))

    def _delivery_failed(self, entry: Entry, cause: PedelecError) -> None:
        session = self._sessions.get(entry.session_id)
        if session is not None:
            session._delivery_failed(entry.tool_request_id, cause)


class _Events:
    """The connection's listener: `connection.ConnectionListener`, kept off the client's public face."""

    def __init__(self, client: Pedelec) -> None:
        self._client = client

    def is_wanted(self) -> bool:
        return bool(self._client._sessions)

    def connected(self) -> None:
        for session in list(self._client._sessions.values()):
            self._client.start(self._client._rejoin(session))

    def disconnected(self) -> None:
        self._client._joined.clear()
        for session in list(self._client._sessions.values()):
            session._connection_changed(connected=False)

    def event(self, message: CoreMessage) -> None:
        client = self._client
        match message:
            case Response():
                client._confirmed(message)
            case ErrorEvent(session_id=None):
                for session in list(client._sessions.values()):
                    session._session_failed(PedelecError.from_wire(message.error), "core")
            case ErrorEvent(session_id=str(session_id)) if session_id in client._sessions:
                client._sessions[session_id]._session_failed(PedelecError.from_wire(message.error), "core")
            case ToolCall() | ToolCancel() | Ended() if message.session_id in client._sessions:
                self._session_event(client._sessions[message.session_id], message)

    def _session_event(self, session: PedelecSession, message: ToolCall | ToolCancel | Ended) -> None:
        client = self._client
        if message.seq > client._last_seq.get(session.session_id, 0):
            client._last_seq[session.session_id] = message.seq
        match message:
            case ToolCall():
                session._call(message, client.now())
            case ToolCancel():
                session._cancel(message.tool_request_id, message.reason)
            case Ended():
                session._end("core")
                client._forget(session.session_id)


def _check_option(name: str, value: object, kind: type) -> None:
    if value is None or (type(value) is kind and (type(value) is not int or value > 0)):
        return
    expected = {int: "a positive integer", str: "a string", bool: "True or False"}[kind]
    raise PedelecError(Code.INVALID_INPUT, f"{name} must be {expected}.", details={"field": name})


def _host_of_this_page() -> Host:
    if sys.platform == "emscripten":
        from pedelec._browser import browser_host

        return browser_host()
    raise PedelecError(
        Code.NOT_SUPPORTED,
        "Pedelec() runs in a page, under Pyodide. Elsewhere it needs a host, as Pedelec(host=...).",
    )
