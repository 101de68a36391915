"""One session: its tools, the pages attached to it, which of them runs calls, and when it ends.

Owns the lease (the page instance that runs calls), the loss and return of pages, and the order of the
session's events. Pages, times and requests go in; decisions come out. Does no I/O and reads no clock; what
happens to the single call is `invocations`' business.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pedelec_core.invocation import CallLimits, Decision, Instant, Invocation
from pedelec_core.invocations import Invocations
from pedelec_core.limits import TokenBucket
from pedelec_core.registry import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTimes:
    """Seconds that a session waits for pages that went away."""

    end_grace: float = 10
    """From the loss of the last page to the end of an auto-ending session: a reload is no end."""
    loss_grace: float = 10
    """From the loss of one page, others being there, to giving up what it was running."""
    restart_grace: float = 20
    """From the start of Core to giving up pages that an earlier Core had, at least. It is Core that was away,
    not they: a page in the background looks for it every ten seconds, or a little less often."""
    longest_absence: float = 24 * 60 * 60
    """From the loss of the last page to the end of a session that was to outlive its pages."""


class Session:
    """A page's offer of tools to an agent, and all that happens under it.

    Args:
        session_id: unguessable; also the agent's thread id.
        origin: the origin that made it, and alone may resume it.
        app_name: the page's name for itself, as claimed.
        guidance: text for the agent.
        registry: the tools that it was made with. The attribute `registry` has what pages offer besides, too.
        auto_end: whether the session ends when its pages are gone.
        made_by: the page instance and the request that asked for it: asked again, it is the same session.
        new_id: makes unguessable ids with a prefix.
    """

    def __init__(
        self,
        session_id: str,
        *,
        origin: str,
        app_name: str | None,
        guidance: str,
        registry: ToolRegistry,
        auto_end: bool,
        now: Instant,
        new_id: Callable[[str], str],
        limits: CallLimits,
        times: SessionTimes,
        made_by: tuple[str, str] | None = None,
    ) -> None:
        self.id = session_id
        self.origin = origin
        self.app_name = app_name
        self.guidance = guidance
        self.declared = registry
        self.registry = registry
        self._offers: dict[str, ToolRegistry] = {}  # what page instances offer besides
        self.auto_end = auto_end
        self.made_by = made_by
        self.created_at_ms = now.epoch_ms
        self.ended_at: float | None = None
        self.calls = Invocations(limits=limits, new_id=new_id, next_seq=self.next_seq)
        self.call_rate = TokenBucket(limits.per_second, limits.burst)
        self._limits = limits
        self._times = times
        self._seq = 0
        self._pages: dict[str, str] = {}  # instance id → connection id; the first that answers has the lease
        self._silent: set[str] = set()  # those of them that do not answer heartbeats
        self._lost: dict[str, float] = {}  # instance id → until when it may come back
        self._newcomers = 0  # instances that came while others were lost, and may have come in their place
        self._empty_until: float | None = now.seconds + self._absence  # None while a page is here

    @property
    def seq(self) -> int:
        """The number of the session's latest event."""
        return self._seq

    def restore(
        self,
        invocations: list[Invocation],
        *,
        pages: list[str],
        created_at_ms: int,
        ended_at: float | None,
        seq: int,
        now: Instant,
    ) -> None:
        """Become the session that an earlier Core had: its pages are lost now, and may come back.

        `seq` is not below the number of any event that a page has seen.
        """
        self.created_at_ms = created_at_ms
        self.ended_at = ended_at
        self._seq = seq
        self.calls.restore(invocations)
        self._lost = dict.fromkeys(
            pages, now.seconds + max(self._times.loss_grace, self._times.restart_grace)
        )
        self._empty_until = now.seconds + max(self._absence, self._times.restart_grace)

    @property
    def live(self) -> bool:
        return self.ended_at is None

    @property
    def page_count(self) -> int:
        return len(self._pages)

    @property
    def pages(self) -> list[str]:
        """The page instances that are here, or may come back."""
        return [*self._pages, *self._lost]

    def page_states(self) -> list[tuple[str, str]]:
        """Each page instance and what it does: `runs` calls, `watches`, is `silent` or `away`."""
        holder = self._holder()
        states = {each: "runs" if each == holder else "watches" for each in self._pages}
        states |= dict.fromkeys(self._silent, "silent") | dict.fromkeys(self._lost, "away")
        return list(states.items())

    def next_seq(self) -> int:
        """The number of the session's next event."""
        self._seq += 1
        return self._seq

    def offer(self, instance_id: str, offered: ToolRegistry) -> None:
        """A page instance offers these tools besides the declared ones, as long as it is not given up."""
        self._offers[instance_id] = offered
        self._collect_offers()

    def _collect_offers(self) -> None:
        self.registry = self.declared.with_more(self._offers.values())

    def connection_of(self, instance_id: str) -> str | None:
        """The connection that reaches a page instance, if one does."""
        return self._pages.get(instance_id)

    def connections(self) -> list[str]:
        """All connections attached, the lease holder's first."""
        return list(self._pages.values())

    def attach(self, instance_id: str, connection_id: str, last_seq: int, now: Instant) -> list[Decision]:
        """A page instance joins, or comes back on another connection having seen events up to `last_seq`.

        An instance that never was here takes the place of one that is lost: that was reloaded or closed, and
        what it ran is cut off. Where several are lost, as after a restart of Core, nobody knows yet whose
        place it is; those who come back meanwhile keep theirs.
        """
        returns = instance_id in self._pages or instance_id in self._lost
        self._pages[instance_id] = connection_id
        self._silent.discard(instance_id)
        self._empty_until = None
        decisions: list[Decision] = []
        if returns:
            self._lost.pop(instance_id, None)
            decisions += self.calls.instance_resumed(instance_id, last_seq)
        elif self._lost:
            self._newcomers += 1
        if len(self._lost) <= self._newcomers:
            decisions += self._give_up(list(self._lost), now)
        return decisions + self._pass_lease(now)

    def detach(self, connection_id: str, now: Instant) -> list[Decision]:
        """A connection is lost. Its page instance may come back."""
        for instance_id, connection in list(self._pages.items()):
            if connection == connection_id:
                del self._pages[instance_id]
                self._silent.discard(instance_id)
                self._lost[instance_id] = now.seconds + self._times.loss_grace
        if not self._pages and self._empty_until is None:
            self._empty_until = now.seconds + self._absence
        return self._pass_lease(now)

    def page_answers(self, connection_id: str, now: Instant, *, answers: bool) -> list[Decision]:
        """A page does not answer heartbeats any more, being frozen or busy, or it does so again.

        A silent page keeps what it runs. It gets no new calls, and loses the lease to a page that answers, if
        there is one; it does not get it back by answering again.
        """
        for instance_id, connection in list(self._pages.items()):
            if connection == connection_id and answers:
                self._silent.discard(instance_id)
            elif connection == connection_id:
                self._silent.add(instance_id)
                self._pages[instance_id] = self._pages.pop(instance_id)
        return self._pass_lease(now)

    def end(self, now: Instant) -> list[Decision]:
        """End it: open calls are settled, nothing runs any more. Ending twice does nothing."""
        if not self.live:
            return []
        self.ended_at = now.seconds
        return self.calls.session_ended(now)

    def next_due(self) -> float | None:
        """When `tick` is due, on the monotonic clock; None while nothing waits for time to pass."""
        moments = [] if (due := self.calls.next_due()) is None else [due]
        if self.ended_at is not None:
            moments.append(self._over_at(self.ended_at))
        else:
            if self._empty_until is not None:
                moments.append(self._empty_until)
            if self._pages:
                moments += self._lost.values()
        return min(moments, default=None)

    def is_abandoned(self, now: Instant) -> bool:
        """Whether the pages have been gone for longer than the grace, so that the session is to end."""
        return self._empty_until is not None and self._empty_until <= now.seconds

    def is_over(self, now: Instant) -> bool:
        """Whether it ended so long ago that nobody can ask for its results any more."""
        return self.ended_at is not None and self._over_at(self.ended_at) <= now.seconds

    def tick(self, now: Instant) -> list[Decision]:
        """Do what is due: deadlines, and lost pages that did not come back while another is here."""
        decisions = self.calls.tick(now)
        if self._pages:
            over = [instance_id for instance_id, until in self._lost.items() if until <= now.seconds]
            decisions += self._give_up(over, now)
        return decisions

    def _over_at(self, ended_at: float) -> float:
        return ended_at + self._limits.remember_seconds

    @property
    def _absence(self) -> float:
        """How long its pages may be away, in seconds."""
        return self._times.end_grace if self.auto_end else self._times.longest_absence

    def _give_up(self, instance_ids: list[str], now: Instant) -> list[Decision]:
        decisions: list[Decision] = []
        for instance_id in instance_ids:
            del self._lost[instance_id]
            decisions += self.calls.instance_replaced(instance_id, now)
            if self._offers.pop(instance_id, None) is not None:
                self._collect_offers()
        if not self._lost:
            self._newcomers = 0
        return decisions

    def _holder(self) -> str | None:
        """The page instance that has the lease, if one that answers is here."""
        return next((each for each in self._pages if each not in self._silent), None)

    def _pass_lease(self, now: Instant) -> list[Decision]:
        holder = self._holder()
        if holder is not None:
            return self.calls.runner_changed(holder, now)
        return self.calls.runner_changed(next(iter(self._pages), None), now, answers=False)
