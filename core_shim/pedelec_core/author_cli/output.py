"""What the commands print: text for people, or one line of JSON."""

from dataclasses import dataclass

from pedelec.json_text import JsonObject, encode_value
from pedelec_core.cli import write_out


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command came to: the exit status, and the same thing twice.

    `text` is None where people get the line of JSON too.
    """

    status: int
    result: JsonObject
    text: str | None = None

    def print(self, *, as_json: bool) -> None:
        """Write it to stdout."""
        if as_json or self.text is None:
            write_out(encode_value({"ok": True, "result": self.result}).encode() + b"\n")
        else:
            write_out(self.text.encode() + b"\n")


def printable(text: str) -> str:
    """Text of a page's, which must not be able to steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
