"""Text that a person is shown before deciding something.

Owns that it cannot look like something else than it is: characters without a shape of their own (controls,
direction marks, invisible ones) are written out as their numbers, and what is cut says so. No I/O.
"""

import json
import re
from typing import Any

MAX_SHOWN_CHARS = 2_000
MAX_ARGUMENTS_CHARS = 10_000
_NOTE_CHARS = 40
"""As long as the note on what was cut may be."""

# General categories Cc (but tab and line feed), Cf, Cs, Zl, Zp, and the fillers that Unicode counts as
# letters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)


_PLAIN_KEY = re.compile(r"[\w.$@-][\w .$@-]*")


def shown_text(text: str, limit: int = MAX_SHOWN_CHARS) -> str:
    """A text with its hidden characters made visible, cut after `limit` characters."""
    text = text.replace("\r\n", "\n")
    kept = text if len(text) <= limit else text[: limit - _NOTE_CHARS]
    visible = _HIDDEN.sub(_number, kept)
    return visible if kept == text else f"{visible}… ({len(text) - len(kept)} more characters)"


def shown_arguments(args: Any) -> str:
    """A call's arguments, one a line: `name: JSON`."""
    if not isinstance(args, dict):
        return shown_text(_json(args), MAX_ARGUMENTS_CHARS)
    lines = (f"{_shown_key(key)}: {_json(value)}" for key, value in args.items())
    return shown_text("\n".join(lines), MAX_ARGUMENTS_CHARS)


def _shown_key(key: str) -> str:
    """A key that could pass for something else, another line of it, say, is shown as JSON."""
    return key if _PLAIN_KEY.fullmatch(key) else _json(key)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _number(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code < 0x10000 else f"\\u{{{code:x}}}"
