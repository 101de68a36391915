"""What pages may ask of Core: reads their frames, answers their requests.

Owns the handshake, which page may do what and touch which session, and that every request gets exactly one
response. Whether an origin is approved is told by an `Approver`.
What a request leads to is decided in `sessions` and `invocations` and carried out by the hub.
"""

import asyncio
import itertools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Protocol

from pedelec import json_safe
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, RawJson, encode_value
from pedelec.protocol import (
    PROTOCOL_VERSION,
    ApprovalPending,
    CheckArgs,
    CreateSession,
    EndSession,
    ErrorEvent,
    GetApprovalStatus,
    Hello,
    Limits,
    OfferTools,
    PageMessage,
    Ping,
    Pong,
    ProtocolError,
    RequestApproval,
    Response,
    ResumeSession,
    SubmitToolResult,
    ToolProgress,
    ToolResumed,
    ToolWaiting,
    Welcome,
    decode_from_page,
    encode,
)
from pedelec.shown_text import MAX_SHOWN_CHARS
from pedelec.wire_fields import to_camel
from pedelec_core import __version__, call_errors, page_text
from pedelec_core.admission import Admission
from pedelec_core.approvals import Claim, claim_of, not_approved
from pedelec_core.call_events import Progress
from pedelec_core.connected_page import COUNTED_REQUESTS, ConnectedPage
from pedelec_core.heartbeats import Heartbeats
from pedelec_core.hub import Hub, PageConnection, new_id, now
from pedelec_core.page_questions import open_question
from pedelec_core.page_text import MAX_ID_CHARS
from pedelec_core.pulse import HEARTBEAT_SECONDS
from pedelec_core.registry import ToolRegistry, parse_args
from pedelec_core.sessions import Session
from pedelec_core.unread_frames import is_too_large, request_id_of

CLOSE_PROTOCOL_ERROR = 1002  # RFC 6455, section 7.4.1
CLOSE_POLICY_VIOLATION = 1008  # RFC 6455, section 7.4.1
CLOSE_TRY_AGAIN_LATER = 1013  # the registry of RFC 6455, section 11.7
CLOSE_REPLACED = 4001  # RFC 6455, section 7.4.2: ours to choose


class Approver(Protocol):
    """Who knows which origins are approved, and has a person asked about others (`approval_desk`)."""

    def is_approved(self, origin: str) -> bool:
        """Whether pages of an origin may do more than ask."""

    def ask(
        self, origin: str, claim: Claim, decided: Callable[[PedelecError | None], None]
    ) -> tuple[str, float]:
        """Have a person asked; `decided` is called once, later. Returns a name for `leave`, and seconds.

        Raises:
            PedelecError: the origin is refused at once.
        """

    def leave(self, waiter: str) -> None:
        """Whoever asked is gone."""


type _Outcome = tuple[JsonObject | None, tuple[Session, int] | None]
"""A message's result, and the session that the page joins once it has been told."""


