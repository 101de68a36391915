"""What a host and Core said to each other, as far as it is needed when Core goes away and comes back.

Owns which lines go where, and what is said again to another Core so that the host notices nothing: the
handshake, the requests that have no answer yet, the subscriptions. Lines go in, lines come out; does no I/O.

A call of a tool gets a name (`pedelec/callId`) on its way to Core. A Core that has heard of it before joins
or repeats that call, so saying it again runs nothing twice.
"""

import json
import secrets
from dataclasses import dataclass, field
from typing import Final

from pedelec_core.mcp_gateway.extensions import CALL_ID_META, RECEIVED_METHOD

from .messages import Message, RefusedError, failure, line_for_core, read_message, to_line

MAX_LINKS: Final = 5
"""A request that so many links ended over is not said again."""

_INTERNAL_ERROR: Final = -32603
_SUBSCRIPTION_META: Final = "io.modelcontextprotocol/subscriptionId"
_LIST_CHANGED: Final = "notifications/tools/list_changed"
_CANCELLED: Final = "notifications/cancelled"
_CALL: Final = "tools/call"
_LISTEN: Final = "subscriptions/listen"


@dataclass(slots=True)
class Lines:
    """What is to be sent, in order: first to the host, then to Core."""

    to_host: list[bytes] = field(default_factory=list)
    to_core: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class _Request:
    """A request of the host without an answer."""

    message: Message
    links: int = 0
    """How many links it was said again on, since a Core last had a word for it."""

    @property
    def method(self) -> str:
        method: str = self.message["method"]
        return method

    @property
    def call_id(self) -> str:
        name = _object(_object(self.message, "params"), "_meta").get(CALL_ID_META)
        return name if isinstance(name, str) else ""


