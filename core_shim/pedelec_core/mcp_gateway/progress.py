"""Progress from a page's handler to an MCP client: in order, strictly rising, never in the answer's way."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from pedelec_core.hub import Progress

_MAX_WAITING: Final = 64
_FLUSH_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


class ProgressPump:
    """Sends what it is given. `put` never blocks; what a slow client cannot take is dropped.

    Args:
        send: takes `done`, `total` and `message`.
    """

    def __init__(self, send: Callable[[float, float | None, str | None], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._last: float | None = None
        self._task: asyncio.Task[None] | None = None

    def put(self, progress: Progress) -> None:
        """Send progress, unless it does not exceed the last (MCP: the value must increase)."""
        if self._last is not None and progress.done <= self._last:
            return
        if self._waiting.qsize() >= _MAX_WAITING:
            return
        self._last = progress.done
        self._waiting.put_nowait(progress)
        if self._task is None:
            self._task = asyncio.create_task(self._pump())

    async def finish(self) -> None:
        """Wait until everything is sent, for a moment."""
        if self._task is not None:
            self._waiting.put_nowait(None)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._task, _FLUSH_SECONDS)

    def stop(self) -> None:
        """Send nothing more."""
        if self._task is not None:
            self._task.cancel()

    async def _pump(self) -> None:
        try:
            while (progress := await self._waiting.get()) is not None:
                await self._send(progress.done, progress.total, progress.message)
        except Exception:  # noqa: BLE001 - a client that cannot be told still gets its answer
            _log.debug("progress could not be sent", exc_info=True)
