"""A folder to build something in before it is renamed into place. Standard library only."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def staging(parent: Path, purpose: str) -> Iterator[Path]:
    """Give an empty folder in `parent`, on the same file system, and delete what is left of it at the end.

    Deletes first what a killed process left behind under the same purpose.

    Args:
        parent: created if it is missing.
        purpose: a word for the folder's name.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for leftover in parent.glob(f".{purpose}-*"):
        if not _is_someone_elses(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
    folder = parent / f".{purpose}-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_someone_elses(folder: Path) -> bool:
    pid = int(folder.name.rpartition("-")[2])
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, under another user
    return True
