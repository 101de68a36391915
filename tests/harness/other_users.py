"""Being another user for a moment, which only root can."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

IS_ROOT: Final = os.geteuid() == 0

_NOBODY: Final = 65_534


@contextmanager
def being_somebody_else() -> Iterator[None]:
    """What this process opens meanwhile belongs to another user."""
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
