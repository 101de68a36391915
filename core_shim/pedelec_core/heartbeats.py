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

_ROUNDING: Final = 1e-6
"""Of a place on the grid: what reckoning with floats may add to it."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Heart:
    connection: PageConnection
    pulse: Pulse


class Heartbeats:
    """The heartbeats of all connected pages."""

    def __init__(self, hub: Hub, interval: float) -> None:
        self.interval = interval
        self._hub = hub
        self._hearts: dict[str, _Heart] = {}
        self._due: dict[int, list[_Heart]] = {}  # by the place on the grid; each place has one timer
        self._grid = min(_GRID_SECONDS, interval / 10)
        self._ping_ids = itertools.count(1)

    def start(self, connection: PageConnection) -> None:
        """Begin: the page has said hello. Called again, it does nothing."""
        if connection.id in self._hearts:
            return
        # Spread, for after a restart of Core all pages come at once; but over some moments, not over all of
        # time: to wake Core from its sleep costs more than what it does for one page.
        tenth = self.interval / 10
        soon = asyncio.get_running_loop().time() + self.interval * random.uniform(0.5, 0.9)  # noqa: S311
        first = math.ceil(soon / tenth) * tenth
        heart = self._hearts[connection.id] = _Heart(connection, Pulse(first, self.interval))
        self._arm(heart)

    def stop(self, connection: PageConnection) -> None:
        """The connection is over."""
        self._hearts.pop(connection.id, None)

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
        place = math.ceil(heart.pulse.due / self._grid - _ROUNDING)
        if place not in self._due:
            self._due[place] = []
            asyncio.get_running_loop().call_at(place * self._grid, self._beat_all, place)
        self._due[place].append(heart)

    def _beat_all(self, place: int) -> None:
        # By the grid's time where it is in time, so that those who beat together go on doing so.
        late = asyncio.get_running_loop().time() - place * self._grid
        moment = place * self._grid + (late if late > self._grid else 0.0)
        ping = encode(Ping(id=next(self._ping_ids)))  # once for all: pages tell it from earlier ones, no more
        for heart in self._due.pop(place):
            if self._hearts.get(heart.connection.id) is heart:
                self._beat(heart, moment, ping)

    def _beat(self, heart: _Heart, moment: float, ping: str) -> None:
        connection = heart.connection
        match heart.pulse.beat(moment):
            case Beat.PING:
                connection.send(ping)
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
