"""What a person at a terminal sees on stderr while `pedelec-cli` waits for a call.

Owns that one line: when it is there, what it says, and that it is gone before the answer is printed. Loaded
by `cli` only where stderr is a terminal.
"""

import json
import os
import time

FIRST_AFTER_SECONDS = 1.0
DEFAULT_COLUMNS = 80


class Display:
    """The line about one call.

    Args:
        tool: its name.
        descriptor: the terminal.
    """

    def __init__(self, tool: str, descriptor: int = 2) -> None:
        self._tool = tool
        self._descriptor = descriptor
        self._begun = time.monotonic()
        self._progress = ""
        self._question = ""
        self._shown = 0

    def hear(self, event: bytes) -> None:
        """Take note of an event of Core's, a line of JSON."""
        told = json.loads(event)
        kind = told.get("type")
        if kind in {"waiting", "resumed"}:
            self._question = told.get("message", "")
        if kind != "progress":
            return
        share = f"{told['done']:g}" + (f"/{told['total']:g}" if "total" in told else "")
        self._progress = f" {share} {told.get('message', '')}".rstrip()

    def refresh(self) -> None:
        """Write the line anew, once the call takes long enough for anybody to wonder."""
        elapsed = time.monotonic() - self._begun
        if elapsed >= FIRST_AFTER_SECONDS:
            told = f" waiting for the user: {self._question}" if self._question else self._progress
            self._write(f"{self._tool}:{told} ({elapsed:.0f} s)")

    def erase(self) -> None:
        """Leave the terminal as it was."""
        if self._shown:
            self._write("")
            os.write(self._descriptor, b"\r")

    def _write(self, text: str) -> None:
        # The words are a page's: they must not be able to steer the terminal.
        text = "".join(character if character.isprintable() else " " for character in text)
        try:
            columns = os.get_terminal_size(self._descriptor).columns or DEFAULT_COLUMNS
        except OSError:
            columns = DEFAULT_COLUMNS
        text = text[: columns - 1]
        padded = text.ljust(self._shown)
        self._shown = len(text)
        os.write(self._descriptor, b"\r" + padded.encode())
