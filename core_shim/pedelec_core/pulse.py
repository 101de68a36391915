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

HEARTBEAT_SECONDS: Final = 6.5
"""Three of them are less than the 20 seconds after which a page that stopped answering is to be gone."""


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
        interval: seconds from beat to beat.
    """

    def __init__(self, first_due: float, interval: float = HEARTBEAT_SECONDS) -> None:
        self.due = first_due
        self.silent = False
        self._interval = interval
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
        overslept = now - self.due > self._interval / 2
        self.due = now + self._interval
        if overslept and self._pinged:
            return Beat.NOTHING
        if not self._pinged:
            self._pinged = True
            return Beat.PING
        if self._probed:
            return Beat.GONE
        self.silent = self._probed = True
        return Beat.PROBE
