"""Run a child program to its end: output kept for the error message, progress picked from its lines.

Standard library only: the set-up uses it before anything is installed. Owns no policy about what is run.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TAIL_LINES = 15


class ProgramError(Exception):
    """A child program could not be started or ended with a status other than 0.

    Attributes:
        command: the program and its arguments.
        status: its exit status; None if it could not be started.
        tail: its last lines of output.
    """

    def __init__(self, command: Sequence[str], status: int | None, tail: str) -> None:
        super().__init__(command, status, tail)
        self.command = tuple(command)
        self.status = status
        self.tail = tail

    def __str__(self) -> str:
        program = Path(self.command[0]).name
        outcome = "could not be started" if self.status is None else f"ended with status {self.status}"
        return f"{program} {outcome}:\n{self.tail}" if self.tail else f"{program} {outcome}."


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without what would redirect a child Python, plus `extra`."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    return kept | dict(extra or {})


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    seconds: float | None = None,
) -> str:
    """Run `command` without a terminal and return what it wrote, stdout and stderr together.

    Args:
        command: program and arguments; never passed to a shell.
        cwd: where to run it.
        env: added to the cleaned environment.
        on_line: called with each line as it comes, without its newline.
        seconds: after this time it is killed with all that it started.

    Raises:
        ProgramError: it could not be started, or its exit status is not 0.
    """
    arguments = [str(part) for part in command]
    output: list[str] = []
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    try:
        # close_fds=False: descriptors are private unless made inheritable, and those that are (the locks of
        # set-up and build) must outlive a killed parent for as long as its children still write.
        child = subprocess.Popen(
            arguments,
            cwd=cwd,
            env=clean_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            close_fds=False,
            # A group of its own: ending it must end its children too, who hold the pipe that is read here.
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(arguments, None, str(error)) from error
    timer = None if seconds is None else threading.Timer(seconds, _end, [child, signal.SIGKILL])
    with child:
        assert child.stdout is not None
        try:
            if timer is not None:
                timer.start()
            for raw in child.stdout:
                line = raw.rstrip("\n")
                output.append(line)
                if line.strip():
                    tail.append(line)
                if on_line is not None:
                    on_line(line)
        except BaseException:
            _end(child, signal.SIGTERM)
            raise
        finally:
            if timer is not None:
                timer.cancel()
    if child.returncode != 0:
        raise ProgramError(arguments, child.returncode, "\n".join(tail))
    return "\n".join(output)


def _end(child: subprocess.Popen[str], how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, how)
