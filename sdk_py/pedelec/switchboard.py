"""Between one connection and the sessions that it serves.

Owns the sessions, which of them Core knows this connection to serve, the way of each message to its session,
and the outbox: results go out once on each connection until Core confirms them. Implements
`connection.ConnectionListener` and `session.SessionOwner`.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from pedelec.connection import Connection
from pedelec.errors import Code, PedelecError
from pedelec.handlers import Bound
from pedelec.host import Host
from pedelec.json_text import JsonObject, RawJson
from pedelec.outbox import Entry, Outbox
from pedelec.protocol import (
    CheckArgs,
    CoreMessage,
    Ended,
    EndSession,
    ErrorEvent,
    Message,
    OfferTools,
    ProtocolError,
    Response,
    ResultsConfirmed,
    ResumeSession,
    SubmitToolResult,
    ToolAnswer,
    ToolCall,
    ToolCancel,
    encode,
)
from pedelec.session import PedelecSession
from pedelec.tools import CheckedTools

HANDLER_GRACE_SECONDS = 0.5
"""How long calls without a handler wait after their session was made: the page is setting its handlers."""

_GONE = frozenset(
    {
        Code.THREAD_NOT_FOUND,
        Code.THREAD_ACCESS_DENIED,
        Code.SESSION_ENDED,
        Code.CREATE_SESSION_NOT_APPROVED,  # the origin was revoked while the page was away
    }
)


class Switchboard:
    """The sessions of one client.

    Args:
        instance_id: tells Core that a connection made again belongs to the same client.
        timeout_ms: how long a request, or a result, waits for Core's answer.
        max_result_bytes: the client's own limit, if it has one.
    """

    def __init__(
        self, host: Host, core_url: str, *, instance_id: str, timeout_ms: int, max_result_bytes: int | None
    ) -> None:
        self.host = host
        self.connection = Connection(host, core_url, self, instance_id=instance_id, timeout_ms=timeout_ms)
        self.outbox = Outbox()
        self.question_handler: Bound | None = None
        self._timeout = timeout_ms / 1000
        self._max_result_bytes = max_result_bytes
        self._sessions: dict[str, PedelecSession] = {}
        self._last_seq: dict[str, int] = {}
        self._joined: set[str] = set()  # the sessions that Core knows the present connection to serve
        self._watch: asyncio.TimerHandle | None = None
        self._watches = 0  # not a clock tells what is overdue: a look at one is dear
        self._tasks: set[asyncio.Task[None]] = set()

    # --- sessions ---------------------------------------------------------------------------------------

    def register(self, result: JsonObject, tools: CheckedTools | None) -> PedelecSession:
        """The session that Core's answer names: a new object, or the one that is here already."""
        session_id = result.get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            raise ProtocolError("The response did not include sessionId.")
        self._joined.add(session_id)
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = PedelecSession(self, session_id, tools)
            asyncio.get_running_loop().call_later(HANDLER_GRACE_SECONDS, session._stop_holding)
        return session

    async def resume(self, session_id: str, *, repeatable: bool) -> PedelecSession:
        def message(request_id: str) -> ResumeSession:
            last_seq = self._last_seq.get(session_id, 0)
            return ResumeSession(request_id=request_id, session_id=session_id, last_seq=last_seq)

        return await self.connection.request(
            message, lambda result: self.register(result, None), repeatable=repeatable
        )

    def close(self) -> None:
        self.connection.close()
        if self._watch is not None:
            self._watch.cancel()
        for session in list(self._sessions.values()):
            session._end("sdk")
            self._forget(session.session_id)

    def _forget(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        self._last_seq.pop(session_id, None)
        self._joined.discard(session_id)
        self.outbox.drop_session(session_id)

    async def _rejoin(self, session: PedelecSession) -> None:
        """Take a session up again on a new connection, and deliver what became ready meanwhile."""
        session_id = session.session_id
        number = self.connection.number
        while session_id in self._sessions:
            try:
                await self.resume(session_id, repeatable=False)
            except PedelecError as error:
                if not self.connection.ready or self.connection.number != number:
                    return  # lost again: the next connection does it
                session._session_failed(error, "sdk")
                if error.code in _GONE:
                    session._end("sdk")
                    self._forget(session_id)
                elif error.code != Code.SDK_BRIDGE_TIMEOUT:
                    return
            else:
                session._connection_changed(connected=True)
                for entry in self.outbox.of_session(session_id):
                    self._post(entry)
                return

    # --- session.SessionOwner ---------------------------------------------------------------------------

    @property
    def max_result_bytes(self) -> int:
        announced = self.connection.limits.max_result_bytes
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
        self.connection.send(encode(message))

    def submit(self, session_id: str, tool_request_id: str, result: RawJson) -> None:
        request_id = self.connection.new_request_id()
        message = SubmitToolResult(
            request_id=request_id, session_id=session_id, tool_request_id=tool_request_id, result=result
        )
        entry = Entry(request_id, session_id, tool_request_id, encode(message))
        for dropped in self.outbox.add(entry):
            problem = "Too many results wait for Core to confirm them."
            self._delivery_failed(dropped, PedelecError(Code.SDK_TRANSPORT_ERROR, problem))
        self._post(entry)

    def submit_again(self, tool_request_id: str) -> None:
        entry = self.outbox.of_call(tool_request_id)
        if entry is not None:
            entry.connection = 0
            self._post(entry)

    async def end_session(self, session_id: str) -> None:
        def message(request_id: str) -> EndSession:
            return EndSession(request_id=request_id, session_id=session_id)

        try:
            await self.connection.request(message, dict, repeatable=True)
        except PedelecError as error:
            if error.code not in _GONE:
                raise
        self._forget(session_id)

    async def offer_tools(self, session_id: str, manifests: list[JsonObject]) -> None:
        def message(request_id: str) -> OfferTools:
            return OfferTools(request_id=request_id, session_id=session_id, tools=manifests)

        await self.connection.request(message, dict, repeatable=False)

    async def check_args(self, session_id: str, tool: str, args: JsonObject) -> None:
        def message(request_id: str) -> CheckArgs:
            return CheckArgs(request_id=request_id, session_id=session_id, tool=tool, args=args)

        await self.connection.request(message, dict, repeatable=True)

    # --- connection.ConnectionListener --------------------------------------------------------------------

    def is_wanted(self) -> bool:
        return bool(self._sessions)

    def connected(self) -> None:
        for session in list(self._sessions.values()):
            self.start(self._rejoin(session))

    def disconnected(self) -> None:
        self._joined.clear()
        for session in list(self._sessions.values()):
            session._connection_changed(connected=False)

    def event(self, message: CoreMessage) -> None:
        match message:
            case ResultsConfirmed():
                for request_id in message.request_ids:
                    self.outbox.take(request_id)
            case Response():
                self._answered(message)
            case ErrorEvent():
                error = PedelecError.from_wire(message.error)
                for session in list(self._sessions.values()):
                    if message.session_id in (None, session.session_id):
                        session._session_failed(error, "core")
            case ToolCall() | ToolCancel() | Ended() | ToolAnswer() if message.session_id in self._sessions:
                self._session_event(self._sessions[message.session_id], message)

    def _session_event(
        self, session: PedelecSession, message: ToolCall | ToolCancel | Ended | ToolAnswer
    ) -> None:
        if isinstance(message, ToolAnswer):
            session._answered(message)
            return
        # Not used to drop events: a call is known by its id, the others may come twice.
        self._last_seq[session.session_id] = max(message.seq, self._last_seq.get(session.session_id, 0))
        match message:
            case ToolCall():
                session._call(message, self.now())
            case ToolCancel():
                session._cancel(message.tool_request_id, message.reason)
            case Ended():
                session._end("core")
                self._forget(session.session_id)

    # --- results ----------------------------------------------------------------------------------------

    def _post(self, entry: Entry) -> None:
        """Send an entry, once on each connection; without one it waits."""
        ready = self.connection.ready and entry.session_id in self._joined
        if not ready or entry.connection == self.connection.number:
            return
        entry.connection = self.connection.number
        entry.watch = self._watches
        self.connection.send(entry.frame)
        if self._watch is None:
            self._begin_watch()

    def _begin_watch(self) -> None:
        self._watches += 1
        self._watch = asyncio.get_running_loop().call_later(self._timeout, self._look_for_overdue)

    def _look_for_overdue(self) -> None:
        self._watch = None
        for entry in self.outbox.overdue(self._watches):
            entry.reported = True
            problem = "Core did not confirm it in time."
            self._delivery_failed(entry, PedelecError(Code.SDK_BRIDGE_TIMEOUT, problem))
        if len(self.outbox):
            self._begin_watch()

    def _answered(self, message: Response) -> None:
        entry = self.outbox.take(message.request_id)
        if entry is not None and not message.ok:
            self._delivery_failed(entry, PedelecError.from_wire(message.error))

    def _delivery_failed(self, entry: Entry, cause: PedelecError) -> None:
        session = self._sessions.get(entry.session_id)
        if session is not None:
            session._delivery_failed(entry.tool_request_id, cause)
