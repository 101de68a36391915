"""What a page may have of Core: how many sessions, joined by how many pages, asked for how fast.

Owns these checks and what a page is told that goes over a limit. Sessions and times go in; does no I/O and
reads no clock. The limits themselves stand in `limits`.
"""

import math
from collections.abc import Iterable
from typing import Final

from pedelec.errors import Code, PedelecError
from pedelec.protocol import CreateSession
from pedelec_core import page_text
from pedelec_core.limits import CoreLimits, KeyedBuckets
from pedelec_core.sessions import Session

_BUSY_SHARE: Final = 0.025
"""A second of work in forty, in the long run, with two seconds of it at a time."""


class Admission:
    """The checks of one Core."""

    def __init__(self, limits: CoreLimits) -> None:
        self._limits = limits
        self._asking = KeyedBuckets(limits.pages.sessions_per_second, limits.pages.sessions_at_once)
        self._guessing = KeyedBuckets(limits.pages.guesses_per_second, limits.pages.guesses_at_once)
        busy_ms = 1_000 * limits.pages.schema_seconds
        self._busy = KeyedBuckets(busy_ms * _BUSY_SHARE, busy_ms)

    def check_request(self, unanswered: int) -> None:
        """Whether a page may ask one thing more, so many of its requests being unanswered.

        Raises:
            PedelecError: `TOO_MANY_REQUESTS`.
        """
        most = self._limits.pages.requests_per_page
        if unanswered >= most:
            raise _too_many(f"{most} requests of this page are not answered yet.", 1)

    def check_session(self, message: CreateSession, origin: str, live: Iterable[Session], now: float) -> None:
        """Whether a page may have a session.

        Args:
            message: the page's request.
            origin: the page's.
            live: all live sessions.
            now: seconds, monotonic.

        Raises:
            PedelecError: `LIMIT_REACHED`, `TOO_MANY_REQUESTS`, or `INVALID_INPUT` for text that is too long.
        """
        if wait := self._asking.take(origin, now):
            rate = self._limits.pages.sessions_per_second
            raise _too_many(f"An origin may ask for {rate:g} sessions a second.", wait)
        most = self._limits.pages.sessions_per_origin
        if sum(session.origin == origin for session in live) >= most:
            raise _reached("sessions-per-origin", most, f"This origin has {most} sessions; no more may be.")
        self.check_work(origin, now)
        offers = self._limits.offers
        _check_length("guidance", message.guidance, offers.guidance_chars)
        _check_length("appName", message.app_name or "", offers.app_name_chars)

    def check_work(self, origin: str, now: float) -> None:
        """Whether Core may be given work with schemas.

        Raises:
            PedelecError: `TOO_MANY_REQUESTS`.
        """
        if wait := self._busy.take(origin, now):
            raise _too_many("Making ready what this origin declares took too long the last time.", wait)

    def was_busy(self, origin: str, seconds: float) -> None:
        """What a page declared took that long to make ready, whether it was in order or not."""
        self._busy.charge(origin, 1_000 * seconds)

    def wrong_session(self, origin: str, now: float) -> PedelecError:
        """What a page is told that asked for a session which its origin has not: it may be guessing."""
        if wait := self._guessing.take(origin, now):
            return _too_many("This origin has asked for too many sessions that it has not.", wait)
        return PedelecError(Code.THREAD_ACCESS_DENIED)

    def check_connection(self, open_now: int) -> None:
        """Whether an origin may have one more connection.

        Raises:
            PedelecError: `LIMIT_REACHED`.
        """
        most = self._limits.connections.connections_per_origin
        if open_now >= most:
            raise _reached("connections-per-origin", most, f"This origin has {most} connections already.")

    def check_join(self, session: Session, instance_id: str) -> None:
        """Whether a page may join a session; one that was there before may always come back.

        Raises:
            PedelecError: `LIMIT_REACHED`.
        """
        most = self._limits.pages.pages_per_session
        if session.page_count >= most and instance_id not in session.pages:
            raise _reached("pages-per-session", most, f"{most} pages share this session; no more may.")

    def guidance(self, message: CreateSession) -> str:
        """A page's guidance as agents get it."""
        return page_text.on_lines(message.guidance)

    def app_name(self, message: CreateSession) -> str | None:
        """A page's name for itself as people get it."""
        if message.app_name is None:
            return None
        return page_text.on_one_line(message.app_name, self._limits.offers.app_name_chars)


def _check_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        problem = f"{field} must not be longer than {most} characters; it has {len(text)}."
        raise PedelecError(Code.INVALID_INPUT, problem, details={"field": field, "limit": most})


def _too_many(message: str, wait_seconds: float) -> PedelecError:
    return PedelecError(Code.TOO_MANY_REQUESTS, message, retry_after_seconds=max(1, math.ceil(wait_seconds)))


def _reached(limit: str, most: int, message: str) -> PedelecError:
    return PedelecError(Code.LIMIT_REACHED, message, details={"limit": limit, "allowed": most})
