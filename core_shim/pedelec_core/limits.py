"""How much Core takes from pages and agents, and how fast: every limit, and the counting of rates.

Owns the limits' names, defaults and bounds, and how an option sets one (`pedelec-core serve --limit`). What a
message may hold is announced to pages and stands in `pedelec.protocol.Limits`; what one session may have
running stands in `invocation.CallLimits`; how often people are asked in `approvals.ApprovalLimits`. Does no
I/O and reads no clock. What is told to whoever goes over a limit is the business of whoever holds it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from pedelec.protocol import Limits
from pedelec_core.approvals import ApprovalLimits
from pedelec_core.invocation import CallLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferLimits:
    """Bounds on what a page declares when it asks for a session."""

    tools_per_session: int = 256
    schema_bytes: int = 64 * 1024
    """Of one schema, in UTF-8 bytes."""
    schema_size: int = 20_000
    """Of one schema: the number of its parts, each counted as often as references lead to it."""
    patterns_per_schema: int = 100
    """Regular expressions in one schema."""
    description_chars: int = 8_192
    guidance_chars: int = 32_768
    app_name_chars: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """Bounds on what pages have, and how fast they ask for it."""

    sessions_per_origin: int = 32
    """Live ones."""
    pages_per_session: int = 8
    """Attached at a time."""
    requests_per_page: int = 64
    """Requests of one connection that are not answered yet; results are not counted."""
    faults_per_page: int = 100
    """Frames of one connection that are no messages; one more ends it."""
    frames_per_second: float = 1_000.0
    """How fast one connection's frames are read, in the long run; large ones count as several (`pace`)."""
    frames_at_once: int = 4_000
    """How many are read before that rate counts."""
    sessions_per_second: float = 2.0
    """How fast an origin may ask for sessions, in the long run."""
    sessions_at_once: int = 64
    """How many sessions an origin may ask for before that rate counts."""
    guesses_per_second: float = 1.0
    """How often, in the long run, an origin may ask for sessions that it has not."""
    guesses_at_once: int = 64
    """How often it may do so before that rate counts."""
    schema_seconds: float = 2.0
    """How long Core may be busy at a time making ready what pages of an origin declare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Bounds on connections, and seconds that those who are slow get."""

    connections: int = 2_048
    """To Core's port, of whatever kind."""
    connections_per_origin: int = 256
    """WebSockets of pages."""
    strangers: int = 64
    """WebSockets of pages whose origins are not approved."""
    local_connections: int = 256
    """On the local socket."""
    unsent_bytes: int = 16 * 1024 * 1024
    """What waits to be read by one page: one that leaves more unread is cut off."""
    head_seconds: float = 10.0
    """From a connection's first moment to the end of its request's head, and to a page's `hello`."""
    body_seconds: float = 30.0
    """From there to the end of the request's body, and from the beginning of a page's frame to its end."""
    stall_seconds: float = 30.0
    """How long somebody may not take a byte of what Core has for him."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreLimits:
    """All limits of one Core."""

    wire: Limits = field(default_factory=Limits)
    calls: CallLimits = field(default_factory=CallLimits)
    offers: OfferLimits = field(default_factory=OfferLimits)
    pages: PageLimits = field(default_factory=PageLimits)
    approvals: ApprovalLimits = field(default_factory=ApprovalLimits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)

    def by_name(self) -> dict[str, int | float]:
        """Every limit under the name by which an option sets it."""
        return {name: getattr(getattr(self, group), member) for name, group, member in _places()}


MAX_VALUE: Final = 2**31
"""No limit is set above this; whoever wants none sets it high."""

_PREFIXES: Final = {"calls": "calls-", "approvals": "approval-"}
"""By group; the others have none."""


def _places() -> Iterator[tuple[str, str, str]]:
    """Each limit: its name, its group and its member in there."""
    for group in fields(CoreLimits):
        for member in fields(_group_type(group.name)):
            name = _PREFIXES.get(group.name, "") + member.name.removeprefix("max_").replace("_", "-")
            yield name, group.name, member.name


def _group_type(group: str) -> Any:
    return type(getattr(_DEFAULTS, group))


_DEFAULTS: Final = CoreLimits()


def with_settings(settings: Iterable[str]) -> CoreLimits:
    """The defaults with some limits set anew.

    Args:
        settings: each `NAME=VALUE`, as in `calls-per-second=20`; the last one of a name holds.

    Raises:
        ValueError: a name that there is not, or a value that its limit cannot have; says which and why.
    """
    places = {name: (group, member) for name, group, member in _places()}
    limits = CoreLimits()
    for setting in settings:
        name, _, text = setting.partition("=")
        if name not in places:
            raise ValueError(f"there is no limit {name!r}; there are {', '.join(places)}")
        group, member = places[name]
        old = getattr(limits, group)
        value = _value(name, text, getattr(old, member))
        limits = replace(limits, **{group: replace(old, **{member: value})})
    return limits


def _value(name: str, text: str, like: float) -> int | float:
    is_whole = isinstance(like, int)
    try:
        value = (int(text) if is_whole else float(text)) if text.isascii() else -1
    except ValueError:
        value = -1
    if not 0 < value <= MAX_VALUE:  # NaN is refused here, too
        what = "whole number" if is_whole else "number"
        raise ValueError(f"{name} must be a {what} above 0, at most {MAX_VALUE}, not {text!r}")
    return value


class TokenBucket:
    """How fast something may happen: `rate` times a second in the long run, `burst` times at once.

    Remembers two numbers and makes no objects, so that it can stand in everybody's way.
    """

    __slots__ = ("_burst", "_rate", "_since", "_tokens")

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._since = 0.0

    def take(self, now: float) -> float:
        """Let it happen once more.

        Args:
            now: seconds, on a clock that never goes back.

        Returns:
            0.0, or the seconds until it may happen; then nothing is taken.
        """
        self._fill(now)
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._rate

    def spend(self, amount: float, now: float) -> float:
        """Count what has happened already and may come to less or more than once.

        Returns:
            0.0, or the seconds until the bucket is not emptier than empty any more.
        """
        self._fill(now)
        self._tokens -= amount
        return max(0.0, -self._tokens / self._rate)

    def charge(self, amount: float) -> None:
        """Count what has happened already; it may leave the bucket emptier than empty."""
        self._tokens -= amount

    def is_full(self, now: float) -> bool:
        """Whether it has been left alone for so long that it need not be remembered."""
        return self._tokens + (now - self._since) * self._rate >= self._burst

    def _fill(self, now: float) -> None:
        if now > self._since:
            tokens = self._tokens + (now - self._since) * self._rate
            self._tokens = min(tokens, self._burst)
            self._since = now


class KeyedBuckets:
    """One `TokenBucket` for each key, of which only those in use are remembered.

    Args:
        rate: of each.
        burst: of each.
        most: keys in use at a time; further ones wait as if they had used theirs up.
    """

    def __init__(self, rate: float, burst: float, most: int = 1_024) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._buckets: dict[str, TokenBucket] = {}

    def take(self, key: str, now: float) -> float:
        """As `TokenBucket.take`."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._forget_unused(now)
            if len(self._buckets) >= self._most:
                return 1 / self._rate
            bucket = self._buckets[key] = TokenBucket(self._rate, self._burst)
        return bucket.take(now)

    def charge(self, key: str, amount: float) -> None:
        """As `TokenBucket.charge`, for a key that has taken before."""
        self._buckets[key].charge(amount)

    def __len__(self) -> int:
        return len(self._buckets)

    def _forget_unused(self, now: float) -> None:
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if not bucket.is_full(now)}
