"""Which origins wait for a person's word, and what the word was.

Owns how long a request waits, that an origin has one at most, and how often pages may make a person decide.
Requests, words and times go in; decisions come out. Does no I/O and reads no clock. Who is asked, and how,
stands in `approval_desk`; which origins are approved already, in `origins`.

    asked ──word──► approved | rejected      ──time is up──► unanswered

A rejected origin is refused without asking anybody for a while, however often it asks.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from pedelec.clean_text import shown_to_people
from pedelec.errors import Code, Effects, ErrorClass, PedelecError
from pedelec.json_text import JsonObject

MAX_NAME_CHARS: Final = 80
MAX_DESCRIPTION_CHARS: Final = 160
MAX_TOOLS_SHOWN: Final = 32


class Verdict(Enum):
    """How a request ended."""

    APPROVED = auto()
    REJECTED = auto()
    UNANSWERED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalLimits:
    """How long people are given, and how often they may be asked. Seconds, and numbers of requests."""

    seconds: float = 120.0
    """From a request to its end without a word."""
    rejected_seconds: float = 300.0
    """From a rejection to the next time that the origin may ask. `pedelec-core approve` needs no asking."""
    window_seconds: float = 600.0
    """The time in which requests are counted."""
    per_origin: int = 4
    """Requests of one origin within the window."""
    in_all: int = 20
    """Requests of all origins within the window."""
    pending: int = 5
    """Requests that wait at once: more than a person can tell apart."""
    waiters: int = 32
    """Pages of one origin that wait for its one request."""
    per_page: int = 8
    """Requests of one connection that wait."""


@dataclass(frozen=True, slots=True)
class ClaimedTool:
    """A tool that a page says it offers, fit to be shown."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a page says of itself. Nobody vouches for it; it is fit to be shown to a person."""

    app_name: str = ""
    tools: tuple[ClaimedTool, ...] = ()
    more_tools: int = 0
    """How many are not shown."""


def claim_of(app_name: str | None, manifests: list[JsonObject]) -> Claim:
    """What a page claims, cut and cleaned. Its manifests are not checked: it has no right to our time yet."""
    tools = tuple(_claimed_tool(manifest) for manifest in manifests[:MAX_TOOLS_SHOWN])
    return Claim(shown_to_people(app_name or "", MAX_NAME_CHARS), tools, len(manifests) - len(tools))


def _claimed_tool(manifest: JsonObject) -> ClaimedTool:
    name, description = manifest.get("name"), manifest.get("description")
    return ClaimedTool(
        shown_to_people(name if isinstance(name, str) else "", MAX_NAME_CHARS),
        shown_to_people(description if isinstance(description, str) else "", MAX_DESCRIPTION_CHARS),
    )


@dataclass(slots=True, eq=False)
class Pending:
    """One origin's request. `waiters` are the ids of those who want to hear of its end."""

    origin: str
    claim: Claim
    until: float
    waiters: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Settled:
    """A request that has ended."""

    pending: Pending
    verdict: Verdict

    def error(self) -> PedelecError | None:
        """What its waiters are told; None where they may go on."""
        match self.verdict:
            case Verdict.APPROVED:
                return None
            case Verdict.REJECTED:
                return _rejected(self.pending.origin)
            case Verdict.UNANSWERED:
                return PedelecError(Code.APPROVAL_TIMEOUT, details={"origin": self.pending.origin})


