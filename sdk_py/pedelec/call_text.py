"""Tool calls written out for an agent to make: `move_shape(shapeId="s1", x=120, y=80)`.

Owns the form (keys that are identifiers as `key=JSON`, any others as one JSON object), what is known of a
call when it fails, and which tool shows what it did. No I/O, stdlib only.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from pedelec.doors import COMMAND_LINE, Door

MAX_CALL_CHARS = 220
"""A longer call would not fit into what hosts show of an error."""

_HIDDEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What is taken out of sentences on their way; written by its number it stays, and the call with it."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)


def render_call(tool: str, args: Mapping[str, Any]) -> str | None:
    """A call as text, or None where it is too long or has no JSON."""
    try:
        if all(_IDENTIFIER.fullmatch(key) for key in args):
            inside = ", ".join(f"{key}={_json(value)}" for key, value in args.items())
        else:
            inside = _json(dict(args))
        inside.encode()
    except (TypeError, ValueError, RecursionError):
        return None
    text = f"{tool}({inside})"
    return text if len(text) <= MAX_CALL_CHARS else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """A call, as far as it is known to whoever has to report its failure.

    Args:
        tool: the tool's name.
        args: its arguments; None where they could not be read.
        safe_to_repeat: the tool is read-only or idempotent.
        reader: a read-only tool that can be called without arguments and shows the page's state.
        door: the way by which the agent came that made it.
    """

    tool: str
    args: Mapping[str, Any] | None = None
    safe_to_repeat: bool = False
    reader: str | None = None
    door: Door = COMMAND_LINE

    def text(self, changes: Mapping[str, Any] | None = None) -> str:
        """The call, with some arguments changed; in words where it would be too long."""
        changed = dict(changes or {})
        name = self.door.name_of(self.tool)
        if self.args is not None:
            whole = render_call(name, {**self.args, **changed})
            if whole is not None:
                return whole
        words = f"{name} with the same arguments"
        parts = [_change(key, value) for key, value in changed.items()]
        return f"{words}, but {', '.join(parts)}" if parts else words

    def corrected(self, args: Mapping[str, Any]) -> str:
        """The call with other arguments; where it would be too long, those that were right are left out."""
        name = self.door.name_of(self.tool)
        whole = render_call(name, args)
        if whole is not None:
            return whole
        parts = [self._kept(key, value) or _change(key, value) for key, value in args.items()]
        return f"{name}({', '.join(parts)})"

    def _kept(self, key: str, value: object) -> str | None:
        """An argument that was sent with this value, maybe under another name; None for any other."""
        sent = self.args or {}
        if key in sent and sent[key] == value:
            return f"{key}=<as you sent it>"
        other = next((name for name, held in sent.items() if held == value), None)
        return None if other is None else f"{key}=<what you sent as {other}>"

    def check(self) -> str:
        """The call that shows the page's state, or words where no tool does."""
        return f"{self.door.name_of(self.reader)}()" if self.reader else "ask the user what the page shows."

    def argument_holding(self, value: object) -> str | None:
        """The one argument that has this value, by name."""
        names = [
            name
            for name, held in (self.args or {}).items()
            if held == value and isinstance(held, bool) == isinstance(value, bool)
        ]
        return names[0] if len(names) == 1 else None


current_call: ContextVar[CallFacts | None] = ContextVar("current_call", default=None)
"""The call that this task answers, for the parts of the kit that put calls into results."""


def best_reader(tool: str, manifests: Iterable[Mapping[str, Any]]) -> str | None:
    """Of the tools that a page declares, the one that shows best what `tool` has done.

    It is read-only, can be called without arguments, and shares most words with the tool's name; of equals
    the first.
    """
    words = _words(tool)
    readers = [
        str(manifest["name"])
        for manifest in manifests
        if manifest.get("readOnly")
        and not manifest["argsSchema"].get("required")
        and manifest["name"] != tool
    ]
    return max(readers, key=lambda name: len(words & _words(name)), default=None)


def _words(name: str) -> set[str]:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)
    return {part.lower().removesuffix("s") for part in parts}


def _change(key: str, value: object) -> str:
    try:
        text = f"{key}={_json(value)}"
    except (TypeError, ValueError, RecursionError):
        return f"{key}=<its value>"
    return text if len(text) <= MAX_CALL_CHARS else f"{key}=<its value>"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
