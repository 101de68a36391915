"""Connections to Core, or to what stands in for it: found, started, made.

Owns where Core is looked for and how it is started. What goes over a connection is the bridge's business.
"""

import asyncio
import contextlib
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pedelec_core.state_dir import StateDir

from .messages import MAX_LINE_BYTES

LOG_NAME: Final = "core.log"
"""In the state folder: what a Core that we started has to say."""

_START_SECONDS: Final = 20.0
_FIRST_DELAY_SECONDS: Final = 0.05
_MAX_DELAY_SECONDS: Final = 1.0
_OPENING: Final = b'{"type":"mcp"}\n'
_SERVE: Final = "import sys; from pedelec_core.main import main; sys.exit(main())"


@dataclass(slots=True)
class Link:
    """A connection that speaks MCP in lines.

    Attributes:
        is_core: whether Core is at its other end.
        server: what is there instead.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_core: bool
    server: asyncio.Task[None] | None = None

    async def send(self, lines: list[bytes]) -> None:
        """Send lines. If the other end is gone, whoever reads from it will find out."""
        if lines:
            self.writer.writelines(lines)
            with contextlib.suppress(OSError):
                await self.writer.drain()

    async def line(self) -> bytes | None:
        """The next line, or None once there will be no more."""
        try:
            line = await self.reader.readline()
        except (OSError, ValueError):  # cut off, or a line over the limit
            return None
        return line if line.endswith(b"\n") else None

    async def close(self) -> None:
        """Close it. Calls that it carries are not cancelled by that."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()
        if self.server is not None:
            self.server.cancel()
            await asyncio.gather(self.server, return_exceptions=True)


class CoreFinder:
    """Makes links to the Core of a state folder.

    Args:
        state_dir: the folder.
        start_on: the port on which to start a Core where none runs, or None to start none.
    """

    def __init__(self, state_dir: StateDir, *, start_on: int | None) -> None:
        self._state_dir = state_dir
        self._start_on = start_on
        self._started: subprocess.Popen[bytes] | None = None

    async def find(self, seconds: float) -> Link | None:
        """A link to Core, if it is there or comes within that time, or can be started.

        Raises:
            CommandError: the state folder cannot be used.
        """
        link = await self._connect()
        if link is None and seconds:
            with contextlib.suppress(TimeoutError):
                link = await asyncio.wait_for(self.wait(), seconds)
        if link is None and self._start_on is not None:
            link = await self._start_core(self._start_on)
        return link

    async def wait(self) -> Link:
        """A link to Core, as soon as it is there."""
        delay = _FIRST_DELAY_SECONDS
        while (link := await self._connect()) is None:
            await asyncio.sleep(delay)
            delay = min(2 * delay, _MAX_DELAY_SECONDS)
        return link

    async def stand_in(self, may_have_run: Callable[[str], bool]) -> Link:
        """A link to what answers in Core's place.

        Args:
            may_have_run: whether the call of a name has reached a Core before.
        """
        from .offline import connect_offline

        command = f"pedelec-core serve --state-dir {shlex.quote(str(self._state_dir.path))}"
        reader, writer, server = await connect_offline(command, may_have_run, MAX_LINE_BYTES)
        return Link(reader, writer, is_core=False, server=server)

    async def _connect(self) -> Link | None:
        runtime = self._state_dir.read_runtime()
        if runtime is None:
            return None
        try:
            reader, writer = await asyncio.open_unix_connection(runtime.socket, limit=MAX_LINE_BYTES)
        except OSError:
            return None
        writer.write(_OPENING)
        return Link(reader, writer, is_core=True)

    async def _start_core(self, port: int) -> Link | None:
        """Start a Core that outlives us. Should another one be starting, ours gives way to it."""
        self._state_dir.prepare()
        options = ["--state-dir", str(self._state_dir.path), "--port", str(port)]
        with (self._state_dir.path / LOG_NAME).open("ab") as log:
            self._started = subprocess.Popen(  # noqa: ASYNC220 - asyncio would end it with us
                [sys.executable, "-c", _SERVE, "serve", *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                while (link := await self._connect()) is None:
                    if self._started.poll() is not None:
                        break
                    await asyncio.sleep(_FIRST_DELAY_SECONDS)
                return link
        return None
