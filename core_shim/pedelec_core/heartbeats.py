"""The beat of every page's heart: pings the pages, notices who is silent, cuts off who is gone.

Owns the timers. What silence means is decided in `pulse`, what it means for calls in `sessions`.
"""

import asyncio
import itertools
import logging
import math
import random
from dataclasses import dataclass
from typing import Final

from pedelec.protocol import Ping, encode
from pedelec_core.hub import Hub, PageConnection
from pedelec_core.pulse import Beat, Pulse

_GRID_SECONDS: Final = 0.25
"""Beats are taken together, this far apart: a thousand idle pages must not wake Core a thousand times."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Heart:
    connection: PageConnection
    pulse: Pulse
    timer: asyncio.TimerHandle | None = None


class Heartbeats:
    """The heartbeats of all connected pages."""

    def __init__(self, hub: Hub, interval: float) -> None:
        self.interval = interval
        self._hub = hub
        self._hearts: dict[str, _Heart] = {}
        self._ping_ids = itertools.count(1)

    def start(self, connection: PageConnection) -> None:
        """Begin: the page has said hello. Called again, it does nothing."""
        if connection.id in self._hearts:
            return
        # Spread: after a restart of Core all pages come at once.
        first = asyncio.get_running_loop().time() + self.interval * random.uniform(0.5, 1)  # noqa: S311
        heart = self._hearts[connection.id] = _Heart(connection, Pulse(first, self.interval))
        self._arm(heart)

    def stop(self, connection: PageConnection) -> None:
        """The connection is over."""
        heart = self._hearts.pop(connection.id, None)
        if heart is not None and heart.timer is not None:
            heart.timer.cancel()

    def heard(self, connection: PageConnection) -> None:
        """A message of the page came."""
        heart = self._hearts.get(connection.id)
        if heart is not None and heart.pulse.heard():
            self._hub.page_answers(connection, answers=True)

    def browser_answered(self, connection: PageConnection) -> None:
        """The browser answered a probe."""
        heart = self._hearts.get(connection.id)
        if heart is not None:
            heart.pulse.browser_answered()

    def _arm(self, heart: _Heart) -> None:
        grid = min(_GRID_SECONDS, self.interval / 10)
        when = math.ceil(heart.pulse.due / grid) * grid
        heart.timer = asyncio.get_running_loop().call_at(when, self._beat, heart)

    def _beat(self, heart: _Heart) -> None:
        connection = heart.connection
        match heart.pulse.beat(asyncio.get_running_loop().time()):
            case Beat.PING:
                connection.send(encode(Ping(id=next(self._ping_ids))))
            case Beat.PROBE:
                self._hub.page_answers(connection, answers=False)
                connection.probe()
            case Beat.GONE:
                _log.info("page %s and its browser stopped answering: cut off", connection.id)
                connection.cut()
                return
            case Beat.NOTHING:
                pass
        self._arm(heart)
