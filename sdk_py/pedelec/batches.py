"""Several messages in one text frame, for those who have said that they read them so (`Hello.batches`).

Owns how messages share a frame, and how many. Knows nothing of what is in them. A frame costs the browser, on
its way in and on its way out, more than most messages cost Python.
"""

from collections.abc import Iterable, Iterator
from typing import Final

MOST_MESSAGES: Final = 8
"""In one frame. Few: the other side is to work on some while more are being made."""
MOST_CHARS: Final = 16_384
"""Of messages that share a frame; a longer one goes alone."""

_SEPARATOR: Final = "\n"
"""As in JSON Lines. Compact JSON has none: RFC 8259, section 7, wants it escaped in strings."""


def join(messages: Iterable[str]) -> Iterator[str]:
    """The frames of some messages, in their order, as few as may be."""
    batch: list[str] = []
    chars = 0
    for message in messages:
        if batch and (len(batch) == MOST_MESSAGES or chars + len(message) > MOST_CHARS):
            yield _SEPARATOR.join(batch)
            batch, chars = [], 0
        batch.append(message)
        chars += len(message)
    if batch:
        yield _SEPARATOR.join(batch)


def split(frame: str) -> list[str]:
    """The messages of a frame; a frame of more than there may be is left whole, and so is no message."""
    messages = frame.split(_SEPARATOR, MOST_MESSAGES)
    return messages if len(messages) <= MOST_MESSAGES else [frame]
