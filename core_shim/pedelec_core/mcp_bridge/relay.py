"""What a host and Core said to each other, as far as it is needed when Core goes away and comes back.

Owns which lines go where, and what is said again to another Core so that the host notices nothing: the
handshake, the requests that have no answer yet, the subscriptions. Lines go in, lines come out; does no I/O.

A call of a tool gets a name (`pedelec/callId`) on its way to Core. A Core that has heard of it before joins
or repeats that call, so saying it again runs nothing twice.
"""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from pedelec.protocol import Limits
from pedelec_core.mcp_gateway.extensions import CALL_ID_META, RECEIVED_METHOD

MAX_REQUEST_BYTES: Final = Limits().max_frame_bytes - 1024
"""Of a line that goes to Core, before its call has a name."""

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_SUBSCRIPTION_META: Final = "io.modelcontextprotocol/subscriptionId"
_LIST_CHANGED: Final = "notifications/tools/list_changed"

type _Message = dict[str, Any]


@dataclass(slots=True)
class Lines:
    """What is to be sent, in order: first to the host, then to Core."""

    to_host: list[bytes] = field(default_factory=list)
    to_core: list[bytes] = field(default_factory=list)


class Relay:
    """The conversation of one host, over however many Cores."""

    def __init__(self) -> None:
        self._open: dict[str, _Message] = {}  # requests without an answer, by id
        self._handshake: _Message | None = None
        self._initialized: _Message | None = None
        self._subscribed: set[str] = set()  # ids of open subscriptions that the host knows to be acknowledged
        self._nonce = secrets.token_urlsafe(12)
        self._calls = 0
        self._replays = 0
        self._sent: set[str] = set()  # names of open calls that some Core may have heard of

    def from_host(self, line: bytes) -> Lines:
        """A line of the host."""
        if len(line) > MAX_REQUEST_BYTES:
            return _refusal(_INVALID_REQUEST, f"A message may be {MAX_REQUEST_BYTES} bytes long")
        try:
            message = json.loads(line)
        except ValueError:
            return _refusal(_PARSE_ERROR, "Parse error")
        if not isinstance(message, dict):
            return _refusal(_INVALID_REQUEST, "Send one message a line")
        method, request_id = message.get("method"), message.get("id")
        if method == "notifications/initialized":
            self._initialized = message
        elif method == "notifications/cancelled":
            self._close(_key(_object(message, "params").get("requestId")))
        elif method is not None and request_id is not None:
            if method == "tools/call":
                self._name_call(message)
            self._open[_key(request_id)] = message
        return Lines(to_core=[_line(message)])

    def from_core(self, line: bytes) -> Lines:
        """A line of Core."""
        message = json.loads(line)
        method = message.get("method")
        if method is None:
            return self._answered(message, line)
        if method == "notifications/subscriptions/acknowledged":
            return self._acknowledged(message, line)
        return Lines(to_host=[line])

    def sent(self, *, to_core: bool) -> None:
        """The open requests are on their way: to Core, which may act on them, or to what stands in for it."""
        if to_core:
            self._sent = {name for message in self._open.values() if (name := _call_id(message))}

    def may_have_run(self, call_id: str) -> bool:
        """Whether a call has reached a Core, as far as we know."""
        return call_id in self._sent

    def replay(self) -> list[bytes]:
        """What to say to another Core, or to what stands in for it, before anything else."""
        lines: list[bytes] = []
        if self._handshake is not None:
            self._replays += 1
            lines.append(_line({**self._handshake, "id": f"pedelec-replay-{self._replays}"}))
            if self._initialized is not None:
                lines.append(_line(self._initialized))
        return lines + [_line(message) for message in self._open.values()]

    def news(self) -> list[bytes]:
        """What to tell a host that shook hands, after it was connected to another Core.

        Subscribers hear it when that Core acknowledges their subscription.
        """
        is_known = self._handshake is not None and self._initialized is not None
        return [_line({"jsonrpc": "2.0", "method": _LIST_CHANGED})] if is_known else []

    def _name_call(self, message: _Message) -> None:
        self._calls += 1
        params = _object(message, "params")
        meta = {CALL_ID_META: f"{self._nonce}-{self._calls}", **_object(params, "_meta")}
        message["params"] = {**params, "_meta": meta}

    def _answered(self, message: _Message, line: bytes) -> Lines:
        request = self._close(_key(message.get("id")))
        if request is None:
            return Lines()  # to a replayed handshake, or to what was cancelled
        if request["method"] == "initialize" and "result" in message:
            self._handshake = request
        lines = Lines(to_host=[line])
        if request["method"] == "tools/call":
            received = {"jsonrpc": "2.0", "method": RECEIVED_METHOD, "params": {"requestId": request["id"]}}
            lines.to_core.append(_line(received))
        return lines

    def _acknowledged(self, message: _Message, line: bytes) -> Lines:
        subscription = _object(_object(message, "params"), "_meta").get(_SUBSCRIPTION_META)
        key = _key(subscription)
        if key not in self._subscribed:
            self._subscribed.add(key)
            return Lines(to_host=[line])
        wanted = _object(_object(message, "params"), "notifications")
        if not wanted.get("toolsListChanged"):
            return Lines()
        meta = {_SUBSCRIPTION_META: subscription}
        return Lines(to_host=[_line({"jsonrpc": "2.0", "method": _LIST_CHANGED, "params": {"_meta": meta}})])

    def _close(self, key: str) -> _Message | None:
        self._subscribed.discard(key)
        request = self._open.pop(key, None)
        if request is not None:
            self._sent.discard(_call_id(request))
        return request


def _object(container: _Message, name: str) -> _Message:
    value = container.get(name)
    return value if isinstance(value, dict) else {}


def _call_id(message: _Message) -> str:
    name = _object(_object(message, "params"), "_meta").get(CALL_ID_META)
    return name if isinstance(name, str) else ""


def _key(request_id: object) -> str:
    return json.dumps(request_id)


def _line(message: _Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _refusal(code: int, text: str) -> Lines:
    error = {"code": code, "message": text}
    return Lines(to_host=[_line({"jsonrpc": "2.0", "id": None, "error": error})])
