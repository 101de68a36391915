"""The bridge's work: passes lines between the host and Core, over as many Cores as there are in its life.

Owns when which link is used. What is said over them is `relay`'s business.
"""

import asyncio
import contextlib
from typing import Final

from pedelec_core.state_dir import StateDir

from .core_link import CoreFinder, Link
from .host import Host, HostGone
from .relay import Lines, Relay

RESTART_SECONDS: Final = 5.0
"""How long requests wait for a Core that went away to come back."""


def run_bridge(state_dir: StateDir, *, start_on: int | None) -> None:
    """Serve the host on stdin and stdout until stdin ends, stdout is closed, or the parent is gone.

    Args:
        state_dir: of the Core that is meant.
        start_on: the port on which to start Core where none runs, or None to start none.

    Raises:
        CommandError: the state folder cannot be used, and Core was to be started.
    """
    asyncio.run(_run(CoreFinder(state_dir, start_on=start_on)))


async def _run(finder: CoreFinder) -> None:
    host = Host()
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

    async def serve_host(self) -> None:
        """Pass the host's lines on; while there is no link, the relay keeps what has to be said again."""
        while True:
            await self._carry(self._relay.from_host(await self._host.line()))

    async def serve_core(self) -> None:
        """Keep a link to Core, or to what stands in for it, and pass its lines on."""
        link = await self._finder.find(0) or await self._stand_in()
        while True:
            try:
                self._link = link
                await link.send(self._relay.replay())
                self._relay.sent(to_core=link.is_core)
                await self._host.write(self._relay.news())
                found = await self._serve(link)
            finally:
                self._link = None
                await link.close()
            link = found or await self._finder.find(RESTART_SECONDS) or await self._stand_in()

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

    async def _stand_in(self) -> Link:
        return await self._finder.stand_in(self._relay.may_have_run)
