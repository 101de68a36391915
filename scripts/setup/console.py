"""Progress lines: one line that is written over on a terminal, a few plain lines anywhere else."""

import time
from collections.abc import Callable
from typing import TextIO

_QUIET_SECONDS = 5.0
_ERASE_LINE = "\r\x1b[K"


class StepDisplay:
    """The lines of one step: `[2/5] Locked dependencies … done (3.1 s)`. A `Progress`.

    Args:
        heading: what stands before the ellipsis.
        out: where to write.
        clock: seconds from any fixed moment.
    """

    def __init__(self, heading: str, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._heading = heading
        self._out = out
        self._clock = clock
        self._started = clock()
        self._shown = self._started

    def begin(self) -> None:
        """Say that the step is running."""
        self._write(f"{self._heading} …", final=False)

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show progress; off a terminal each new stage, and how far it is now and then."""
        now = self._clock()
        if not self._out.isatty() and total > 0 and now - self._shown < _QUIET_SECONDS:
            return
        self._shown = now
        self._write(f"{self._heading} … {what}{_how_far(done, total)}", final=False)

    def finish(self, outcome: str) -> None:
        """End the step with `done`, `up to date` or `failed`, and, unless nothing was done, its duration."""
        seconds = f" ({self._clock() - self._started:.1f} s)" if outcome != "up to date" else ""
        self._write(f"{self._heading} … {outcome}{seconds}", final=True)

    def _write(self, line: str, *, final: bool) -> None:
        if self._out.isatty():
            self._out.write(_ERASE_LINE + line + ("\n" if final else ""))
        else:
            self._out.write(line + "\n")
        self._out.flush()


def _how_far(done: int, total: int) -> str:
    if total <= 0:
        return ""
    if total < 10_000:
        return f" {done}/{total}"
    return f" {done / 1e6:.1f} of {total / 1e6:.1f} MB ({100 * done // total} %)"
