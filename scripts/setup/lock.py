"""One set-up at a time in a checkout."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def only_one(path: Path, out: TextIO) -> Iterator[None]:
    """Hold the lock file; when another process has it, say which, and wait until it has finished.

    The kernel drops the lock when its last holder dies, so there is no stale lock. Children hold it too: a
    set-up that was killed may have left a pip running, and nothing may start beside that.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        os.set_inheritable(file.fileno(), True)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            out.write(f"Another set-up (process {holder}) is at work in this checkout; waiting for it …\n")
            out.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
