"""Where pages and agents meet: carries out what sessions and invocations decide.

Owns the sessions, the live connections, the callers that wait, the clocks and the timers. Every decision
about a call is made in `invocations` and `sessions`; what pages ask is read in `page_desk`, what agents ask
in `agent_desk`. Knows no sockets: a page is anything that can `send` and `close`.
"""

import asyncio
import functools
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from pedelec.json_text import JsonObject
from pedelec.protocol import CoreMessage, Ended, ToolAnswer, ToolCall, ToolCancel, encode
from pedelec_core import __version__
from pedelec_core.call_events import CallEvent, CallListener, Waiting
from pedelec_core.commits import Commits
from pedelec_core.invocation import (
    Accept,
    Answer,
    AnswerOnPage,
    CancelOnPage,
    Decision,
    Deliver,
    Forget,
    Instant,
    Invocation,
    Save,
    TellWaiting,
)
from pedelec_core.journal import Journal
from pedelec_core.limits import CoreLimits
from pedelec_core.records import session_from_record
from pedelec_core.sessions import Session, SessionTimes

CLOSE_GOING_AWAY = 1001  # RFC 6455, section 7.4.1

_log = logging.getLogger(__name__)


class PageConnection(Protocol):
    """One page's connection, as the server sees it."""

    @property
    def id(self) -> str:
        """Unique among the connections of this Core."""

    @property
    def origin(self) -> str:
        """The page's origin, as its browser sent it."""

    def send(self, text: str) -> None:
        """Queue a frame; never blocks, never raises."""

    def close(self, code: int, reason: str) -> None:
        """Close with a WebSocket close code, once everything queued is sent."""

    def batch(self) -> None:
        """Let messages share frames from now on, in both directions (`pedelec.batches`)."""

    def probe(self) -> None:
        """Ask the page's browser for a sign of life (a WebSocket ping); its answer comes to the page desk."""

    def cut(self) -> None:
        """End the connection at once, without a word."""


@dataclass(slots=True)
class Waiter:
    """A caller that waits for its answer."""

    answer: asyncio.Future[Answer]
    listener: CallListener | None