class Relay:
    """The conversation of one host, over however many Cores."""

    def __init__(self) -> None:
        self._open: dict[str, _Request] = {}  # requests without an answer, by id
        self._handshake: Message | None = None
        self._initialized: Message | None = None
        self._subscribed: set[str] = set()  # ids of open subscriptions that the host knows to be acknowledged
        self._nonce = secrets.token_urlsafe(12)
        self._calls = 0
        self._replays = 0
        self._sent: set[str] = set()  # names of open calls that some Core may have heard of
        self._asked: dict[str, object] = {}  # this Core's ids of its open requests, by the ids the host knows

    def from_host(self, line: bytes) -> Lines:
        """A line of the host."""
        try:
            message = read_message(line)
            if "method" not in message:
                return self._host_answered(message)
            if message["method"] == _CALL and "id" in message:
                self._name_call(message)
            told = line_for_core(message)
        except RefusedError as refused:
            return Lines(to_host=[refused.answer])
        self._note(message)
        return Lines(to_core=[told])

    def from_core(self, line: bytes) -> Lines:
        """A line of Core."""
        message = json.loads(line)
        method = message.get("method")
        if method is None:
            return self._core_answered(message, line)
        if "id" in message:
            return self._core_asks(message)
        if method == _CANCELLED:
            return self._core_withdraws(message)
        if method == "notifications/subscriptions/acknowledged":
            return self._acknowledged(message, line)
        return Lines(to_host=[line])

    def sent(self, *, to_core: bool) -> None:
        """The open requests are on their way: to Core, which may act on them, or to what stands in for it."""
        if to_core:
            self._sent = {request.call_id for request in self._open.values()} - {""}

    def may_have_run(self, call_id: str) -> bool:
        """Whether a call has reached a Core, as far as we know."""
        return call_id in self._sent

    def owes(self, *, calls: bool) -> bool:
        """Whether the host waits for answers. Subscriptions have none; those of calls may be long in coming.

        Args:
            calls: whether to count calls.
        """
        passed_over = {_LISTEN} if calls else {_LISTEN, _CALL}
        return any(request.method not in passed_over for request in self._open.values())

    def replay(self) -> Lines:
        """Begin anew, with another Core or what stands in for it.

        What goes to Core has to go before anything else. A host that shook hands is told that the tools may
        have changed; subscribers hear it when that Core acknowledges their subscription.
        """
        lines = Lines(to_host=self._withdrawals() + self._given_up())
        if self._handshake is not None:
            self._replays += 1
            again = to_line({**self._handshake, "id": f"pedelec-replay-{self._replays}"})
            lines.to_core += [again, *self._greeting()]
            if self._initialized is not None:
                lines.to_host.append(to_line({"jsonrpc": "2.0", "method": _LIST_CHANGED}))
        for request in self._open.values():
            lines.to_core.append(to_line(request.message))
            if request.method == "initialize":
                lines.to_core += self._greeting()
        return lines

    def _greeting(self) -> list[bytes]:
        """What follows `initialize`, if the host has said it already."""
        return [] if self._initialized is None else [to_line(self._initialized)]

    def _given_up(self) -> list[bytes]:
        """Answers to requests that may be what ends the links."""
        given_up: list[bytes] = []
        for request in list(self._open.values()):
            request.links += 1
            if request.links > MAX_LINKS:
                request_id = request.message["id"]
                self._close(_key(request_id))
                problem = "Core went away each time that it was asked this"
                given_up.append(failure(request_id, _INTERNAL_ERROR, problem))
        return given_up

    # --- the host's words -----------------------------------------------------------------------------------

    def _note(self, message: Message) -> None:
        method = message["method"]
        if "id" in message:
            self._open[_key(message["id"])] = _Request(message)
        elif method == "notifications/initialized":
            self._initialized = message
        elif method == _CANCELLED:
            self._close(_key(_object(message, "params").get("requestId")))

    def _name_call(self, message: Message) -> None:
        self._calls += 1
        params = _object(message, "params")
        meta = {CALL_ID_META: f"{self._nonce}-{self._calls}", **_object(params, "_meta")}
        message["params"] = {**params, "_meta": meta}

    def _host_answered(self, message: Message) -> Lines:
        """An answer to a request of Core's; one to a request of an earlier Core's goes nowhere."""
        key = _key(message.get("id"))
        if key not in self._asked:
            return Lines()
        return Lines(to_core=[to_line({**message, "id": self._asked.pop(key)})])

    # --- Core's words ---------------------------------------------------------------------------------------

    def _core_answered(self, message: Message, line: bytes) -> Lines:
        request = self._close(_key(message.get("id")))
        if request is None:
            return Lines()  # to a replayed handshake, or to what was cancelled
        if request.method == "initialize" and "result" in message:
            self._handshake = request.message
        lines = Lines(to_host=[line])
        if request.method == _CALL:
            params = {"requestId": request.message["id"]}
            lines.to_core.append(to_line({"jsonrpc": "2.0", "method": RECEIVED_METHOD, "params": params}))
        return lines

    def _core_asks(self, message: Message) -> Lines:
        """A request to the host. Every Core counts its own from one; no two are alike to the host."""
        known_as = f"pedelec-{self._replays}-{message['id']}"
        self._asked[_key(known_as)] = message["id"]
        return Lines(to_host=[to_line({**message, "id": known_as})])

    def _core_withdraws(self, message: Message) -> Lines:
        params = _object(message, "params")
        for key, asked in list(self._asked.items()):
            if asked == params.get("requestId"):
                del self._asked[key]
                told = {**message, "params": {**params, "requestId": json.loads(key)}}
                return Lines(to_host=[to_line(told)])
        return Lines()

    def _withdrawals(self) -> list[bytes]:
        """Of what a Core asked that is gone: it has no use for an answer."""
        params = [{"requestId": json.loads(key), "reason": "Core went away"} for key in self._asked]
        self._asked.clear()
        return [to_line({"jsonrpc": "2.0", "method": _CANCELLED, "params": each}) for each in params]

    def _acknowledged(self, message: Message, line: bytes) -> Lines:
        subscription = _object(_object(message, "params"), "_meta").get(_SUBSCRIPTION_META)
        key = _key(subscription)
        if key in self._open:
            self._open[key].links = 0
        if key not in self._subscribed:
            self._subscribed.add(key)
            return Lines(to_host=[line])
        wanted = _object(_object(message, "params"), "notifications")
        if not wanted.get("toolsListChanged"):
            return Lines()
        meta = {_SUBSCRIPTION_META: subscription}
        told = {"jsonrpc": "2.0", "method": _LIST_CHANGED, "params": {"_meta": meta}}
        return Lines(to_host=[to_line(told)])

    def _close(self, key: str) -> _Request | None:
        self._subscribed.discard(key)
        request = self._open.pop(key, None)
        if request is not None:
            self._sent.discard(request.call_id)
        return request


def _object(container: Message, name: str) -> Message:
    value = container.get(name)
    return value if isinstance(value, dict) else {}


def _key(request_id: object) -> str:
    return json.dumps(request_id)
