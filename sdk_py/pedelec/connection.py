"""The page's connection to Core: handshake, requests and their answers, and getting it back when it is lost.

Owns request ids, their timeouts, and when to connect again. Knows no sessions: what belongs to one is handed
to the listener.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pedelec import batches
from pedelec.errors import Code, PedelecError
from pedelec.heartbeat import Heartbeat, Verdict
from pedelec.host import Host, Transport
from pedelec.json_text import JsonObject
from pedelec.protocol import (
    PROTOCOL_VERSION,
    ApprovalPending,
    CoreMessage,
    ErrorEvent,
    Hello,
    Limits,
    Message,
    Ping,
    Pong,
    ProtocolError,
    Response,
    Welcome,
    decode_from_core,
    encode,
)
from pedelec.version import __version__
from pedelec.wire_fields import to_camel

logger = logging.getLogger("pedelec")

RECONNECT_BASE_SECONDS = 0.25
RECONNECT_CAP_SECONDS = 10.0


class ConnectionListener(Protocol):
    """Hears of the connection. No call comes from within one of `Connection`'s own methods but `close`."""

    def connected(self) -> None:
        """Core has welcomed the page, for the first time or again."""

    def disconnected(self) -> None:
        """The connection is lost; it is sought again while `is_wanted`."""

    def is_wanted(self) -> bool:
        """Whether there is anything that needs a connection."""

    def event(self, message: CoreMessage) -> None:
        """A message that answers none of `Connection.request`'s requests."""


@dataclass(slots=True, eq=False)
class _Request:
    kind: str
    frame: str
    repeatable: bool
    accept: Callable[[JsonObject], Any]
    future: "asyncio.Future[Any]"
    sent: bool = False
    timer: asyncio.TimerHandle | None = None
    waits_for_person: bool = False


