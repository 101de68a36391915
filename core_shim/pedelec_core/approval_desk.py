"""Where pages ask to be let in, and where a person's word arrives.

Owns the clock and the timers of `approvals`, who is asked (`Asker`), the secrets of the one-time links, and
that approvals given or taken elsewhere (`pedelec-core approve`, `revoke`) take effect here. Which origins are
approved stands in `origins`; how a person is shown a request, with each asker.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from pedelec.errors import PedelecError
from pedelec_core.approvals import Approvals, Claim, Pending, Settled, Verdict
from pedelec_core.command_errors import CommandError
from pedelec_core.origins import OriginStore

LOOK_SECONDS = 0.25
"""How often the list of origins is looked at: another process may have changed it."""

_log = logging.getLogger(__name__)

type Decided = Callable[[PedelecError | None], None]
"""Told once how a request ended: the error for the page, or None where it may go on."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request as it is put to a person.

    Attributes:
        origin: exactly as the browser sent it.
        claim: what the page says of itself.
        key: unguessable; opens the approval page, once.
        opened: it was, and the key is another one, which gives the answer.
    """

    origin: str
    claim: Claim
    key: str
    opened: bool = False


class Asker(Protocol):
    """A way to put requests to a person. Nothing that it does may take long, or raise."""

    def ask(self, question: Question) -> None:
        """Show a request; shown before, it may say more now."""

    def withdraw(self, origin: str, verdict: Verdict) -> None:
        """A request has ended."""


class ApprovalDesk:
    """Every request of one Core. Used inside its event loop.

    Args:
        origins: the approved ones.
        own_origins: Core's own, which need no approval.
        approvals: the rules.
    """

    def __init__(
        self, origins: OriginStore, own_origins: Collection[str], approvals: Approvals | None = None
    ) -> None:
        self._origins = origins
        self._own_origins = own_origins
        self._approvals = approvals or Approvals()
        self._askers: list[Asker] = []
        self._waiting: dict[str, Decided] = {}  # by waiter
        self._questions: dict[str, Question] = {}  # by origin
        self._watchers: list[Callable[[], None]] = []
        self._known = frozenset[str]()  # those that anybody may have been told are approved
        self._timer: asyncio.TimerHandle | None = None

    def start(self, *askers: Asker) -> None:
        """Begin to look at the list of origins, and have people asked."""
        self._askers += askers
        self._known = self._origins.all_approved()
        self._look()

    def close(self) -> None:
        """Stop; nobody is told anything any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Have somebody told whenever origins were revoked."""
        self._watchers.append(watcher)

    def is_approved(self, origin: str) -> bool:
        """Whether pages of an origin may do more than ask."""
        if origin in self._own_origins:
            return True
        approved = self._origins.is_approved(origin)
        if approved:
            # Whoever asks acts on it: if this is taken back before the next look, that look has to see it.
            self._known |= {origin}
        return approved

    def ask(self, origin: str, claim: Claim, decided: Decided) -> tuple[str, float]:
        """Have a person asked about an origin.

        Returns:
            who waits (for `leave`), and for how many seconds at most.

        Raises:
            PedelecError: the origin is refused at once, as `Approvals.ask` says.
        """
        waiter = secrets.token_hex(8)
        now = time.monotonic()
        self._notice_revoked(now)  # it may have been revoked a moment ago
        pending, says_more = self._approvals.ask(origin, claim, waiter, now)
        self._waiting[waiter] = decided
        if says_more:
            self._put(pending)
        return waiter, pending.until - now

    def leave(self, waiter: str) -> None:
        """Whoever asked is gone."""
        self._waiting.pop(waiter, None)
        self._approvals.leave(waiter)

    def take(self, key: str) -> Question | None:
        """The request behind a one-time link; the link is used up by this.

        The question that is returned has another key, for the answer alone.
        """
        question = self._with_key(key, opened=False)
        if question is None:
            return None
        fresh = Question(question.origin, question.claim, secrets.token_urlsafe(32), opened=True)
        self._questions[question.origin] = fresh
        return fresh

    def answer(self, key: str, *, approve: bool) -> str | None:
        """The word on the request whose page has this key; its origin, or None without such a request.

        Raises:
            CommandError: the approval cannot be written down; the request stands.
        """
        question = self._with_key(key, opened=True)
        if question is None:
            return None
        self.decide(question.origin, approve=approve)
        return question.origin

    def decide(self, origin: str, *, approve: bool) -> None:
        """A person's word on an origin that asks. Raises as `answer` does."""
        if origin not in self._questions:
            return
        if approve:
            self._origins.approve(origin)
        verdict = Verdict.APPROVED if approve else Verdict.REJECTED
        self._tell(self._approvals.settle(origin, verdict, time.monotonic()))
        self._look()

    def _with_key(self, key: str, *, opened: bool) -> Question | None:
        # Compared in constant time: the key is all that stands between a stranger and an approval.
        matching = (
            each
            for each in self._questions.values()
            if each.opened is opened
            and secrets.compare_digest(each.key.encode(), key.encode("utf-8", "replace"))
        )
        return next(matching, None)

    def _put(self, pending: Pending) -> None:
        known = self._questions.get(pending.origin)
        key, opened = (secrets.token_urlsafe(32), False) if known is None else (known.key, known.opened)
        question = Question(pending.origin, pending.claim, key, opened)
        self._questions[pending.origin] = question
        for asker in self._askers:
            asker.ask(question)

    def _tell(self, settled: Settled | None) -> None:
        if settled is None:
            return
        origin = settled.pending.origin
        self._questions.pop(origin, None)
        _log.info("origin %s: %s", origin, settled.verdict.name.lower())
        for asker in self._askers:
            asker.withdraw(origin, settled.verdict)
        for waiter in settled.pending.waiters:
            decided = self._waiting.pop(waiter, None)
            if decided is not None:
                decided(settled.error())

    def _look(self) -> None:
        """See what time and other processes have changed."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        now = time.monotonic()
        self._notice_revoked(now)
        for settled in (*self._approvals.settle_approved(self.is_approved, now), *self._approvals.tick(now)):
            self._tell(settled)

    def _notice_revoked(self, now: float) -> None:
        approved = self._origins.all_approved()
        revoked, self._known = self._known - approved, approved
        for origin in revoked:
            self._approvals.refuse(origin, now)
        if revoked:
            for watcher in self._watchers:
                watcher()


def approve_or_say_why(desk: ApprovalDesk, origin: str, *, approve: bool) -> str:
    """Decide; returns what to tell the person."""
    try:
        desk.decide(origin, approve=approve)
    except CommandError as error:
        return str(error)
    return f"{origin} {'is approved' if approve else 'is not let in'}."
