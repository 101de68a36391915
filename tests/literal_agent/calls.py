"""Reads calls out of recovery steps, in the one form in which errors write them.

Knows `tool(key=JSON, …)`, `tool({…})`, and commands: `pedelec-cli tool-result ID`, `tool-list` and the like.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_CALL = re.compile(r"(?<![\w.-])([A-Za-z][A-Za-z0-9_.-]*)\(")
_KEY = re.compile(r"\s*([A-Za-z_$][\w$]*)=")
_COMMAND = re.compile(r"pedelec-cli (tool-result|tool-list|tool-spec|threads)(?: ([\w.-]+))?")
_JSON = json.JSONDecoder()


@dataclass(frozen=True)
class Call:
    """One call to make."""

    tool: str
    args: dict[str, Any] = field(default_factory=dict)
    thread: str | None = None


@dataclass(frozen=True)
class Command:
    """One command to run: `tool-result` and the like."""

    name: str
    argument: str | None


def parse_call(text: str) -> Call:
    """The call that a text consists of or holds; ValueError where it holds none."""
    calls = [found for found in actions_in(text) if isinstance(found, Call)]
    if not calls:
        raise ValueError(f"no call in {text!r}")
    return calls[0]


def thread_in(text: str) -> str | None:
    """The session that a step says to name."""
    match = re.search(r"--thread-id ([\w-]+)", text)
    return None if match is None else match[1]


def actions_in(text: str) -> list[Call | Command]:
    """All calls and commands in a text, in order."""
    found: list[tuple[int, Call | Command]] = [
        (match.start(), Command(match[1], match[2])) for match in _COMMAND.finditer(text)
    ]
    end = 0
    for match in _CALL.finditer(text):
        if match.start() < end:
            continue
        parsed = _arguments(text, match.end())
        if parsed is not None:
            args, end = parsed
            found.append((match.start(), Call(match[1], args)))
    return [action for _, action in sorted(found, key=lambda pair: pair[0])]


def _arguments(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    if text.startswith(")", at):
        return {}, at + 1
    try:
        if text.startswith("{", at):
            args, at = _JSON.raw_decode(text, at)
            return (args, at + 1) if text.startswith(")", at) else None
        args = {}
        while key := _KEY.match(text, at):
            args[key[1]], at = _JSON.raw_decode(text, key.end())
            if text.startswith(")", at):
                return args, at + 1
            at += text.startswith(",", at)
    except ValueError:
        return None
    return None
