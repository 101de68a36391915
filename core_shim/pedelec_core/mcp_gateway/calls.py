"""Calls whose answers are on their way to a client: delivered, lost, or called off.

Owns what becomes of a call when its client's connection goes, or its client changes its mind. How that is
noticed is the transports' business.
"""

import asyncio
from typing import Final, NamedTuple

from pedelec_core.agent_desk import RunningCall

TAKE_OVER_SECONDS: Final = 2.0
"""How long a lost call waits to be taken over before it counts as called off, where losing it means that."""

_NOTICE_SECONDS: Final = 5.0
"""A client's notice that it called a call off may come this long after the call was interrupted."""


class CallKey(NamedTuple):
    """A request, named as its client names it."""

    connection: str
    request_id: str


class CallsInFlight:
    """The calls of all clients, from the moment they are admitted until their answers have arrived."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, RunningCall] = {}

    def begin(self, key: CallKey, call: RunningCall) -> None:
        """A call was admitted."""
        self._calls[key] = call

    def received(self, key: CallKey) -> None:
        """The client has the answer; without one, there was nothing to have."""
        call = self._calls.pop(key, None)
        if call is not None:
            call.acknowledge()

    def interrupted(self, key: CallKey) -> None:
        """Nobody waits at our end any more; why, will be known in a moment, or never."""
        call = self._calls.get(key)
        if call is not None:
            call.abandon()
            asyncio.get_running_loop().call_later(_NOTICE_SECONDS, self._forget, key, call)

    def cancelled(self, key: CallKey) -> None:
        """The client said that it does not want the answer."""
        call = self._calls.pop(key, None)
        if call is not None:
            call.cancel("the agent")

    def lost(self, key: CallKey, *, means_cancelled: bool) -> None:
        """The connection went before the answer arrived. The call goes on, and an equal one takes it over.

        Args:
            key: which call.
            means_cancelled: that is how this client calls off (MCP 2026-07-28, basic/patterns/cancellation):
                unless it is taken over soon, the call is cancelled.
        """
        call = self._calls.pop(key, None)
        if call is None:
            return
        call.abandon()
        if means_cancelled:
            asyncio.get_running_loop().call_later(TAKE_OVER_SECONDS, call.cancel, "the agent (it hung up)")

    def connection_lost(self, connection: str) -> None:
        """All calls of a connection are lost."""
        for key in [key for key in self._calls if key.connection == connection]:
            self.lost(key, means_cancelled=False)

    def _forget(self, key: CallKey, call: RunningCall) -> None:
        if self._calls.get(key) is call:
            del self._calls[key]
