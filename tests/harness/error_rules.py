"""The rules that every error of the product keeps, and the record of the errors that a test has produced.

Errors are recorded where they become envelopes in this process, and wherever tests meet those of others: in
what commands print, in what MCP clients are told, in the frames of pages, in what pages in browsers throw.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pedelec import advice, errors
from pedelec.catalogue import Code, Effects, ErrorClass, ErrorType
from pedelec.envelope import KEYS, MAX_ERROR_BYTES, bounded

type Envelope = dict[str, Any]

_STACK = re.compile(r"Traceback \(most recent call last\)|\bFile .{1,200}, line \d|\bat .{1,200}:\d+:\d+\)")
# A command may name the state folder, which its caller knows, or has to know.
_PATH = re.compile(
    r"(?<!--state-dir )(?<!state folder )(?<![\w/:.])"
    r"/(?:home|root|tmp|usr|var|Users|private)/[\w.-]+|site-packages"
)
_SECRET = re.compile(r"hunter2|://[^\s/\"]+:[^\s/\"]+@|\bBearer [\w-]{8,}")

_COMMAND = re.compile(r"pedelec-cli")

_recorded: list[Envelope] = []
_told_over_mcp: list[Envelope] = []


def record(answer: object) -> None:
    """Remember the error in an answer of a command: one of Core's, or one that the SDK made in a page."""
    if isinstance(answer, dict):
        record_envelope(answer.get("error"))
        record_result(answer.get("result"))


def record_result(result: object) -> None:
    """Remember the error in a page's result. One without a class was written by a test, not by the SDK."""
    error = result.get("error") if isinstance(result, dict) else None
    if isinstance(error, dict) and "class" in error:
        record_envelope(error)


def record_envelope(error: object) -> None:
    """Remember an error."""
    if isinstance(error, dict):
        _recorded.append(error)


def record_mcp(result: object = None, data: object = None) -> None:
    """Remember what an MCP client was told of a failure, in structured content or beside a protocol error.

    A client may have no shell, so what Core tells it must not name a command.
    """
    for holder in (result, data, {"error": data}):
        error = holder.get("error") if isinstance(holder, dict) else None
        if isinstance(error, dict) and error.get("code") in set(Code) and "class" in error:
            _recorded.append(error)
            _told_over_mcp.append(error)


def record_envelopes() -> None:
    """From now on, for as long as the process runs: remember the errors that become envelopes in it."""

    def recorded(envelope: Envelope) -> Envelope:
        told = bounded(envelope)
        _recorded.append(told)
        return told

    for module in (advice, errors):
        vars(module)["bounded"] = recorded


@contextmanager
def recording() -> Iterator[list[Envelope]]:
    """The errors that are remembered from now on; they are forgotten afterwards."""
    forget()
    yield _recorded
    forget()


def forget() -> None:
    """Begin anew: what was remembered belongs to another test."""
    _recorded.clear()
    _told_over_mcp.clear()


def check() -> None:
    """Fail where an error that is remembered breaks a rule.

    Raises:
        AssertionError: with the rules and an error that breaks them.
    """
    broken = {rule: envelope for envelope in _recorded for rule in broken_rules(envelope)}
    assert not broken, "an error breaks the rules"
    assert not commands_told_over_mcp(), "an error tells an MCP client to run a command"


def commands_told_over_mcp() -> list[Envelope]:
    """The recorded errors that tell an MCP client to run a command."""
    return [error for error in _told_over_mcp if _COMMAND.search(json.dumps(error))]


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
