"""What goes wrong, and when: every schedule follows from its seed.

First one fault at every step of the protocol in turn, then faults at random, several together.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CLOCK_JUMPS_SECONDS: Final = {"forward": 86_400, "back": -3_600}


class Act(StrEnum):
    """What happens to a frame, or because of it."""

    CUT_BEFORE = "cut_before"
    CUT_AFTER = "cut_after"
    DUPLICATE = "duplicate"
    DELAY = "delay"
    STALE = "stale"
    """The page takes the connection for lost, and connects again before Core has read the frame."""
    AWAY = "away"
    """The connection is cut, and the page finds Core again only a moment later."""
    RELOAD = "reload"
    """The page is loaded anew: another instance of it takes the session up."""
    CRASH = "crash"
    """The browser's process of the tab dies, and another tab takes the session up. Browsers only."""


@dataclass(frozen=True, slots=True)
class FrameFault:
    """A fault at the nth frame of a kind. `direction` is `to_core` or `to_page`."""

    direction: str
    kind: str
    act: Act
    nth: int = 1


class Faults:
    """The frame faults that are yet to come in one tab, however often it is loaded."""

    def __init__(self, faults: Iterable[FrameFault]) -> None:
        self._coming = list(faults)
        self._seen: Counter[str] = Counter()

    def meet(self, direction: str, *kinds: str) -> Act | None:
        """A frame with messages of these kinds is on its way: what is to happen to it?

        One thing at most; another fault that was due is met later.
        """
        self._seen.update(kinds)
        for fault in self._coming:
            is_here = fault.direction == direction and fault.kind in kinds
            if is_here and fault.nth <= self._seen[fault.kind]:
                self._coming.remove(fault)
                return fault.act
        return None


@dataclass(frozen=True, slots=True)
class CoreFault:
    """A fault of Core at the first write of a step: `before` or `after` it is killed, or the clock jumps."""

    step: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One session's story. `agent_dies` is the moment at which the first command is killed."""

    seed: int
    frame_faults: tuple[FrameFault, ...] = ()
    agent_dies: str | None = None
    real_command: bool = False
    handler: str = "quick"
    tabs: int = 1
    exclusive: bool = False

    @property
    def tool(self) -> str:
        return f"act.{self.seed}"

    @property
    def loses_pages(self) -> bool:
        """Whether a page instance goes for good, so that nobody can know how its calls ended."""
        return any(fault.act in {Act.RELOAD, Act.CRASH} for fault in self.frame_faults)


@dataclass(frozen=True, slots=True)
class Group:
    """Schedules that share one Core, side by side. The Core's fault is aimed at the first of them."""

    name: str
    core_fault: CoreFault | None
    schedules: tuple[Schedule, ...]


TO_CORE: Final = ("hello", "create_session", "resume_session", "submit_tool_result", "tool_progress")
TO_PAGE: Final = ("welcome", "response", "results_confirmed", "tool_call", "tool_cancel")
_PLAIN_ACTS: Final = (Act.CUT_BEFORE, Act.CUT_AFTER, Act.DUPLICATE, Act.DELAY, Act.AWAY, Act.RELOAD)
AGENT_DEATHS: Final = ("connected", "sent", "started", "finished", "before_output", "after_output")
HANDLERS: Final = ("quick", "waits", "reports", "slow")
"""Answers at once · after a moment · after telling its progress · after the call's limit."""

STEPS: Final = ("session", "queued", "delivered", "settled", "acknowledged", "cancelled", "late")
CORE_FAULTS: Final = tuple(CoreFault(step, when) for step in STEPS for when in ("before", "after")) + tuple(
    CoreFault(step, jump) for step in ("delivered", "settled") for jump in CLOCK_JUMPS_SECONDS
)
GROUP_SIZE: Final = 13
TABS_AT_ONCE: Final = 3
"""How many tabs of a browser share a Core: each starts a Python of its own."""

_RESUMES: Final = FrameFault("to_page", "tool_call", Act.CUT_BEFORE)
"""Makes the page resume its session."""


