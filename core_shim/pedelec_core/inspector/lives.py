"""The lives of calls, for people who watch them: when each was accepted, delivered, settled and acknowledged.

Owns what is remembered of a call for its bar on the timeline. Decisions of `invocations` and the time go
in, changed lives come out. Decides nothing about a call, does no I/O and reads no clock. Results are not
remembered here, arguments only where somebody asked for them.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from pedelec.json_text import JsonObject, JsonValue
from pedelec.wire_fields import to_camel
from pedelec_core.call_watch import code_of
from pedelec_core.invocation import Accept, Answer, Decision, Forget, Instant, Invocation
from pedelec_core.records import to_epoch_ms
from pedelec_core.sessions import Session

MAX_LIVES: Final = 500
MAX_ARGS_CHARS: Final = 16 * 1024
"""Longer arguments are not kept: the life says how long they were."""


@dataclass(slots=True, kw_only=True)
class Life:
    """One call so far. Times in milliseconds since the epoch, None for what has not happened."""

    invocation_id: str
    thread_id: str
    origin: str
    tool: str
    timeout_ms: int
    accepted_at: int
    delivered_at: int | None = None
    settled_at: int | None = None
    acknowledged_at: int | None = None
    late_at: int | None = None
    """When a result came that was too late for the agent."""
    acknowledged: bool = False
    on_page: bool = False
    """Delivered, and the page may yet say how it ends, whatever the agent was told meanwhile."""
    code: str | None = None
    """Of the error that it came to, made by Core or by the page."""
    cancel_reason: str | None = None
    replays: int = 0
    args: str | None = None
    args_chars: int | None = None

    @property
    def state(self) -> str:
        """`accepted`, `delivered`, `settled` or `acknowledged`."""
        if self.acknowledged:
            return "acknowledged"
        if self.settled_at is not None:
            return "settled"
        return "accepted" if self.delivered_at is None else "delivered"

    def to_wire(self, *, with_arguments: bool) -> JsonObject:
        """What the inspector is told; the arguments only where they were asked for."""
        hidden = {"origin"} if with_arguments else {"origin", "args", "args_chars"}
        told: JsonObject = {"state": self.state}
        for name in self.__slots__:
            value: JsonValue = getattr(self, name)
            if name not in hidden and value is not None:
                told[to_camel(name)] = value
        return told


class CallLives:
    """The latest lives of one Core, oldest first.

    Args:
        limit: how many are kept.
    """

    def __init__(self, limit: int = MAX_LIVES) -> None:
        self._limit = limit
        self._lives: OrderedDict[str, Life] = OrderedDict()

    def of(self, origin: str) -> list[Life]:
        """The lives of the calls to an origin's sessions."""
        return [life for life in self._lives.values() if life.origin == origin]

    def take_up(self, session: Session, now: Instant) -> None:
        """Begin with what a session remembers: calls that were made before anybody watched."""
        known = [session.calls.get(invocation_id) for invocation_id in session.calls.ids()]
        for invocation in sorted(filter(None, known), key=lambda each: each.deadline):
            life = self._life_of(session, invocation, now)
            # When exactly, nobody noted; most calls are delivered at once.
            life.delivered_at = life.accepted_at if invocation.was_delivered else None
            life.acknowledged = invocation.acknowledged
            self._update(life, invocation, now)

    def observe(
        self, session: Session, decision: Decision, now: Instant, *, with_arguments: bool = False
    ) -> Life | None:
        """Note what was decided. Returns the life that it changed."""
        if isinstance(decision, Forget):
            return None
        invocation = decision.invocation
        life = self._life_of(session, invocation, now)
        if isinstance(decision, Accept) and with_arguments:
            text = invocation.call.args.text
            life.args_chars = len(text)
            life.args = text if len(text) <= MAX_ARGS_CHARS else None
        if isinstance(decision, Answer) and decision.replayed:
            life.replays += 1
        self._update(life, invocation, now)
        return life

    def _life_of(self, session: Session, invocation: Invocation, now: Instant) -> Life:
        life = self._lives.get(invocation.id)
        if life is None:
            call = invocation.call
            accepted = to_epoch_ms(invocation.deadline, now) - call.timeout_ms
            life = self._lives[invocation.id] = Life(
                invocation_id=invocation.id,
                thread_id=session.id,
                origin=session.origin,
                tool=call.tool,
                timeout_ms=call.timeout_ms,
                accepted_at=accepted,
            )
            while len(self._lives) > self._limit:
                self._lives.popitem(last=False)
        return life

    @staticmethod
    def _update(life: Life, invocation: Invocation, now: Instant) -> None:
        if invocation.was_delivered and life.delivered_at is None and invocation.outcome is None:
            life.delivered_at = now.epoch_ms
        if invocation.outcome is not None and life.settled_at is None:
            life.settled_at = to_epoch_ms(invocation.settled_at, now)
            life.code = code_of(invocation.outcome)
        if invocation.late is not None and life.late_at is None:
            life.late_at = now.epoch_ms
        if invocation.acknowledged and not life.acknowledged:
            life.acknowledged = True
            life.acknowledged_at = now.epoch_ms
        life.on_page = invocation.running_on_page
        life.cancel_reason = invocation.cancel_reason or None
