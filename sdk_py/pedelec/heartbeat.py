"""Whether Core still answers, judged by what arrives between one beat and the next.

Owns the rule alone; `connection` beats and does what it says. Counts beats and reads no clock: while a tab is
frozen or the machine asleep nothing beats, so that waking up is not taken for Core's silence.
"""

from enum import Enum, auto

QUIET_BEATS = 2
"""Core pings once a beat: after so many without a word it is asked, and given up at the next."""


class Verdict(Enum):
    FINE = auto()
    ASK = auto()
    GONE = auto()


class Heartbeat:
    """One connection's."""

    def __init__(self) -> None:
        self._quiet = 0

    def heard(self) -> None:
        """Something arrived, whatever it was."""
        self._quiet = 0

    def beat(self) -> Verdict:
        """One more interval is over."""
        self._quiet += 1
        if self._quiet <= QUIET_BEATS:
            return Verdict.FINE
        return Verdict.ASK if self._quiet == QUIET_BEATS + 1 else Verdict.GONE
