"""The rules that every error of the product keeps, and the record of the errors that a test has produced.

Errors are recorded where they become envelopes in this process, and where commands print them.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pedelec.catalogue import Effects, ErrorClass, ErrorType
from pedelec.envelope import KEYS, MAX_ERROR_BYTES, bounded

type Envelope = dict[str, Any]

_STACK = re.compile(r"Traceback \(most recent call last\)|\bFile .{1,200}, line \d|\bat .{1,200}:\d+:\d+\)")
# A command may name the state folder, which its caller knows, or has to know.
_PATH = re.compile(
    r"(?<!--state-dir )(?<!state folder )(?<![\w/:.])"
    r"/(?:home|root|tmp|usr|var|Users|private)/[\w.-]+|site-packages"
)
_SECRET = re.compile(r"hunter2|://[^\s/\"]+:[^\s/\"]+@|\bBearer [\w-]{8,}")

_recorded: list[Envelope] = []


def record(answer: object) -> None:
    """Remember the error in an answer of a command, where there is one."""
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        _recorded.append(answer["error"])


@contextmanager
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Envelope]]:
    """The errors that become envelopes from now on."""

    def recorded(envelope: Envelope) -> Envelope:
        told = bounded(envelope)
        _recorded.append(told)
        return told

    monkeypatch.setattr("pedelec.errors.bounded", recorded)
    monkeypatch.setattr("pedelec.advice.bounded", recorded)
    _recorded.clear()
    yield _recorded
    _recorded.clear()


def broken_rules(envelope: Envelope) -> list[str]:
    """What is wrong with an envelope; what has no JSON is none yet, and refused later."""
    try:
        text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return []
    retryable = envelope.get("class") == ErrorClass.RETRYABLE
    rules = {
        "has a code": bool(envelope.get("code")),
        "has a class": envelope.get("class") in set(ErrorClass),
        "has a message": bool(str(envelope.get("message", "")).strip()),
        "has a delay where it is retryable": not retryable or "retryAfterSeconds" in envelope,
        "has effects that there are": envelope.get("effects", "none") in set(Effects),
        "has a type that there is": envelope.get("errorType", "unknown") in set(ErrorType),
        "has its keys in order": list(envelope) == [key for key in KEYS if key in envelope],
        "is small": len(text.encode("utf-8", "surrogatepass")) <= MAX_ERROR_BYTES,
        "has no blank step": all(str(step).strip() for step in envelope.get("recoverySteps", [])),
        "has no stack": not _STACK.search(text),
        "has no path": not _PATH.search(text),
        "has no secret": not _SECRET.search(text),
    }
    return [rule for rule, holds in rules.items() if not holds]