class PageDesk:
    """Serves every connected page. Nothing that a page sends makes it raise."""

    def __init__(self, hub: Hub, approver: Approver, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._hub = hub
        self._approver = approver
        self._pages: dict[str, ConnectedPage] = {}  # by connection id
        self._newest: dict[tuple[str, str], ConnectedPage] = {}  # by origin and instance id
        self._numbers = itertools.count(1)
        self._heartbeats = Heartbeats(hub, heartbeat_seconds)
        self._admission = Admission(hub.limits)

    def opened(self, connection: PageConnection) -> None:
        """A page's connection is open. Its first frame has to be `hello`."""
        page = ConnectedPage(connection, self._hub, next(self._numbers))
        if self._is_stranger(page) and self._strangers() >= self._hub.limits.connections.strangers:
            connection.close(CLOSE_TRY_AGAIN_LATER, "too many pages ask for approval")
            return
        try:
            self._admission.check_connection(self._connections_of(connection.origin))
        except PedelecError as error:
            connection.send(encode(ErrorEvent(error=error.to_wire())))
            connection.close(CLOSE_TRY_AGAIN_LATER, "too many connections")
            return
        self._pages[connection.id] = page
        patience = self._hub.limits.connections.head_seconds
        page.hello_due = asyncio.get_running_loop().call_later(patience, connection.cut)
        self._hub.connect(connection)

    def closed(self, connection: PageConnection) -> None:
        """A page's connection is gone, for whatever reason."""
        page = self._pages.pop(connection.id, None)
        if page is not None:
            self._let_go(page)
            if page.hello_due is not None:
                page.hello_due.cancel()
            if self._newest.get(page.key) is page:
                del self._newest[page.key]
        self._heartbeats.stop(connection)
        self._hub.disconnect(connection)

    def browser_answered(self, connection: PageConnection) -> None:
        """The page's browser answered a probe (a WebSocket pong came)."""
        self._heartbeats.browser_answered(connection)

    def frame(self, connection: PageConnection, text: str) -> None:
        """One frame of a page. Whatever is wrong with it is told to the page."""
        page = self._pages.get(connection.id)
        if page is None or page.faults > self._hub.limits.pages.faults_per_page:
            return
        self._heartbeats.heard(connection)
        try:
            message = self._read(text)
        except PedelecError as error:
            told = error.request_id if isinstance(error, ProtocolError) else None
            _refuse(page, error, request_id_of(text, told))
            page.faults += 1
            if page.faults > self._hub.limits.pages.faults_per_page:
                page.close(CLOSE_POLICY_VIOLATION, "too many frames that are no messages")
            return
        if isinstance(message, COUNTED_REQUESTS):
            try:
                self._admission.check_request(page.unanswered)
            except PedelecError as error:
                _refuse(page, error, message.request_id)
                return
            page.unanswered += 1
        self._answer(page, message)

    def _read(self, text: str) -> PageMessage:
        """The message in a frame. Names that pages give are echoed and kept, so they may not be long."""
        most = self._hub.limits.wire.max_frame_bytes
        if is_too_large(text, most):
            raise PedelecError(Code.MESSAGE_TOO_LARGE, f"A frame may be {most} bytes long.")
        message = decode_from_page(text)
        name = message.page_instance_id if isinstance(message, Hello) else getattr(message, "request_id", "")
        if len(name) > MAX_ID_CHARS:
            raise ProtocolError(f"An id of the page must not be longer than {MAX_ID_CHARS} characters.")
        return message

    def _answer(self, page: ConnectedPage, message: PageMessage) -> None:
        request_id: str | None = getattr(message, "request_id", None)
        try:
            result, session = self._handle(page, message)
        except PedelecError as error:
            self._refuse_request(page, message, error)
            return
        if result is None:
            return  # the answer comes later
        if isinstance(message, SubmitToolResult):
            page.confirm(message)
        elif request_id is not None:
            page.answer(message, Response(request_id=request_id, ok=True, result=result))
        if session is not None:
            self._join(page, *session)

    def _refuse_request(self, page: ConnectedPage, message: PageMessage, error: PedelecError) -> None:
        request_id: str | None = getattr(message, "request_id", None)
        if request_id is None:
            _refuse(page, error, None)
        else:
            page.answer(message, Response(request_id=request_id, ok=False, error=error.to_wire()))

    def origins_revoked(self) -> None:
        """Origins were revoked: the sessions of those that are not approved are over."""
        for session in self._hub.live_sessions():
            if not self._approver.is_approved(session.origin):
                self._hub.end(session, "revoked")

    def _handle(self, page: ConnectedPage, message: PageMessage) -> _Outcome:
        """What comes of a message; an outcome without a result: it waits for a person.

        It is looked at again with their word.
        """
        match message:
            case Hello():
                self._hello(page, message)
            case Ping():
                page.send(Pong(id=message.id))
            case Pong():
                pass
            case _ if not page.instance_id:
                raise ProtocolError(f"{message.type} came before hello.")
            case GetApprovalStatus():
                return self._approval(page), None
            case CreateSession() | RequestApproval() if self._is_stranger(page):
                self._ask(page, message)
                return None, None
            case _ if self._is_stranger(page):
                raise not_approved(page.connection.origin)
            case _:
                return self._serve(page, message)
        return {}, None

    def _serve(self, page: ConnectedPage, message: PageMessage) -> _Outcome:
        """A message of a page whose origin is approved."""
        match message:
            case SubmitToolResult():  # first: hardly anything else comes
                self._submit(page, message)
            case RequestApproval():
                return {"approved": True}, None
            case CreateSession():
                session = self._create_session(page, message)
                return {"sessionId": session.id}, (session, 0)
            case ResumeSession():
                session = self._owned(page, message.session_id)
                self._admission.check_join(session, page.instance_id)
                return {"sessionId": session.id}, (session, message.last_seq)
            case OfferTools():
                self._offer(page, message)
            case CheckArgs():
                self._check_args(self._owned(page, message.session_id), message)
            case EndSession():
                self._hub.end(self._owned(page, message.session_id), "requested")
            case ToolProgress():
                self._progress(page, message)
            case ToolWaiting() | ToolResumed():
                self._waiting(page, message)
        return {}, None

    def _let_go(self, page: ConnectedPage) -> None:
        """Nobody waits any more for what this connection asked."""
        for waiter in page.waiting.values():
            self._approver.leave(waiter)
        page.waiting.clear()

    def _is_stranger(self, page: ConnectedPage) -> bool:
        return not self._approver.is_approved(page.connection.origin)

    def _connections_of(self, origin: str) -> int:
        return sum(page.connection.origin == origin for page in self._pages.values())

    def _strangers(self) -> int:
        return sum(map(self._is_stranger, self._pages.values()))

    def _ask(self, page: ConnectedPage, message: CreateSession | RequestApproval) -> None:
        """Have a person asked whether the page's origin may come in."""
        request_id = message.request_id
        if request_id in page.waiting:
            raise ProtocolError("The request waits already.", request_id=request_id)
        if len(page.waiting) >= self._hub.limits.approvals.per_page:
            raise not_approved(page.connection.origin)

        def decided(error: PedelecError | None) -> None:
            page.waiting.pop(request_id, None)
            if error is not None:
                self._refuse_request(page, message, error)
            else:
                self._answer(page, message)

        claim = claim_of(message.app_name, message.tools)
        waiter, seconds = self._approver.ask(page.connection.origin, claim, decided)
        page.waiting[request_id] = waiter
        page.send(ApprovalPending(request_id=request_id, timeout_ms=round(seconds * 1000)))

    def _hello(self, page: ConnectedPage, message: Hello) -> None:
        if message.protocol != PROTOCOL_VERSION or not message.page_instance_id:
            error = ProtocolError(
                f"The page speaks protocol {message.protocol}, this Core {PROTOCOL_VERSION}. "
                "Load the SDK from this Core."
            )
            page.send(ErrorEvent(error=error.to_wire()))
            page.close(CLOSE_PROTOCOL_ERROR, "protocol version")
            return
        if page.instance_id not in {"", message.page_instance_id}:
            raise ProtocolError("A page cannot become another on the same connection.")
        page.instance_id = message.page_instance_id
        if page.hello_due is not None:
            page.hello_due.cancel()
        if not self._is_newest(page):
            return
        self._heartbeats.start(page.connection)
        # A stranger learns that Core is there, and nothing by which to know it again elsewhere.
        stranger = self._is_stranger(page)
        limits = Limits() if stranger else self._hub.limits.wire
        page.send(
            Welcome(
                protocol=PROTOCOL_VERSION,
                core_instance_id="" if stranger else self._hub.instance_id,
                core_version="" if stranger else __version__,
                heartbeat_ms=round(self._heartbeats.interval * 1000),
                limits={to_camel(name): value for name, value in asdict(limits).items()},
                batches=message.batches or None,
            )
        )
        if message.batches:
            page.connection.batch()

    def _is_newest(self, page: ConnectedPage) -> bool:
        """Whether this is the newest connection of its page instance; older ones are closed.

        What a page said on a connection that it has given up may be read after its next connection is there.
        """
        known = self._newest.get(page.key, page)
        older, newer = sorted((known, page), key=lambda each: each.number)
        self._newest[page.key] = newer
        if older is not newer:
            self._let_go(self._pages.pop(older.connection.id))
            self._heartbeats.stop(older.connection)
            older.close(CLOSE_REPLACED, "replaced by a newer connection")
        return newer is page

    def _create_session(self, page: ConnectedPage, message: CreateSession) -> Session:
        made_by = (page.instance_id, message.request_id)
        if known := next((each for each in self._hub.live_sessions() if each.made_by == made_by), None):
            return known
        moment = now()
        origin = page.connection.origin
        self._admission.check_session(message, origin, self._hub.live_sessions(), moment.seconds)
        session = Session(
            new_id("ses_"),
            origin=origin,
            app_name=self._admission.app_name(message),
            guidance=self._admission.guidance(message),
            registry=self._registry(message.tools, origin),
            auto_end=message.auto_end_on_disconnect,
            now=moment,
            new_id=new_id,
            limits=self._hub.limits.calls,
            times=self._hub.times,
            made_by=made_by,
        )
        self._hub.add(session)
        return session

    def _registry(
        self, manifests: list[JsonObject], origin: str, taken: Collection[str] = ()
    ) -> ToolRegistry:
        limits = self._hub.limits
        with self._working(origin) as began:
            return ToolRegistry.from_manifests(
                manifests, limits.offers, lambda: now().seconds - began < limits.pages.schema_seconds, taken
            )

    @contextmanager
    def _working(self, origin: str) -> Iterator[float]:
        """The time that something takes with schemas, which the origin is charged."""
        began = now().seconds
        try:
            yield began
        finally:
            self._admission.was_busy(origin, now().seconds - began)

    def _join(self, page: ConnectedPage, session: Session, last_seq: int) -> None:
        """Comes after the response: a page has to know the session before it hears of its calls."""
        self._hub.attach(session, page.instance_id, page.connection, last_seq)

    def _offer(self, page: ConnectedPage, message: OfferTools) -> None:
        session = self._owned(page, message.session_id)
        if page.instance_id not in session.pages:
            raise ProtocolError("offer_tools came before the page joined the session.")
        self._admission.check_work(session.origin, now().seconds)
        offered = self._registry(message.tools, session.origin, session.declared.names())
        session.offer(page.instance_id, offered)
        self._hub.offer_changed()

    def _check_args(self, session: Session, message: CheckArgs) -> None:
        """As an agent's arguments are checked, which are text."""
        self._admission.check_work(session.origin, now().seconds)
        tool = session.registry.get(message.tool)
        with self._working(session.origin):
            tool.validate(parse_args(encode_value(message.args), self._hub.limits.wire))

    def _submit(self, page: ConnectedPage, message: SubmitToolResult) -> None:
        session = self._hub.sessions.get(message.session_id)
        if session is None or session.origin != page.connection.origin:
            raise call_errors.unknown_invocation(message.tool_request_id)
        result, fault = self._checked(message.result)
        error, decisions = session.calls.result(message.tool_request_id, page.instance_id, result, now())
        self._hub.carry_out(session, decisions)
        if error or fault:
            raise error or fault or AssertionError

    def _checked(self, result: object) -> tuple[RawJson, PedelecError | None]:
        """A result as the agent may get it. Pages are not trusted to have checked theirs.

        One that is not in order is answered as the SDK would have answered it: the agent must not wait.
        """
        limits = self._hub.limits.wire
        try:
            return json_safe.encode(
                result, max_bytes=limits.max_result_bytes, max_depth=limits.max_depth
            ), None
        except json_safe.ResultError as fault:
            return RawJson(encode_value({"error": fault.to_wire()})), fault

    def _progress(self, page: ConnectedPage, message: ToolProgress) -> None:
        session = self._owned(page, message.session_id)
        invocation = session.calls.get(message.tool_request_id)
        if invocation is None or invocation.instance_id != page.instance_id:
            return
        told = None if message.message is None else page_text.on_one_line(message.message, MAX_SHOWN_CHARS)
        self._hub.tell_callers(invocation, Progress(message.done, message.total, told))

    def _waiting(self, page: ConnectedPage, message: ToolWaiting | ToolResumed) -> None:
        session = self._owned(page, message.session_id)
        call_id, question_id = message.tool_request_id, message.question_id
        if isinstance(message, ToolResumed):
            decisions = session.calls.asks_no_more(call_id, page.instance_id, question_id)
        else:
            decisions = session.calls.asks(call_id, page.instance_id, open_question(message))
        self._hub.carry_out(session, decisions)

    def _approval(self, page: ConnectedPage) -> JsonObject:
        approved = not self._is_stranger(page)
        return {
            "installed": True,
            "approved": approved,
            "origin": page.connection.origin,
            "appConnected": True,
        }

    def _owned(self, page: ConnectedPage, session_id: str) -> Session:
        """The live session of the page's own origin.

        Another origin's session is refused in the words used for one that does not exist.
        """
        session = self._hub.sessions.get(session_id)
        if session is None or session.origin != page.connection.origin:
            raise self._admission.wrong_session(page.connection.origin, now().seconds)
        if not session.live:
            raise PedelecError(Code.SESSION_ENDED)
        return session


def _refuse(page: ConnectedPage, error: PedelecError, request_id: str | None) -> None:
    if request_id is not None:
        page.send(Response(request_id=request_id, ok=False, error=error.to_wire()))
    else:
        page.send(ErrorEvent(error=error.to_wire()))