def now() -> Instant:
    """This moment, by the process's clocks."""
    return Instant(time.monotonic(), time.time_ns() // 1_000_000)


def new_id(prefix: str) -> str:
    """An unguessable id: the prefix and 128 random bits."""
    return prefix + secrets.token_urlsafe(16)


class Hub:
    """All sessions of one Core. Made and used inside one running event loop.

    `telling`: as in `Commits`.
    """

    def __init__(
        self,
        *,
        limits: CoreLimits | None = None,
        times: SessionTimes | None = None,
        journal: Journal | None = None,
        telling: AbstractContextManager[object] | None = None,
    ) -> None:
        self.instance_id = new_id("core_")
        self.limits = limits or CoreLimits()
        self.times = times or SessionTimes()
        self.sessions: dict[str, Session] = {}
        self.waiters: dict[str, Waiter] = {}
        self.commits = Commits(journal, now, telling)
        self._seq_bases: dict[str, int] = {}  # by session id
        self._connections: dict[str, PageConnection] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._session_of: dict[str, Session] = {}  # by invocation id
        self._watchers: list[Callable[[], None]] = []
        self._observers: list[Callable[[Session, Decision], None]] = []
        self._started = time.monotonic()

    def connect(self, connection: PageConnection) -> None:
        """A page's connection is open."""
        self._connections[connection.id] = connection

    def disconnect(self, connection: PageConnection) -> None:
        """A page's connection is gone, for whatever reason."""
        self._connections.pop(connection.id, None)
        for session in self.live_sessions():
            if connection.id in session.connections():
                self.carry_out(session, session.detach(connection.id, now()))
                self.offer_changed()

    def page_answers(self, connection: PageConnection, *, answers: bool) -> None:
        """A connected page does not answer heartbeats any more, or does so again."""
        for session in self.live_sessions():
            if connection.id in session.connections():
                self.carry_out(session, session.page_answers(connection.id, now(), answers=answers))
                self.offer_changed()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Have somebody told, from now on, whenever what pages offer may have changed."""
        self._watchers.append(watcher)

    def observe(self, observer: Callable[[Session, Decision], None]) -> None:
        """Have somebody told, from now on, of each decision about a call, before it is carried out."""
        self._observers.append(observer)

    def offer_changed(self) -> None:
        """Sessions came or went, or their pages did."""
        for watcher in self._watchers:
            watcher()

    def live_sessions(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.live]

    def session_with(self, invocation_id: str) -> Session | None:
        """The session of an invocation that is still remembered."""
        return self._session_of.get(invocation_id)

    def restore(self, journal: Journal) -> None:
        """Take up what an earlier Core left in the journal.

        Raises:
            JournalError: it cannot be read.
        """
        moment = now()
        for record, invocations in journal.load():
            try:
                session = session_from_record(
                    record,
                    invocations,
                    new_id=new_id,
                    limits=self.limits,
                    times=self.times,
                    now=moment,
                )
            except Exception:  # noqa: BLE001 — one session that cannot be read must not keep Core from starting
                _log.exception("session %s of %s is left out: it cannot be read", record.id, journal.path)
                continue
            self._session_of |= {each.id: session for each in invocations}
            self.add(session)

    def add(self, session: Session) -> None:
        self.sessions[session.id] = session
        self._seq_bases[session.id] = session.seq
        self._save(session)
        self._arm(session)
        self.offer_changed()

    def attach(self, session: Session, instance_id: str, connection: PageConnection, last_seq: int) -> None:
        """A page joins a session, or comes back to it."""
        known = session.pages
        self.carry_out(session, session.attach(instance_id, connection.id, last_seq, now()))
        if instance_id not in known:
            self._save(session)
        self.offer_changed()

    def tell(self, connection: PageConnection, message: CoreMessage) -> None:
        """Send a message once everything that was decided before it is written down."""
        self.commits.tell(lambda: connection.send(encode(message)))

    def carry_out(self, session: Session, decisions: list[Decision]) -> None:
        """Do what was decided, in order, and see to it that the session is ticked when it is due."""
        for decision in decisions:
            for observe in self._observers:
                observe(session, decision)
            invocation = decision.invocation
            match decision:
                case Save():
                    self.commits.save(invocation, session.id, can_wait=decision.can_wait)
                case Answer():
                    self.commits.tell(functools.partial(self._answer, decision))
                case Accept():
                    self._session_of[invocation.id] = session
                    self.commits.save(invocation, session.id)
                case Deliver():
                    self.commits.save(invocation, session.id)
                    self._send(session, invocation, _tool_call)
                case Forget():
                    self._session_of.pop(invocation.id, None)
                    self.commits.forget(invocation.id)
                case CancelOnPage():
                    self.commits.save(invocation, session.id)
                    self._send(session, invocation, _tool_cancel)
                case TellWaiting():
                    self.tell_callers(invocation, Waiting(tuple(invocation.questions.values())))
                case AnswerOnPage():
                    self._send(session, invocation, functools.partial(_tool_answer, decision))
        self._arm(session)

    def tell_callers(self, invocation: Invocation, event: CallEvent) -> None:
        """Let all who wait for a call hear something of it."""
        for caller in invocation.callers:
            waiter = self.waiters.get(caller)
            if waiter is not None and waiter.listener is not None:
                waiter.listener(event)

    def end(self, session: Session, reason: str) -> None:
        """End a session and tell its pages."""
        if not session.live:
            return
        self.carry_out(session, session.end(now()))
        self._save(session)
        self.offer_changed()
        ended = Ended(session_id=session.id, seq=session.next_seq(), reason=reason)
        for connection_id in session.connections():
            connection = self._connections.get(connection_id)
            if connection is not None:
                self.tell(connection, ended)

    def status(self) -> JsonObject:
        """How Core is."""
        live = self.live_sessions()
        return {
            "version": __version__,
            "coreInstanceId": self.instance_id,
            "uptimeSeconds": round(time.monotonic() - self._started, 3),
            "pages": len(self._connections),
            "sessions": len(live),
            "runningCalls": sum(session.calls.running() for session in live),
        }

    async def close(self) -> None:
        """Let go of everything: Core is about to stop."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.commits.close()
        for connection in list(self._connections.values()):
            connection.close(CLOSE_GOING_AWAY, "Core stops")

    def _arm(self, session: Session) -> None:
        """Set the session's one timer; it may go off early, which does no harm, but never late."""
        due = session.next_due()
        timer = self._timers.get(session.id)
        if due is not None and timer is not None and timer.when() <= due:
            return
        if timer is not None:
            timer.cancel()
        if due is None:
            self._timers.pop(session.id, None)
            return
        loop = asyncio.get_running_loop()
        delay = max(0.0, due - time.monotonic())
        self._timers[session.id] = loop.call_at(loop.time() + delay, self._tick, session)

    def _tick(self, session: Session) -> None:
        self._timers.pop(session.id, None)
        moment = now()
        if session.is_over(moment):
            self._forget(session)
            return
        if session.live and session.is_abandoned(moment):
            self.end(session, "disconnected")
        self.carry_out(session, session.tick(moment))

    def _forget(self, session: Session) -> None:
        """The last that is done for a session: no timer is armed for it any more."""
        del self.sessions[session.id]
        del self._seq_bases[session.id]
        invocation_ids = session.calls.ids()
        for invocation_id in invocation_ids:
            self._session_of.pop(invocation_id, None)
        self.commits.forget_session(session.id, invocation_ids)

    def _save(self, session: Session) -> None:
        self.commits.save_session(session, self._seq_bases[session.id])

    def _answer(self, decision: Answer) -> None:
        waiter = self.waiters.get(decision.caller)
        if waiter is None or waiter.answer.done():
            return
        try:
            outcome = self.commits.outcome(decision.invocation) if decision.outcome.spilled else None
            waiter.answer.set_result(decision if outcome is None else replace(decision, outcome=outcome))
        except Exception as error:  # noqa: BLE001 — whatever it was, the caller must not wait for ever
            waiter.answer.set_exception(error)

    def _send(
        self,
        session: Session,
        invocation: Invocation,
        message: Callable[[Session, Invocation], CoreMessage],
    ) -> None:
        """Send to the page that runs an invocation, if it is connected when the time has come."""
        frame = encode(message(session, invocation))

        def send() -> None:
            connection_id = session.connection_of(invocation.instance_id or "")
            connection = self._connections.get(connection_id or "")
            if connection is not None:
                connection.send(frame)

        self.commits.tell(send)


def _tool_call(session: Session, invocation: Invocation) -> ToolCall:
    return ToolCall(
        session_id=session.id,
        seq=invocation.seq,
        tool_request_id=invocation.id,
        turn_id=invocation.turn_id,
        turn_started_at=invocation.turn_started_at,
        tool=invocation.call.tool,
        timeout_ms=invocation.remaining_ms(now()),
        args=invocation.call.args,
        approval=invocation.call.approval,
    )


def _tool_cancel(session: Session, invocation: Invocation) -> ToolCancel:
    return ToolCancel(
        session_id=session.id,
        seq=invocation.cancel_seq,
        tool_request_id=invocation.id,
        reason=invocation.cancel_reason,
    )


def _tool_answer(decision: AnswerOnPage, session: Session, invocation: Invocation) -> ToolAnswer:
    return ToolAnswer(
        session_id=session.id,
        tool_request_id=invocation.id,
        question_id=decision.question_id,
        action="accept" if decision.answer.accepted else "decline",
        content=decision.answer.content,
    )
