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
    prefix = f".pedelec-{purpose}-"
    for leftover in parent.glob(f"{prefix}*"):
        if _is_ours(leftover.name.removeprefix(prefix)):
            shutil.rmtree(leftover, ignore_errors=True)
    folder = parent / f"{prefix}{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_ours(pid: str) -> bool:
    """Tell whether the process that a folder is named after is this one, or has ended."""
    if not pid.isdecimal():
        return False
    if int(pid) == os.getpid():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives, under another user
    return False
