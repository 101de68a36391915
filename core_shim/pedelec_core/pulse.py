"""Whether a page is there, and whether it answers: when to ping it, and what its silence means.

Owns the rules of one connection's heartbeat. Does no I/O and reads no clock: times and signs of life go in,
what to do comes out.

Two kinds of signs, for a browser answers in two places. A `ping` message is answered by the page's own
Python: not while its main thread is busy, nor in a frozen tab. A WebSocket ping frame is answered by the
browser itself (RFC 6455, section 5.5.2), whatever the page does. A page that answers neither is gone; one
whose browser alone answers is silent: there, but of no use at present.

    answers ──ping unanswered──► silent ──probe of the browser unanswered──► gone
       ▲──────any message───────────┘└──answered: probed again──┘
"""

from enum import Enum, auto
from typing import Final

HEARTBEAT_SECONDS: Final = 10.0
_PATIENCE: Final = 0.45
"""Of an interval: how long an answer may take. An interval and twice that is less than the 20 seconds after
which a page that stopped answering is to be gone."""
_ROUNDING_SECONDS: Final = 1e-3
"""A beat so much too early is in time."""


class Beat(Enum):
    """What to do about a page."""

    NOTHING = auto()
    PING = auto()
    """Send a `ping` message."""
    PROBE = auto()
    """Have the browser answer; no calls for the page until it is heard again."""
    GONE = auto()
    """Cut the connection."""


class Pulse:
    """The heartbeat of one connection.

    Args:
        first_due: when the first beat is due; spread over an interval, where many pages connect at once.
        interval: seconds from ping to ping.
    """

    def __init__(self, first_due: float, interval: float = HEARTBEAT_SECONDS) -> None:
        self.due = first_due
        self.silent = False
        self._next_ping = first_due
        self._interval = interval
        self._patience = interval * _PATIENCE
        self._pinged = False
        self._probed = False

    def heard(self) -> bool:
        """A message of the page came. Returns whether the page had been silent."""
        was_silent, self.silent = self.silent, False
        self._pinged = self._probed = False
        return was_silent

    def browser_answered(self) -> None:
        """A WebSocket pong came."""
        self._probed = False

    def beat(self, now: float) -> Beat:
        """Take one beat, due or overdue. `due` says when the next one is."""
        # Overdue by so much, it is this process that was stopped: what pages sent meanwhile is still unread.
        overslept = now - self.due > self._patience / 2
        if not self._pinged:
            return self._ping_if_due(now)
        self.due = now + self._patience
        if overslept:
            return Beat.NOTHING
        if self._probed:
            return Beat.GONE
        self.silent = self._probed = True
        return Beat.PROBE

    def _ping_if_due(self, now: float) -> Beat:
        if now < self._next_ping - _ROUNDING_SECONDS:
            self.due = self._next_ping
            return Beat.NOTHING
        self._pinged = True
        self._next_ping = now + self._interval
        self.due = now + self._patience
        return Beat.PING
