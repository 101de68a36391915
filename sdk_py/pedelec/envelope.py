"""The error envelope on the wire: the order of its keys, and how large it may be.

Owns that hosts may cut what they show an agent and the agent can still act: the keys stand in the order in
which they are needed, the first `HEAD_CHARS` characters hold code, class, message, delay and first step, the
whole stays under `MAX_ERROR_BYTES`, and lists that were cut say how much is missing (`details.leftOut`).
"""

import json
from typing import Any

KEYS = (
    "code",
    "class",
    "message",
    "retryAfterSeconds",
    "recoverySteps",
    "retryable",
    "effects",
    "errorType",
    "reason",
    "options",
    "suggestions",
    "details",
)
MAX_ERROR_BYTES = 8 * 1024
HEAD_CHARS = 500
MAX_STEPS = 6
MAX_CHOICES = 10

_WRAPPING_CHARS = 40
"""What stands before the envelope in an answer: `{"ok":true,"result":{"error":` and the like."""
_MIN_MESSAGE_CHARS = 120
_MAX_STEP_CHARS = 400
_LIST_CAPS = {"recoverySteps": MAX_STEPS, "options": MAX_CHOICES, "suggestions": MAX_CHOICES}
_SHRINKINGS = ((50, 1_000), (20, 400), (10, 200), (5, 100), (2, 60))
"""Ever smaller bounds for what is too large: members of a list or object, characters of a text."""

type Envelope = dict[str, Any]
type LeftOut = dict[str, int]


def bounded(envelope: Envelope) -> Envelope:
    """An envelope in order and within its bounds. What has no JSON is left for `json_safe` to refuse."""
    ordered = {key: envelope[key] for key in KEYS if not _says_nothing(envelope.get(key))}
    try:
        _text(ordered)
    except (TypeError, ValueError, RecursionError):
        return ordered
    left_out: LeftOut = {}
    for key, cap in _LIST_CAPS.items():
        if key in ordered:
            ordered[key] = _first(ordered[key], cap, key, left_out)
    if "recoverySteps" in ordered:
        ordered["recoverySteps"] = [_cut(str(step), _MAX_STEP_CHARS) for step in ordered["recoverySteps"]]
    readable = _with_room_for_the_step(ordered)
    whole = _told_of(readable, left_out)
    return whole if _size(whole) <= MAX_ERROR_BYTES else _shrunk(readable, left_out)


def _with_room_for_the_step(envelope: Envelope) -> Envelope:
    """Shorten the message where it would push the first step out of sight; `details` keeps all of it."""
    steps = envelope.get("recoverySteps")
    if not steps:
        return envelope
    head = {key: envelope[key] for key in KEYS[:4] if key in envelope} | {"recoverySteps": steps[:1]}
    excess = len(_text(head)) + _WRAPPING_CHARS - HEAD_CHARS
    message = envelope["message"]
    room = max(_MIN_MESSAGE_CHARS, len(message) - excess)
    if excess <= 0 or len(message) <= room:
        return envelope
    details = {**_as_object(envelope.get("details")), "fullMessage": message}
    return {**envelope, "message": _cut(message, room), "details": details}


def _shrunk(envelope: Envelope, capped: LeftOut) -> Envelope:
    smaller = envelope
    for members, chars in _SHRINKINGS:
        left_out = dict(capped)
        smaller = {
            key: _smaller(value, members, chars, key, left_out) if key not in KEYS[:4] else value
            for key, value in envelope.items()
        }
        smaller["message"] = _cut(envelope["message"], max(chars, _MIN_MESSAGE_CHARS))
        smaller = _told_of(smaller, left_out)
        if _size(smaller) <= MAX_ERROR_BYTES:
            return smaller
    return {key: smaller[key] for key in KEYS if key in smaller and key not in ("options", "details")}


def _smaller(value: Any, members: int, chars: int, path: str, left_out: LeftOut) -> Any:
    if isinstance(value, str):
        return _cut(value, chars)
    if isinstance(value, (list, tuple)):
        kept = _first(value, members, path, left_out)
        return [_smaller(item, members, chars, f"{path}[]", left_out) for item in kept]
    if isinstance(value, dict):
        kept = _first(list(value.items()), members, path, left_out)
        return {
            key: _smaller(item, members, chars, f"{path}.{_cut(str(key), 40)}", left_out)
            for key, item in kept
            if len(str(key)) <= chars
        }
    return value


def _first(items: Any, cap: int, path: str, left_out: LeftOut) -> list[Any]:
    if len(items) > cap and len(left_out) < MAX_CHOICES:
        left_out[path] = left_out.get(path, 0) + len(items) - cap
    return list(items[:cap])


def _told_of(envelope: Envelope, left_out: LeftOut) -> Envelope:
    """Say in `details.leftOut` what is missing; paths there begin inside `details` where they lead there."""
    if not left_out:
        return envelope
    missing = {path.removeprefix("details."): count for path, count in left_out.items()}
    details = _as_object(envelope.get("details"))
    said = details.get("leftOut")
    known = said if isinstance(said, dict) else {}
    total = known | {path: count + known.get(path, 0) for path, count in missing.items()}
    return {**envelope, "details": {**details, "leftOut": total}}


def _as_object(details: Any) -> Envelope:
    return dict(details) if isinstance(details, dict) else {} if details is None else {"value": details}


def _says_nothing(value: object) -> bool:
    return value is None or value in ([], {})


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _size(value: object) -> int:
    return len(_text(value).encode("utf-8", "surrogatepass"))
