"""One tool call's data, and the decisions that can be made about it.

Owns what a call, an invocation and an outcome are, and what may be decided of them. Decides nothing itself:
that is `invocations`.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject, RawJson


class Instant(NamedTuple):
    """A moment, as the holder's clocks tell it."""

    seconds: float
    """Monotonic; deadlines are reckoned with it."""
    epoch_ms: int
    """Wall clock; shown to pages and people, never reckoned with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Bounds on what one session may have in memory."""

    running: int = 16
    """Calls that are unsettled and not waiting for an exclusive tool."""
    waiting: int = 64
    """Calls that wait for an exclusive tool."""
    per_second: float = 100.0
    """How many calls agents may make, in the long run."""
    burst: int = 200
    """How many calls they may make before that rate counts."""
    remembered: int = 256
    """Settled invocations kept for replay and for late results."""
    remembered_bytes: int = 16 * 1024 * 1024
    """Of their results, those in the journal not counted: large ones are kept there alone."""
    remember_seconds: float = 300.0


class Call(NamedTuple):
    """What an agent asks for, already validated."""

    tool: str
    args: RawJson
    args_key: str
    """Equal exactly where the arguments are equal after RFC 8785 canonicalisation."""
    timeout_ms: int
    exclusive: bool = False
    safe_to_repeat: bool = False
    """The tool says that it is read-only or idempotent."""
    call_id: str | None = None
    """The caller's own name for the call: the same name is the same invocation."""
    joins: bool = True
    """Whether any equal call that is not acknowledged may answer this one, or only one that was abandoned."""
    approval: str | None = None
    """The tool's `approval` when the call was made: its offer may be gone when a page gets the call."""

    @property
    def key(self) -> tuple[str, str]:
        """Equal exactly for equal calls."""
        return (self.tool, self.args_key)


class State(Enum):
    QUEUED = auto()
    DELIVERED = auto()
    SETTLED = auto()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to: the page's `result`, or an `error` of Core."""

    result: RawJson | None = None
    error: PedelecError | None = None
    spilled: bool = False
    """The result is too large for memory: the journal alone has it, and `result` is None."""

    def spill(self, over: int) -> "Outcome":
        """What stays in memory of an outcome that the journal has: all of it up to a size in characters."""
        is_large = self.result is not None and len(self.result.text) > over
        return Outcome(spilled=True) if is_large else self


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """What a running call waits to have answered by a person, as its page put it.

    `hidden`: nobody sees the page now. `schema`: what an answer holds to, a flat object. `name`: the page
    author's name for it.
    """

    id: str
    kind: str
    message: str
    arguments: str | None
    schema: JsonObject
    name: str | None
    hidden: bool


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """What a person answered through the agent's client: accepted with content, or declined."""

    accepted: bool
    content: JsonObject | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Invocation:
    """One run of a tool. Read it freely; only `Invocations` changes it (and `spill`, what it weighs)."""

    id: str
    call: Call
    turn_id: str
    turn_started_at: int
    deadline: float
    state: State = State.QUEUED
    callers: dict[str, bool] = field(default_factory=dict)
    """Who waits for the answer, and whether they joined a call that was running already."""
    instance_id: str | None = None
    seq: int = 0
    cancel_seq: int = 0
    cancel_reason: str = ""
    outcome: Outcome | None = None
    settled_at: float = 0.0
    acknowledged: bool = False
    abandoned: bool = False
    """Its caller vanished before the answer reached it: the next equal call takes it over."""
    given_up: bool = False
    """The page instance that ran it is taken for gone; should it come back, its result is a late one."""
    late: Outcome | None = None
    questions: dict[str, OpenQuestion] = field(default_factory=dict)
    """What it waits to have answered by a person, oldest first. Kept in memory alone: its page says it
    again."""
    answers: dict[str, ClientAnswer] = field(default_factory=dict)
    """By question, what a client brought; kept until the page has taken it."""

    @property
    def was_delivered(self) -> bool:
        """Some page instance was given the call, so it may have run."""
        return self.instance_id is not None

    @property
    def answered_by_page(self) -> bool:
        """The page has said how it ended, in time or late."""
        return self.late is not None or (self.outcome is not None and self.outcome.error is None)

    @property
    def running_on_page(self) -> bool:
        """Delivered, and the page may yet say how it ends — whatever the caller was told meanwhile."""
        return self.was_delivered and not self.answered_by_page and not self.given_up

    @property
    def size(self) -> int:
        """Characters of results that it holds in memory."""
        results = (each.result for each in (self.outcome, self.late) if each is not None)
        return sum(len(result.text) for result in results if result is not None)

    def spill(self, over: int) -> None:
        """The journal has it: let go of results longer than that many characters."""
        self.outcome = self.outcome and self.outcome.spill(over)
        self.late = self.late and self.late.spill(over)

    def remaining_ms(self, now: Instant) -> int:
        """Milliseconds to the deadline, at least 1."""
        return max(1, round((self.deadline - now.seconds) * 1000))


@dataclass(frozen=True, slots=True)
class Accept:
    """A new invocation exists from now on."""

    invocation: Invocation


@dataclass(frozen=True, slots=True)
class Save:
    """The invocation changed in a way that has to outlive Core."""

    invocation: Invocation
    can_wait: bool = False
    """Nobody is told anything that rests on it: it may be written with what changes next."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send the call to the page instance that holds the session's lease."""

    invocation: Invocation


@dataclass(frozen=True, slots=True)
class CancelOnPage:
    """Tell the page that runs it that nobody waits any more."""

    invocation: Invocation
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Give a caller its one answer."""

    caller: str
    invocation: Invocation
    outcome: Outcome
    joined: bool = False
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Forget:
    """A settled invocation is remembered no longer."""

    invocation: Invocation


@dataclass(frozen=True, slots=True)
class TellWaiting:
    """Those who wait for the call are to hear what it waits for, or that it does so no more."""

    invocation: Invocation


@dataclass(frozen=True, slots=True)
class AnswerOnPage:
    """Bring the page what a person answered elsewhere."""

    invocation: Invocation
    question_id: str
    answer: ClientAnswer


type Decision = Accept | Save | Deliver | CancelOnPage | Answer | Forget | TellWaiting | AnswerOnPage
