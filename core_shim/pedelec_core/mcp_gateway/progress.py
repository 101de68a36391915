"""Progress from a page's handler to an MCP client: in order, strictly rising, never in the answer's way.

Waiting for a person is progress too: it is told when it begins, every few seconds while it lasts (so that no
client takes it for silence), and when it is over. It counts for next to nothing.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable
from typing import Final

from pedelec_core.call_events import CallEvent, Progress

REMIND_SECONDS: Final = 10.0

_MAX_WAITING: Final = 64
_FLUSH_SECONDS: Final = 5.0
_NEXT_TO_NOTHING: Final = 1e-6

_log = logging.getLogger(__name__)


class ProgressPump:
    """Sends what it is given. `put` never blocks; what a slow client cannot take is dropped.

    Args:
        send: takes `done`, `total` and `message`.
    """

    def __init__(self, send: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._last: Progress | None = None
        self._task: asyncio.Task[None] | None = None
        self._reminder: asyncio.TimerHandle | None = None

    def put(self, event: CallEvent) -> None:
        """Send an event. Progress that does not exceed the last is dropped (MCP: the value must increase)."""
        if isinstance(event, Progress):
            self._put(event)
            return
        was_waiting = self._reminder is not None
        self._stop_reminding()
        if event.questions:
            self._remind(f"Waiting for the user: {event.questions[0].message}")
        elif was_waiting:
            self._say("The user has answered.")

    async def finish(self) -> None:
        """Wait until everything is sent, for a moment."""
        self._stop_reminding()
        if self._task is not None:
            self._waiting.put_nowait(None)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._task, _FLUSH_SECONDS)

    def stop(self) -> None:
        """Send nothing more."""
        self._stop_reminding()
        if self._task is not None:
            self._task.cancel()

    def _put(self, progress: Progress) -> None:
        if self._last is not None and progress.done <= self._last.done:
            return
        if self._waiting.qsize() >= _MAX_WAITING:
            return
        self._last = progress
        self._waiting.put_nowait(progress)
        if self._task is None:
            self._task = asyncio.create_task(self._pump())

    def _say(self, message: str) -> None:
        """Tell something that is no step forward."""
        last = self._last or Progress(0, None, None)
        done = max(last.done + _NEXT_TO_NOTHING, math.nextafter(last.done, math.inf))
        self._put(Progress(done if self._last else 0, last.total, message))

    def _remind(self, message: str) -> None:
        self._say(message)
        loop = asyncio.get_running_loop()
        self._reminder = loop.call_later(REMIND_SECONDS, self._remind, message)

    def _stop_reminding(self) -> None:
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    async def _pump(self) -> None:
        try:
            while (progress := await self._waiting.get()) is not None:
                await self._send(progress.done, progress.total, progress.message)
        except Exception:  # noqa: BLE001 - a client that cannot be told still gets its answer
            _log.debug("progress could not be sent", exc_info=True)
