"""How fast the frames of a connection are read, so that no page keeps Core from the others.

Owns the count. A connection has a rate of its own, so that it does not wait for what another one sends; but
who opens many of them gains nothing: the more an origin has, the slower each is. Nothing is refused or lost,
it is read later. Numbers and times go in, waits come out; does no I/O and reads no clock.
"""

from collections import Counter
from typing import Final

from pedelec.errors import Code, PedelecError
from pedelec_core.limits import PageLimits, TokenBucket

BYTES_PER_FRAME: Final = 4_096
"""A frame counts once more for each of these: what is in it has to be read, too."""

_CONNECTIONS_AT_FULL_RATE: Final = 4
"""Of one origin. With more of them, all its connections together may do what so many could."""


class Pace:
    """The pace of one connection; `Paces.join` makes it.

    Attributes:
        is_new: whether the last wait was the first one since the connection was last within its rate.
    """

    def __init__(self, paces: "Paces", key: str, limits: PageLimits) -> None:
        self.is_new = False
        self._paces = paces
        self._key = key
        self._limits = limits
        self._bucket = TokenBucket(limits.frames_per_second, limits.frames_at_once)
        self._is_behind = False

    def spend(self, frames: int, size: int, now: float) -> float:
        """Count what was read.

        Args:
            frames: how many frames were complete with it, of whatever kind.
            size: of all of it, in bytes.
            now: seconds, monotonic.

        Returns:
            for how many seconds nothing more is to be read; mostly 0.
        """
        share = max(1.0, self._paces.connections(self._key) / _CONNECTIONS_AT_FULL_RATE)
        if self._is_behind and self._bucket.is_full(now):
            self._is_behind = False
        wait = self._bucket.spend((frames + size / BYTES_PER_FRAME) * share, now)
        self.is_new = wait > 0 and not self._is_behind
        self._is_behind = self._is_behind or self.is_new
        return wait

    def too_fast(self, wait: float) -> PedelecError:
        """What a connection is told that has to wait."""
        most = self._limits.frames_per_second
        return PedelecError(
            Code.TOO_MANY_REQUESTS,
            f"This page sends more than {most:g} frames a second: it is read more slowly. Nothing is lost.",
            retry_after_seconds=max(1, round(wait)),
        )

    def leave(self) -> None:
        """The connection is over."""
        self._paces.left(self._key)


class Paces:
    """The paces of all connections of one kind."""

    def __init__(self, limits: PageLimits) -> None:
        self._limits = limits
        self._open: Counter[str] = Counter()

    def join(self, key: str) -> Pace:
        """A connection is open. `key` is what it shares with others: its origin, or that it is a stranger."""
        self._open[key] += 1
        return Pace(self, key, self._limits)

    def connections(self, key: str) -> int:
        """How many are open."""
        return self._open[key]

    def left(self, key: str) -> None:
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