def systematic() -> Iterator[Schedule]:
    """One fault at each step in turn."""
    seeds = itertools.count(1)
    for kind, act in itertools.product(TO_CORE, (*_PLAIN_ACTS, Act.STALE)):
        yield _with_fault(next(seeds), FrameFault("to_core", kind, act))
    for kind, act in itertools.product(TO_PAGE, _PLAIN_ACTS):
        yield _with_fault(next(seeds), FrameFault("to_page", kind, act))
    for death, real in itertools.product(AGENT_DEATHS, (False, True)):
        yield Schedule(seed=next(seeds), agent_dies=death, real_command=real, handler="waits")


def _with_fault(seed: int, fault: FrameFault) -> Schedule:
    handler = {"tool_progress": "reports", "tool_cancel": "slow"}.get(fault.kind, "waits")
    before = (_RESUMES,) if fault.kind == "resume_session" else ()
    return Schedule(seed=seed, frame_faults=(*before, fault), handler=handler)


def at_random(seed: int) -> Schedule:
    """A schedule with up to three faults."""
    dice = random.Random(seed)
    handler = dice.choice(HANDLERS)
    return Schedule(
        seed=seed,
        frame_faults=tuple(_random_fault(dice) for _ in range(dice.randint(0, 3))),
        # After a time-out the same call is another one: a command that was killed would not know it.
        agent_dies=dice.choice((None, *AGENT_DEATHS)) if handler != "slow" else None,
        real_command=dice.random() < 0.05,
        handler=handler,
        tabs=dice.choice((1, 1, 2)),
        exclusive=dice.random() < 0.3,
    )


def _random_fault(dice: random.Random) -> FrameFault:
    direction, kinds, acts = dice.choice(
        (("to_core", TO_CORE, (*_PLAIN_ACTS, Act.STALE)), ("to_page", TO_PAGE, _PLAIN_ACTS))
    )
    return FrameFault(direction, dice.choice(kinds), dice.choice(acts), dice.randint(1, 3))


def victim(seed: int, step: str) -> Schedule:
    """A schedule that comes to a step of the journal."""
    handler = "slow" if step in {"cancelled", "late"} else "waits"
    # Away just after it got its session, so that its first calls find no page.
    faults = (FrameFault("to_page", "response", Act.CUT_AFTER),) if step == "queued" else ()
    return Schedule(seed=seed, handler=handler, frame_faults=faults)


_IN_BROWSERS: Final = tuple(
    FrameFault(direction, kind, act)
    for direction, kind in (("to_page", "tool_call"), ("to_core", "submit_tool_result"))
    for act in (Act.CUT_BEFORE, Act.CUT_AFTER, Act.DUPLICATE, Act.RELOAD, Act.CRASH)
)


def browser_groups() -> list[Group]:
    """One fault at each step of a call, for tabs of a real browser; and Core that dies under them."""
    seeds = itertools.count(1_000_000)
    tabs = [_with_fault(next(seeds), fault) for fault in _IN_BROWSERS]
    tabs.append(Schedule(seed=next(seeds), agent_dies="started", real_command=True, handler="reports"))
    return [
        *(
            Group(f"browser-quiet-{index}", None, tuple(batch))
            for index, batch in enumerate(itertools.batched(tabs, TABS_AT_ONCE))
        ),
        *(
            Group(f"browser-settled-{when}", CoreFault("settled", when), (victim(next(seeds), "settled"),))
            for when in ("before", "after")
        ),
    ]


def groups(number: int) -> list[Group]:
    """At least that many schedules: with a quiet Core, with one that dies, with one whose clock jumps."""
    found = [
        Group(f"quiet-{index}", None, tuple(batch))
        for index, batch in enumerate(itertools.batched(systematic(), GROUP_SIZE))
    ]
    rounds = itertools.count()
    while (done := sum(len(group.schedules) for group in found)) < number or len(found) < len(CORE_FAULTS):
        turn = next(rounds)
        for fault in CORE_FAULTS:
            seeds = range(10_000 + done, 10_000 + done + GROUP_SIZE)
            done += GROUP_SIZE
            others = [at_random(seed) for seed in seeds[1:]]
            name = f"{fault.step}-{fault.when}-{turn}"
            found.append(Group(name, fault, (victim(seeds[0], fault.step), *others)))
    return found
