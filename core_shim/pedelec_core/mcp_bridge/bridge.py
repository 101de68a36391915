"""The bridge's work: passes lines between the host and Core, over as many Cores as there are in its life.

Owns when which link is used. What is said over them is `relay`'s business.
"""

import asyncio
import contextlib
from typing import Final

from pedelec_core.state_dir import StateDir

from .core_link import CoreFinder, Link
from .host import Host, HostGone
from .messages import MAX_LINE_BYTES
from .relay import Lines, Relay

RESTART_SECONDS: Final = 10.0
"""How long requests wait for a Core that went away to come back; a busy machine takes a while to start it."""

_LAST_ANSWERS_SECONDS: Final = 20.0
"""How long a host that has ended its side may still be owed the answers that Core gives by itself."""

_LAST_CALLS_SECONDS: Final = 2.0
"""And after that, those to calls, which may be long in coming."""

_FIRST_PAUSE_SECONDS: Final = 0.05
_MAX_PAUSE_SECONDS: Final = 1.0
_SHORT_LIFE_SECONDS: Final = 5.0
"""After a link that lived no longer than this, the pause before the next one grows."""


def run_bridge(state_dir: StateDir, *, start_on: int | None) -> None:
    """Serve the host on stdin and stdout until stdin ends, stdout is closed, or the parent is gone.

    Where stdin ends first, what is asked by then is still answered, as far as that takes a moment only.

    Args:
        state_dir: of the Core that is meant.
        start_on: the port on which to start Core where none runs, or None to start none.

    Raises:
        CommandError: the state folder cannot be used, and Core was to be started.
    """
    asyncio.run(_run(CoreFinder(state_dir, start_on=start_on)))


async def _run(finder: CoreFinder) -> None:
    host = Host(MAX_LINE_BYTES)
    bridge = _Bridge(host, finder)
    tasks = {
        asyncio.create_task(work) for work in (host.parent_gone(), bridge.serve_host(), bridge.serve_core())
    }
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        with contextlib.suppress(HostGone):
            for task in done:
                await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Bridge:
    def __init__(self, host: Host, finder: CoreFinder) -> None:
        self._host = host
        self._finder = finder
        self._relay = Relay()
        self._link: Link | None = None
        self._carried = asyncio.Event()

    async def serve_host(self) -> None:
        """Pass the host's lines on; while there is no link, the relay keeps what has to be said again."""
        while (line := await self._host.line()) is not None:
            await self._carry(self._relay.from_host(line))
        await self._give_answers(_LAST_ANSWERS_SECONDS, calls=False)
        await self._give_answers(_LAST_CALLS_SECONDS, calls=True)

    async def serve_core(self) -> None:
        """Keep a link to Core, or to what stands in for it, and pass its lines on."""
        loop = asyncio.get_running_loop()
        pause = _FIRST_PAUSE_SECONDS
        link = await self._finder.find(0) or await self._stand_in()
        while True:
            made_at = loop.time()
            try:
                self._link = link
                again = self._relay.replay()
                await link.send(again.to_core)  # before anything that the host may say next
                self._relay.sent(to_core=link.is_core)
                await self._host.write(again.to_host)
                found = await self._serve(link)
            finally:
                self._link = None
                await link.close()
            if found is None:
                is_short = loop.time() - made_at < _SHORT_LIFE_SECONDS
                pause = min(2 * pause, _MAX_PAUSE_SECONDS) if is_short else _FIRST_PAUSE_SECONDS
                await asyncio.sleep(pause)
                found = await self._finder.find(RESTART_SECONDS) or await self._stand_in()
            link = found

    async def _serve(self, link: Link) -> Link | None:
        """Serve until the link ends, or until Core is back: then gives the link to it."""
        reading = asyncio.create_task(self._read(link))
        looking = None if link.is_core else asyncio.create_task(self._finder.wait())
        tasks = [task for task in (reading, looking) if task is not None]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                await reading
            return looking.result() if looking is not None and looking.done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, link: Link) -> None:
        while (line := await link.line()) is not None:
            await self._carry(self._relay.from_core(line))

    async def _carry(self, lines: Lines) -> None:
        await self._host.write(lines.to_host)
        link = self._link
        if link is not None:
            await link.send(lines.to_core)
            self._relay.sent(to_core=link.is_core)
        self._carried.set()

    async def _give_answers(self, seconds: float, *, calls: bool) -> None:
        """Wait, so long at most, until the host is owed nothing. `calls` as in `Relay.owes`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._relay.owes(calls=calls):
                    self._carried.clear()
                    await self._carried.wait()

    async def _stand_in(self) -> Link:
        return await self._finder.stand_in(self._relay.may_have_run)