class Connection:
    """One page's connection, made when it is first needed.

    Args:
        instance_id: tells Core that a connection made again belongs to the same client.
        timeout_ms: how long a request waits for its answer.
    """

    def __init__(
        self, host: Host, core_url: str, listener: ConnectionListener, *, instance_id: str, timeout_ms: int
    ) -> None:
        self.limits = Limits()
        self.core_instance_id = ""
        self.number = 0  # of the present connection, from 1
        self._host = host
        self._core_url = core_url
        self._listener = listener
        self._instance_id = instance_id
        self._timeout = timeout_ms / 1000
        self._transport: Transport | None = None
        self._link: _Link | None = None
        self._ready = False
        self._core_reads_batches = False
        self._held: list[str] | None = None  # what is sent while a frame of several messages is looked at
        self._closed = False
        self._refusal: PedelecError | None = None
        self._failures = 0
        self._retry: asyncio.TimerHandle | None = None
        self._heartbeat = Heartbeat()
        self._next_beat: asyncio.TimerHandle | None = None
        self._requests: dict[str, _Request] = {}
        self._last_id = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def ready(self) -> bool:
        return self._ready

    def new_request_id(self) -> str:
        self._last_id += 1
        return f"r{self._last_id}"

    async def request[T](
        self,
        make: Callable[[str], Message],
        accept: Callable[[JsonObject], T],
        *,
        repeatable: bool,
    ) -> T:
        """Send a request and wait for its answer; connects first if need be.

        Args:
            make: the message for a request id.
            accept: makes the value of the result. Runs before the next frame is looked at.
            repeatable: Core may be asked twice, so that a lost connection does not fail the request.

        Raises:
            PedelecError: what Core answered; `SDK_BRIDGE_TIMEOUT` without an answer in time;
                without a connection what stands in the way: `CORE_RUNTIME_UNAVAILABLE`,
                `LOCAL_NETWORK_DENIED`, `CREATE_SESSION_NOT_APPROVED`; `SDK_TRANSPORT_ERROR` where it broke.
        """
        if self._closed:
            raise PedelecError(Code.SDK_TRANSPORT_ERROR, "The client is closed.", error_class="permanent")
        loop = asyncio.get_running_loop()
        request_id = self.new_request_id()
        message = make(request_id)
        request = _Request(message.type, encode(message), repeatable, accept, loop.create_future())
        self._requests[request_id] = request
        request.timer = loop.call_later(self._timeout, self._expire, request)
        try:
            if self._ready:
                self._write(request)
            else:
                self._connect()
            return await request.future  # type: ignore[no-any-return]
        finally:
            request.timer.cancel()
            self._requests.pop(request_id, None)

    def send(self, frame: str) -> None:
        """Send a frame if there is a connection."""
        if not self._ready or self._transport is None:
            return
        if self._held is None:
            self._transport.send(frame)
        else:
            self._held.append(frame)

    def close(self) -> None:
        """Close for good. Waiting requests fail."""
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
        self._stop_beating()
        transport, self._transport, self._link, self._ready = self._transport, None, None, False
        if transport is not None:
            transport.close()
        self._fail_requests(
            PedelecError(Code.SDK_TRANSPORT_ERROR, "The client was closed.", error_class="permanent")
        )

    # --- the connection -------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._link is None and not self._closed:
            self._refusal = None
            self._link = _Link(self)
            self._transport = self._host.connect(self._core_url, self._link)

    def _opened(self) -> None:
        assert self._transport is not None
        hello = Hello(
            protocol=PROTOCOL_VERSION,
            page_instance_id=self._instance_id,
            sdk_version=__version__,
            batches=True,
        )
        self._transport.send(encode(hello))

    def _lost(self, reason: str) -> None:
        was_ready, self._ready = self._ready, False
        self._stop_beating()
        self._transport = self._link = None
        self._fail_broken(reason)
        if was_ready:
            self._listener.disconnected()
        # Who was refused would be refused again: the next request tries.
        if self._refusal is None and (self._requests or self._listener.is_wanted()):
            self._failures += 1
            bound = min(RECONNECT_CAP_SECONDS, RECONNECT_BASE_SECONDS * 2 ** min(self._failures, 16))
            delay = random.uniform(0, bound)  # noqa: S311 - spreads load, hides nothing
            self._retry = asyncio.get_running_loop().call_later(delay, self._connect)

    def _beat(self, seconds: float) -> None:
        verdict = self._heartbeat.beat()
        if verdict is Verdict.GONE:
            # Without waiting for its close: from one who does not answer none comes for a long time.
            transport = self._transport
            self._lost("Core does not answer any more")
            if transport is not None:
                transport.close()
            return
        if verdict is Verdict.ASK:
            self.send(encode(Ping(id=self.number)))
        self._next_beat = asyncio.get_running_loop().call_later(seconds, self._beat, seconds)

    def _stop_beating(self) -> None:
        if self._next_beat is not None:
            self._next_beat.cancel()
            self._next_beat = None

    def _fail_broken(self, reason: str) -> None:
        """Fail the requests that a new connection cannot save."""
        if self._refusal is not None:
            self._fail_requests(self._refusal)
        elif self.number == 0:
            self._fail_unreachable(list(self._requests.values()), reason)
            self._requests.clear()
        for request in self._requests.values():
            if request.sent and not request.repeatable:
                problem = f"The connection broke before Core answered {request.kind}: {reason}"
                _fail(request, PedelecError(Code.SDK_TRANSPORT_ERROR, problem, effects="unknown"))
            request.sent = False

    def _fail_requests(self, error: PedelecError) -> None:
        for request in self._requests.values():
            _fail(request, error)
        self._requests.clear()

    def _expire(self, request: _Request) -> None:
        if request.sent:
            problem = f"Core did not answer {request.kind} within {round(self._timeout * 1000)} ms."
            _fail(request, PedelecError(Code.SDK_BRIDGE_TIMEOUT, problem))
        else:
            self._fail_unreachable([request], "no connection in time")

    def _fail_unreachable(self, requests: list[_Request], reason: str) -> None:
        """Fail requests with what keeps the page from Core, once that is found out."""
        for request in requests:
            if request.timer is not None:
                request.timer.cancel()
        task = asyncio.get_running_loop().create_task(self._find_obstacle(requests, reason))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _find_obstacle(self, requests: list[_Request], reason: str) -> None:
        obstacle = await self._host.explain_unreachable(self._core_url)
        for request in requests:
            _fail(request, obstacle or _unavailable(self._core_url, reason))

    def _wait_for_person(self, request: _Request, timeout_ms: int) -> None:
        """Core has asked a person: its answer may take as long as they are given."""
        assert request.timer is not None
        request.timer.cancel()
        seconds = timeout_ms / 1000 + self._timeout
        request.timer = asyncio.get_running_loop().call_later(seconds, self._expire, request)
        request.waits_for_person = True
        self._host.report("approval", 0, 1)

    # --- frames -----------------------------------------------------------------------------------------

    def _received(self, frame: str) -> None:
        self._heartbeat.heard()
        messages = batches.split(frame)
        if len(messages) == 1:
            self._take(frame)
        else:
            self._take_all(messages)

    def _take_all(self, messages: list[str]) -> None:
        """Take the messages of one frame. What is sent to that within this turn shares frames as well."""
        link = self._link
        held: list[str] = []
        self._held = held
        try:
            for text in messages:
                if self._link is link:  # else it was closed by what one of them led to
                    self._take_or_log(text)
        finally:
            self._held = None
        for frame in batches.join(held) if self._core_reads_batches else held:
            self.send(frame)

    def _take_or_log(self, text: str) -> None:
        try:
            self._take(text)
        except Exception:  # the others in its frame are others' business
            logger.exception("A message from Core could not be dealt with.")

    def _take(self, text: str) -> None:
        try:
            message = decode_from_core(text)
        except ProtocolError as error:
            logger.warning("A frame from Core was not understood. %s", error)
            if error.request_id is not None:
                self._answer(error.request_id, error)
            return
        match message:
            case Welcome():
                self._welcomed(message)
            case Ping():
                self.send(encode(Pong(id=message.id)))
            case Pong():
                pass
            case ApprovalPending():
                if (request := self._requests.get(message.request_id)) is not None:
                    self._wait_for_person(request, message.timeout_ms)
            case Response() if message.request_id in self._requests:
                self._answer(message.request_id, message)
            case ErrorEvent() if not self._ready:
                self._refusal = PedelecError.from_wire(message.error)
                self._listener.event(message)
            case _:
                self._listener.event(message)

    def _welcomed(self, message: Welcome) -> None:
        self.limits = _limits(message.limits)
        self.core_instance_id = message.core_instance_id
        self._core_reads_batches = bool(message.batches)
        self.number += 1
        self._failures = 0
        self._ready = True
        self._stop_beating()
        self._heartbeat = Heartbeat()
        seconds = message.heartbeat_ms / 1000
        if seconds > 0:
            self._next_beat = asyncio.get_running_loop().call_later(seconds, self._beat, seconds)
        for request in list(self._requests.values()):
            self._write(request)
        self._listener.connected()

    def _write(self, request: _Request) -> None:
        request.sent = True
        self.send(request.frame)

    def _answer(self, request_id: str, answer: Response | PedelecError) -> None:
        request = self._requests.pop(request_id, None)
        if request is None or request.future.done():
            return
        try:
            if isinstance(answer, PedelecError):
                raise answer
            if not answer.ok:
                raise PedelecError.from_wire(answer.error)
            if request.waits_for_person:
                self._host.report("approval", 1, 1)
            request.future.set_result(request.accept(answer.result or {}))
        except PedelecError as error:
            _fail(request, error)


class _Link:
    """Listens to one transport; what an older one still says is not heard."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def opened(self) -> None:
        if self._connection._link is self:
            self._connection._opened()

    def received(self, text: str) -> None:
        if self._connection._link is self:
            self._connection._received(text)

    def closed(self, reason: str) -> None:
        if self._connection._link is self:
            self._connection._lost(reason)


def _fail(request: _Request, error: PedelecError) -> None:
    if not request.future.done():
        request.future.set_exception(error)


def _limits(announced: JsonObject) -> Limits:
    known = {name: announced.get(to_camel(name)) for name in Limits.__dataclass_fields__}
    return Limits(**{name: value for name, value in known.items() if type(value) is int and value > 0})


def _unavailable(core_url: str, reason: str) -> PedelecError:
    return PedelecError(
        Code.CORE_RUNTIME_UNAVAILABLE,
        f"Core at {core_url} cannot be reached ({reason}).",
        recovery_steps=["Start it with `pedelec-core serve`, then try again."],
    )