class Approvals:
    """All requests of one Core. Times are of a monotonic clock, in seconds."""

    def __init__(self, limits: ApprovalLimits | None = None) -> None:
        self._limits = limits or ApprovalLimits()
        self._pending: dict[str, Pending] = {}  # by origin, the oldest first
        self._refused_until: dict[str, float] = {}
        self._asked: deque[tuple[float, str]] = deque()  # when and by whom, within the window

    @property
    def pending(self) -> list[Pending]:
        """The requests that wait, the oldest first."""
        return list(self._pending.values())

    def ask(self, origin: str, claim: Claim, waiter: str, now: float) -> tuple[Pending, bool]:
        """Wait for a word on an origin.

        Returns:
            the origin's request, and whether what a person is to be shown is new.

        Raises:
            PedelecError: `APPROVAL_REJECTED` where the word was given a short while ago;
                `CREATE_SESSION_NOT_APPROVED`, retryable, where people are asked too much already.
        """
        if now < self._refused_until.get(origin, now):
            raise _rejected(origin)
        known = self._pending.get(origin)
        if known is None:
            self._count(origin, now)
            known = self._pending[origin] = Pending(origin, claim, now + self._limits.seconds, [waiter])
            return known, True
        if len(known.waiters) >= self._limits.waiters:
            raise _too_many(known.until - now)
        known.waiters.append(waiter)
        says_more = bool(claim.tools) and not known.claim.tools
        if says_more:
            known.claim = claim
        return known, says_more

    def leave(self, waiter: str) -> None:
        """Somebody does not wait any more. The request stands: the page may only be reloading."""
        for pending in self._pending.values():
            if waiter in pending.waiters:
                pending.waiters.remove(waiter)

    def settle(self, origin: str, verdict: Verdict, now: float) -> Settled | None:
        """The word on an origin's request; None where it has ended already."""
        if verdict is Verdict.REJECTED:
            self.refuse(origin, now)
        pending = self._pending.pop(origin, None)
        return None if pending is None else Settled(pending, verdict)

    def refuse(self, origin: str, now: float) -> None:
        """Have an origin's requests refused for a while: a person has just said no to it."""
        self._refused_until = {each: until for each, until in self._refused_until.items() if until > now}
        self._refused_until[origin] = now + self._limits.rejected_seconds

    def settle_approved(self, is_approved: Callable[[str], bool], now: float) -> list[Settled]:
        """End the requests of origins that were approved by other ways meanwhile."""
        approved = [origin for origin in self._pending if is_approved(origin)]
        return [ended for origin in approved if (ended := self.settle(origin, Verdict.APPROVED, now))]

    def next_due(self) -> float | None:
        """When `tick` has something to do."""
        return min((pending.until for pending in self._pending.values()), default=None)

    def tick(self, now: float) -> list[Settled]:
        """End the requests whose time is up."""
        over = [origin for origin, pending in self._pending.items() if pending.until <= now]
        return [ended for origin in over if (ended := self.settle(origin, Verdict.UNANSWERED, now))]

    def _count(self, origin: str, now: float) -> None:
        while self._asked and self._asked[0][0] <= now - self._limits.window_seconds:
            self._asked.popleft()
        if len(self._pending) >= self._limits.pending:
            raise _too_many(min(pending.until for pending in self._pending.values()) - now)
        of_origin = [moment for moment, each in self._asked if each == origin]
        if len(of_origin) >= self._limits.per_origin:
            raise _too_many(of_origin[0] + self._limits.window_seconds - now)
        if len(self._asked) >= self._limits.in_all:
            raise _too_many(self._asked[0][0] + self._limits.window_seconds - now)
        self._asked.append((now, origin))


def not_approved(origin: str) -> PedelecError:
    """What a page of an origin that is not approved is told where it asks for more than approval."""
    return PedelecError(Code.CREATE_SESSION_NOT_APPROVED, details={"origin": origin})


def _rejected(origin: str) -> PedelecError:
    return PedelecError(Code.APPROVAL_REJECTED, details={"origin": origin})


def _too_many(seconds: float) -> PedelecError:
    return PedelecError(
        Code.CREATE_SESSION_NOT_APPROVED,
        "Pages have asked for approval too often; nobody was asked this time.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=max(1, round(seconds)),
        recovery_steps=["Ask the user to run: pedelec-core approve ORIGIN"],
    )
