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
    """The host does not take what we write any more."""


class Host:
    """The host. Made inside the running event loop; from then on stdout is the protocol's alone.

    Args:
        max_line_bytes: of a longer line, no more than one byte above that is given.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._kept_bytes = max_line_bytes + 1
        self._wire = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed goes to stderr
        self._read: asyncio.Queue[bytes | None] = asyncio.Queue(_MAX_WAITING_LINES)
        self._unwritten: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        for work in (self._read_stdin, self._write_stdout):
            threading.Thread(target=work, daemon=True).start()

    async def line(self) -> bytes | None:
        """The next line that is not blank, or None once there will be no more."""
        while (line := await self._read.get()) is not None:
            if line.strip():
                return line
        return None

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
                first, *others = chunk.split(b"\n")
                rest += first[: self._kept_bytes - len(rest)]
                for other in others:
                    self._put(rest)
                    rest = other
            self._put(rest)  # the last line may lack its end
            self._put(None)

    def _put(self, line: bytes | None) -> None:
        """Wait until there is room for a line: a host that writes faster than Core reads has to wait."""
        asyncio.run_coroutine_threadsafe(self._read.put(line), self._loop).result()

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
