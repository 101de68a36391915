"""Calls whose answers are on their way to a client: delivered, lost, or called off.

Owns what becomes of a call when its client's connection goes, or its client changes its mind. How that is
noticed is the transports' business.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pedelec.errors import Code, Effects, PedelecError
from pedelec_core.agent_desk import CallAnswer, RunningCall

TAKE_OVER_SECONDS: Final = 2.0
"""How long a lost call waits to be taken over before it counts as called off, where losing it means that."""

BY_CLIENT: Final = "the agent"
"""Who cancelled, as errors have it."""

_NOTICE_SECONDS: Final = 5.0
"""How far apart a call and its client's notice that calls it off may come, whichever is first."""

_MAX_CALLED_OFF: Final = 1_024


class CallKey(NamedTuple):
    """A request, named as its client names it."""

    connection: str
    request_id: str


@dataclass(slots=True)
class _InFlight:
    call: RunningCall
    is_answered: bool = False
    is_abandoned: bool = False

    def abandon(self) -> None:
        self.is_abandoned = True
        self.call.abandon()


async def answer_unless(call: RunningCall, *others: asyncio.Future[Any]) -> CallAnswer | None:
    """Wait for a call's answer; None where one of the others is done before."""
    answer = asyncio.ensure_future(call.answer())
    try:
        either: set[asyncio.Future[Any]] = {answer, *others}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return await answer if answer.done() else None
    finally:
        answer.cancel()


def core_stops(tool: str) -> PedelecError:
    """Core is about to stop, and a call has no answer yet."""
    return PedelecError(
        Code.CORE_RUNTIME_UNAVAILABLE,
        f"Core stops while {tool} runs. Whether it takes effect is unknown.",
        recovery_steps=[
            "Once Core runs again, make the same call: it gets what this one came to. Nothing runs twice.",
            "If Core does not come back, ask the user to start it.",
        ],
        effects=Effects.UNKNOWN,
        details={"tool": tool},
    )


class CallsInFlight:
    """The calls of all clients, from the moment they are admitted until their answers have arrived."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, _InFlight] = {}
        self._called_off: set[CallKey] = set()  # before they came, perhaps

    def begin(self, key: CallKey, call: RunningCall) -> None:
        """A call was admitted."""
        self._calls[key] = _InFlight(call)

    def answered(self, key: CallKey, call: RunningCall) -> None:
        """The answer is ready to go out."""
        entry = self._calls.get(key)
        if entry is None or entry.call is not call:  # the client gave the number to another call
            return
        entry.is_answered = True
        if entry.is_abandoned:  # there is no way for it to go, and nothing left to call off
            del self._calls[key]

    def received(self, key: CallKey) -> None:
        """The client has what went out. Of an abandoned call that was not the answer, but word of its end."""
        entry = self._calls.get(key)
        if entry is not None and not entry.is_abandoned:
            del self._calls[key]
            entry.call.acknowledge()

    def parked(self, key: CallKey) -> None:
        """Its client goes to ask its user, and comes back: the answer is neither received nor lost."""
        self._calls.pop(key, None)

    def interrupted(self, key: CallKey) -> None:
        """Nobody waits at our end any more; why, will be known in a moment, or never."""
        entry = self._calls.get(key)
        if entry is not None:
            entry.abandon()
            asyncio.get_running_loop().call_later(_NOTICE_SECONDS, self._forget, key, entry)

    def cancelled(self, key: CallKey, *, may_come_first: bool) -> None:
        """The client said that it does not want the answer.

        Args:
            key: to which call.
            may_come_first: that call may still be on its way, by another connection.
        """
        entry = self._calls.pop(key, None)
        if entry is not None:
            entry.call.cancel(BY_CLIENT)
        elif may_come_first and len(self._called_off) < _MAX_CALLED_OFF:
            self._called_off.add(key)
            asyncio.get_running_loop().call_later(_NOTICE_SECONDS, self._called_off.discard, key)

    def is_called_off(self, key: CallKey) -> bool:
        """Whether the client called a call off that only comes now. No client gives a number to two."""
        return key in self._called_off

    def lost(self, key: CallKey, *, means_cancelled: bool) -> None:
        """The connection went before the answer arrived. The call goes on, and an equal one takes it over.

        Its client may still call it off, by another request.

        Args:
            key: which call.
            means_cancelled: that is how this client calls off (MCP 2026-07-28, basic/patterns/cancellation):
                unless it is taken over soon, the call is cancelled.
        """
        entry = self._calls.get(key)
        if entry is None:
            return
        entry.abandon()
        if means_cancelled or entry.is_answered:
            del self._calls[key]
        if means_cancelled:
            hung_up = "the agent (it hung up)"
            asyncio.get_running_loop().call_later(TAKE_OVER_SECONDS, entry.call.cancel, hung_up)

    def connection_lost(self, connection: str) -> None:
        """All calls of a connection are lost, and nothing more will be heard of them."""
        for key in [key for key in self._calls if key.connection == connection]:
            self._calls.pop(key).abandon()

    def _forget(self, key: CallKey, entry: _InFlight) -> None:
        if self._calls.get(key) is entry:
            del self._calls[key]
