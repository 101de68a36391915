"""Carry progress from a child process to the one that shows it: one tab-separated line for each report."""

from collections.abc import Sequence
from pathlib import Path

from pedelec_core.runtime.process import ProgramError, run
from pedelec_core.runtime.progress import Progress

_FIELD = "\t"


def report_progress(what: str, done: int = 0, total: int = 0) -> None:
    """Report from inside the child. Is a `Progress`."""
    print(what, done, total, sep=_FIELD, flush=True)


def relayed(command: Sequence[str | Path], root: Path, progress: Progress) -> None:
    """Run `command` in `root` and show the progress that it reports.

    Raises:
        ProgramError: it failed; the tail holds what it printed besides progress.
    """

    def pass_on(line: str) -> None:
        fields = line.split(_FIELD)
        if len(fields) == 3 and fields[1].isdecimal() and fields[2].isdecimal():
            progress(fields[0], int(fields[1]), int(fields[2]))

    try:
        run(command, cwd=root, on_line=pass_on)
    except ProgramError as error:
        said = [line for line in error.tail.splitlines() if _FIELD not in line]
        raise ProgramError(error.command, error.status, "\n".join(said)) from error
