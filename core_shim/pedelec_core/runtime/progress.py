"""How a long step tells how far it is, without knowing who shows it."""

from typing import Protocol


class Progress(Protocol):
    """Called whenever a step has moved on; cheap, may be called often, must not raise."""

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Show that `what` has come to `done` of `total` (bytes, or items); a `total` of 0 is not known."""


def silent(what: str, done: int = 0, total: int = 0) -> None:
    """Show nothing."""
