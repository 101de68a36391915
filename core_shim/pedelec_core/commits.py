"""Written first, told afterwards: everything that changes in one turn of the event loop goes to the journal
as one batch, and only then do pages and agents hear of it. What nobody hears of waits a moment for company.

Owns the order of writing and telling, and what becomes of it when the journal fails. Decides nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from pedelec_core.invocation import Instant, Invocation, Outcome
from pedelec_core.journal import Batch, Journal, JournalError
from pedelec_core.records import LARGE_BYTES, session_to_record, to_record
from pedelec_core.sessions import Session

_RETRY_SECONDS: Final = 1.0

_WAIT_SECONDS: Final = 0.05
"""How long a change that can wait is held back, that it may share a batch with others."""

_log = logging.getLogger(__name__)


class Commits:
    """The turn's changes and the turn's news.

    Should the journal fail, what happened is told all the same (a result in hand is worth more than one
    that is kept from its caller), what could not be written is tried again, and `failure` says so, that
    nothing new be begun.

    Args:
        journal: where changes go; None keeps nothing beyond the life of the process.
        now: the process's clocks.
        telling: entered while a turn's news are told.
    """

    def __init__(
        self,
        journal: Journal | None,
        now: Callable[[], Instant],
        telling: AbstractContextManager[object] | None = None,
    ) -> None:
        self.failure: JournalError | None = None
        self._journal = journal
        self._now = now
        self._telling = telling or nullcontext()
        self._batch = Batch()
        self._changed: dict[str, tuple[Invocation, str]] = {}
        self._may_wait: dict[str, tuple[Invocation, str]] = {}  # what nobody hears of, and no batch awaits
        self._news: list[Callable[[], None]] = []
        self._scheduled = False
        self._retry: asyncio.TimerHandle | None = None
        self._forgotten: set[str] = set()  # not yet part of the batch: forgetting is cheap in numbers alone
        self._waiting: asyncio.TimerHandle | None = None

    def tell(self, news: Callable[[], None]) -> None:
        """Have something told once everything that led to it is written."""
        self._news.append(news)
        self._schedule()

    def save_session(self, session: Session, seq_base: int) -> None:
        self._batch.sessions[session.id] = session_to_record(session, seq_base, self._now())
        self._schedule()

    def forget_session(self, session_id: str, invocation_ids: Iterable[str]) -> None:
        """Forget a session and all its invocations."""
        self._batch.sessions.pop(session_id, None)
        self._batch.forgotten_sessions.add(session_id)
        for invocation_id in invocation_ids:
            self.forget(invocation_id)
        self._take_forgotten()
        self._schedule()

    def save(self, invocation: Invocation, session_id: str, *, can_wait: bool = False) -> None:
        """Note that an invocation changed; what it is when its batch is written counts."""
        if not can_wait:
            self._changed[invocation.id] = (invocation, session_id)
            self._may_wait.pop(invocation.id, None)
            self._schedule()
        elif invocation.id not in self._changed:
            self._may_wait[invocation.id] = (invocation, session_id)
            self._wait()

    def forget(self, invocation_id: str) -> None:
        """Let an invocation go, before long."""
        self._changed.pop(invocation_id, None)
        self._may_wait.pop(invocation_id, None)
        self._batch.invocations.pop(invocation_id, None)
        self._forgotten.add(invocation_id)
        self._wait()

    def commit(self) -> None:
        """Write and tell what is pending now."""
        self._scheduled = False
        self._write()
        news, self._news = self._news, []
        with self._telling:
            for tell in news:
                try:
                    tell()
                except Exception:  # noqa: BLE001 — whatever it was, others wait for theirs
                    _log.exception("somebody could not be told")

    def outcome(self, invocation: Invocation, *, late: bool = False) -> Outcome | None:
        """What a call came to, read from the journal where memory does not hold it.

        Raises:
            JournalError: it cannot be read.
        """
        outcome = invocation.late if late else invocation.outcome
        if outcome is None or not outcome.spilled or self._journal is None:
            return outcome
        return Outcome(result=self._journal.result(invocation.id, late=late))

    def close(self) -> None:
        """Commit for the last time."""
        for timer in (self._retry, self._waiting):
            if timer is not None:
                timer.cancel()
        self._take_what_waited()
        self.commit()

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().call_later(_WAIT_SECONDS, self._waited)

    def _waited(self) -> None:
        self._waiting = None
        self._take_what_waited()
        self.commit()

    def _take_what_waited(self) -> None:
        self._changed |= self._may_wait
        self._may_wait.clear()
        self._take_forgotten()

    def _take_forgotten(self) -> None:
        self._batch.forgotten_invocations |= self._forgotten
        self._forgotten.clear()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._commit_if_due)

    def _commit_if_due(self) -> None:
        if self._scheduled:
            self.commit()

    def _write(self) -> None:
        changed, self._changed = self._changed, {}
        if self._journal is None:
            self._batch = Batch()
            return
        now = self._now()
        for invocation, session_id in changed.values():
            self._batch.invocations[invocation.id] = to_record(invocation, session_id, now)
        if not self._batch:
            return
        try:
            self._journal.write(self._batch)
        except JournalError as error:
            self._failed(error)
            return
        self._batch = Batch()
        self.failure = None
        for invocation, _ in changed.values():
            invocation.spill(LARGE_BYTES)

    def _failed(self, error: JournalError) -> None:
        if self.failure is None:
            _log.error("%s: %s No new call is taken until it can be written.", error.path, error.message)
        self.failure = error
        if self._retry is not None:
            self._retry.cancel()
        self._retry = asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._schedule)
