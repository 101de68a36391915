"""Messages of JSON-RPC as lines: what a host's line says, or why it is refused, and how a message is written.

Owns what passes for a message and how long one may be. Lines go in, messages come out; does no I/O.
"""

import json
from typing import Any, Final

from pedelec.protocol import Limits

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Of a line that is looked at, whoever wrote it."""

MAX_REQUEST_BYTES: Final = Limits().max_frame_bytes - 1
"""Of a line that goes to Core."""

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600

type Message = dict[str, Any]


class RefusedError(Exception):
    """A line is no message that could go to Core.

    Attributes:
        answer: what the host is told, under the id of its request where that can be read.
    """

    def __init__(self, code: int, text: str, request_id: object = None) -> None:
        super().__init__(text)
        self.answer = failure(request_id, code, text)


def read_message(line: bytes) -> Message:
    """The message of a host's line. One with a method and an id is a request.

    Raises:
        RefusedError: there is none.
    """
    if len(line) > MAX_LINE_BYTES:
        raise RefusedError(_INVALID_REQUEST, f"A message may be {MAX_REQUEST_BYTES} bytes long")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise RefusedError(_PARSE_ERROR, "Parse error") from None
    if not isinstance(message, dict):
        raise RefusedError(_INVALID_REQUEST, "Send one message a line")
    if "method" in message:
        _check_method(message)
    return message


def line_for_core(message: Message) -> bytes:
    """A host's message as it goes to Core.

    Raises:
        RefusedError: it cannot.
    """
    try:
        line = to_line(message)
    except RecursionError:
        raise RefusedError(_PARSE_ERROR, "Parse error", message.get("id")) from None
    if len(line) > MAX_REQUEST_BYTES:
        problem = f"A message may be {MAX_REQUEST_BYTES} bytes long"
        raise RefusedError(_INVALID_REQUEST, problem, message.get("id"))
    return line


def _check_method(message: Message) -> None:
    request_id = message.get("id", "")
    if not isinstance(request_id, str | int) or isinstance(request_id, bool):
        raise RefusedError(_INVALID_REQUEST, "An id is a string or a whole number")
    if message.get("jsonrpc") != "2.0" or not isinstance(message["method"], str):
        raise RefusedError(_INVALID_REQUEST, "This is no message of JSON-RPC 2.0", message.get("id"))


def to_line(message: object) -> bytes:
    """A message as a line. A lone surrogate goes along: under the request's id, Core says what is wrong."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def failure(request_id: object, code: int, text: str) -> bytes:
    """The line of an error."""
    return to_line({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}})
