"""What a session remembers of its calls: whose retry one is, and which settled ones can still be asked for.

Owns exact retry (which earlier call an equal one joins or replays) and the bounds of what is kept. Decides
nothing else about a call, does no I/O and reads no clock.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from pedelec.errors import Code, Effects
from pedelec_core import call_errors
from pedelec_core.invocation import Call, CallLimits, Forget, Instant, Invocation, Outcome


class Memory:
    """The settled invocations of one session, and by what name retries find them and the open ones."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._settled: OrderedDict[str, Invocation] = OrderedDict()  # oldest settlement first
        self._by_key: dict[tuple[str, str], Invocation] = {}
        self._by_call_id: dict[str, Invocation] = {}
        self._most_chars = 0  # what the settled ones hold, or more: counted anew only once it is too much

    def __iter__(self) -> Iterator[Invocation]:
        """The settled ones, oldest settlement first."""
        return iter(self._settled.values())

    def get(self, invocation_id: str) -> Invocation | None:
        """A settled invocation."""
        return self._settled.get(invocation_id)

    def restore(self, settled: Iterable[Invocation]) -> None:
        """Take up what an earlier Core had settled."""
        in_order = sorted(settled, key=lambda each: each.settled_at)
        self._settled = OrderedDict((each.id, each) for each in in_order)
        self._most_chars = self._chars()

    def enter(self, invocation: Invocation) -> None:
        """Make an invocation, open or settled, findable for retries."""
        call = invocation.call
        if call.call_id is not None:
            self._by_call_id[call.call_id] = invocation
        if invocation.abandoned or (call.joins and call.call_id is None):
            self._by_key[call.key] = invocation

    def keep(self, invocation: Invocation) -> None:
        """It is settled now."""
        self._settled[invocation.id] = invocation
        self._most_chars += invocation.size

    def grew(self, invocation: Invocation) -> None:
        """A settled one holds more than when it was kept: its late result."""
        self._most_chars += invocation.size

    def earlier(self, call: Call, now: Instant) -> Invocation | None:
        """The invocation that this call is a retry of, if it is one.

        Raises:
            PedelecError: `CALL_ID_CONFLICT` where `call_id` names another call.
        """
        if call.call_id is not None:
            named = self._by_call_id.get(call.call_id)
            if named is None or self._is_stale(named, now):
                return None
            if named.call.key != call.key:
                raise call_errors.call_id_conflict(call.call_id, named.call.tool)
            return None if _may_be_made_again(named) else named
        equal = self._by_key.get(call.key)
        if equal is None or equal.acknowledged or self._is_stale(equal, now):
            return None
        if not (call.joins or equal.abandoned):
            return None
        return None if equal.outcome is not None and _is_over_for_retries(equal.outcome) else equal

    def next_due(self) -> float | None:
        """When `forget` has something to do, on the monotonic clock."""
        oldest = next(iter(self), None)
        return None if oldest is None else oldest.settled_at + self._limits.remember_seconds

    def forget(self, now: Instant) -> list[Forget]:
        """Keep memory bounded: settled invocations go by age, then by number and size, acknowledged first."""
        gone: list[Forget] = []
        while self._settled:
            oldest = next(iter(self))
            if self._is_stale(oldest, now):
                gone.append(self._drop(oldest))
            elif self._is_too_much():
                acknowledged = (each for each in self if each.acknowledged)
                gone.append(self._drop(next(acknowledged, oldest)))
            else:
                break
        return gone

    def _is_stale(self, invocation: Invocation, now: Instant) -> bool:
        settled = invocation.outcome is not None
        return settled and now.seconds - invocation.settled_at >= self._limits.remember_seconds

    def _is_too_much(self) -> bool:
        if len(self._settled) > self._limits.remembered:
            return True
        if self._most_chars > self._limits.remembered_bytes:
            self._most_chars = self._chars()
        return self._most_chars > self._limits.remembered_bytes and len(self._settled) > 1

    def _chars(self) -> int:
        return sum(each.size for each in self)

    def _drop(self, invocation: Invocation) -> Forget:
        del self._settled[invocation.id]
        self._most_chars -= invocation.size
        call = invocation.call
        if self._by_key.get(call.key) is invocation:
            del self._by_key[call.key]
        if call.call_id is not None and self._by_call_id.get(call.call_id) is invocation:
            del self._by_call_id[call.call_id]
        return Forget(invocation)


def _may_be_made_again(named: Invocation) -> bool:
    """Whether the same call under the same name is a new one: nothing ran, or the agent was told to.

    Else the name would stand in the way of the very retry that its error asks for.
    """
    error = None if named.outcome is None else named.outcome.error
    if error is None:
        return False
    return error.effects == Effects.NONE or (named.acknowledged and error.is_retryable)


def _is_over_for_retries(outcome: Outcome) -> bool:
    """Whether the same call is a new one although its answer may not have arrived.

    So it is after a time-out, and wherever nothing ran: there is nothing to protect from running twice.
    """
    error = outcome.error
    return error is not None and (error.code == Code.TOOL_TIMEOUT or error.effects == Effects.NONE)
