"""Callbacks of a session's events: registered in order, called in order, none able to stop another.

Owns what happens to a callback that fails (it is logged). Knows neither which events there are nor sessions.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from pedelec.calls import as_awaitable
from pedelec.handlers import Bound, Registration, bind
from pedelec.host import Host

logger = logging.getLogger("pedelec")


class Callbacks:
    """The callbacks of one event.

    Args:
        name: the event's, for the log.
        parameters: what the event passes, by name; a callback may take fewer.
        start: runs what an async callback has left to do.
    """

    def __init__(
        self,
        name: str,
        parameters: tuple[str, ...],
        host: Host,
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._name = name
        self._parameters = parameters
        self._host = host
        self._start = start
        self._callbacks: list[Bound] = []

    def add(self, callback: object) -> Registration:
        """Register; raises `INVALID_INPUT` where it is not callable in any form."""
        bound = bind(callback, self._parameters, self._host)
        self._callbacks.append(bound)

        def dispose() -> None:
            if bound in self._callbacks:
                self._callbacks.remove(bound)

        return Registration(callback, dispose)

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._callbacks)

    def fire(self, *values: object) -> None:
        for callback in list(self._callbacks):
            try:
                awaitable = as_awaitable(callback(*values), self._host)
            except BaseException as error:  # noqa: BLE001 - the others, and a call that is running, go on
                self._log(error)
                continue
            if awaitable is not None:
                self._start(self._finish(awaitable))

    async def _finish(self, awaitable: Awaitable[Any]) -> None:
        try:
            await awaitable
        except BaseException as error:  # noqa: BLE001 - as above
            self._log(error)

    def _log(self, error: BaseException) -> None:
        logger.error("A callback of %s raised.", self._name, exc_info=error)
