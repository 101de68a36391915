"""The host on the other side of stdin and stdout: its lines, and how to tell that it is gone.

Owns the two file descriptors. Each has a daemon thread of its own: stdin may be anything, and not all of it
can be waited for; and a host that does not read must not keep the process alive.
"""

import asyncio
import contextlib
import os
import queue
import sys
import threading
from typing import Final

_MAX_WAITING_LINES: Final = 64
_CHUNK_BYTES: Final = 64 * 1024
_PARENT_SECONDS: Final = 1.0


class HostGone(Exception):  # noqa: N818 - not an error: the end
    """The host has ended its side, or does not take what we write any more."""


class Host:
    """The host. Made inside the running event loop; from then on stdout is the protocol's alone."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wire = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed goes to stderr
        self._read: asyncio.Queue[bytes | None] = asyncio.Queue(_MAX_WAITING_LINES)
        self._unwritten: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        for work in (self._read_stdin, self._write_stdout):
            threading.Thread(target=work, daemon=True).start()

    async def line(self) -> bytes:
        """The next line that is not blank.

        Raises:
            HostGone: there will be none.
        """
        while (line := await self._read.get()) is not None:
            if line.strip():
                return line
        raise HostGone

    async def write(self, lines: list[bytes]) -> None:
        """Write lines, and wait until they are written.

        Raises:
            HostGone: nobody takes them.
        """
        if lines:
            written: asyncio.Future[None] = self._loop.create_future()
            self._unwritten.put((b"".join(lines), written))
            await written

    async def parent_gone(self) -> None:
        """Wait until the process that started us has ended, which stdin alone does not always tell."""
        parent = os.getppid()
        while os.getppid() == parent:  # noqa: ASYNC110 - no system tells of it everywhere
            await asyncio.sleep(_PARENT_SECONDS)

    def _read_stdin(self) -> None:
        rest = b""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while chunk := os.read(0, _CHUNK_BYTES):
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    asyncio.run_coroutine_threadsafe(self._read.put(line), self._loop).result()
            asyncio.run_coroutine_threadsafe(self._read.put(None), self._loop).result()

    def _write_stdout(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            while True:
                data, written = self._unwritten.get()
                try:
                    self._write_all(data)
                    self._loop.call_soon_threadsafe(_settle, written, None)
                except OSError:
                    self._loop.call_soon_threadsafe(_settle, written, HostGone())

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._wire, view) :]


def _settle(written: "asyncio.Future[None]", problem: Exception | None) -> None:
    if written.done():
        return
    if problem is None:
        written.set_result(None)
    else:
        written.set_exception(problem)
