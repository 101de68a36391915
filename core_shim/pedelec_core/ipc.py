"""The local socket: how the command line reaches Core. `docs/protocol.md` tells it in prose.

Owns the lines that go over the socket, their bounds, and who may connect. What a request leads to is the
agent desk's business. Each connection serves its requests one after the other.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Annotated, Final, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue, RawJson, encode_object
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS
from pedelec.wire_fields import to_camel
from pedelec_core import peer_user
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.call_events import CallEvent
from pedelec_core.command_errors import CommandError
from pedelec_core.limits import CoreLimits
from pedelec_core.page_text import MAX_ID_CHARS, safe_json

_DRAIN_SECONDS: Final = 1
_DRAIN_CHUNK: Final = 64 * 1024

_log = logging.getLogger(__name__)


class _Request(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class _ToolCall(_Request):
    type: Literal["tool_call"]
    tool: str
    args_text: str
    thread_id: str | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=MAX_TOOL_TIMEOUT_MS)] | None = None
    call_id: Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)] | None = None
    replay: bool = False


class _ToolList(_Request):
    type: Literal["tool_list"]
    thread_id: str | None = None


class _ToolSpec(_Request):
    type: Literal["tool_spec"]
    tool: str
    thread_id: str | None = None


class _Threads(_Request):
    type: Literal["threads"]


class _ToolResult(_Request):
    type: Literal["tool_result"]
    invocation_id: str


class _Lint(_Request):
    type: Literal["lint"]
    thread_id: str | None = None


class _FailingCase(_Request):
    type: Literal["failing_case"]
    invocation_id: str


class _Status(_Request):
    type: Literal["status"]


class _Mcp(_Request):
    """From here on, the connection speaks MCP: one JSON-RPC message a line. Has no answer itself."""

    type: Literal["mcp"]


class _Acknowledge(_Request):
    """The answer given last on this connection is in the agent's hands. Has no answer itself."""

    type: Literal["acknowledge"]


type _Lookup = _ToolList | _ToolSpec | _Threads | _Lint | _FailingCase | _Status
type _Question = _ToolCall | _ToolResult | _Lookup
# Spelt out: into a union with a name of its own pydantic follows no discriminator, but tries all in turn.
type _AnyRequest = (
    _ToolCall
    | _ToolResult
    | _ToolList
    | _ToolSpec
    | _Threads
    | _Lint
    | _FailingCase
    | _Status
    | _Mcp
    | _Acknowledge
)

_REQUEST: Final[TypeAdapter[_AnyRequest]] = TypeAdapter(Annotated[_AnyRequest, Field(discriminator="type")])


type _Line = Mapping[str, JsonValue | RawJson]
type ServeMcp = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class LocalServer:
    """Listens on a Unix socket that only its owner can open, for as long as the context lasts.

    Args:
        desk: serves the requests.
        path: where the socket is made, in a folder that is closed to others.
        mcp: takes over the connections of MCP clients.
        limits: on lines and connections.
        owner: the user whose processes are served, and nobody else's; else our own.
    """

    def __init__(
        self, desk: AgentDesk, path: Path, mcp: ServeMcp, limits: CoreLimits, owner: int | None = None
    ) -> None:
        self._desk = desk
        self._owner = os.geteuid() if owner is None else owner
        self._path = path
        self._mcp = mcp
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        try:
            limit = self._limits.wire.max_frame_bytes
            self._server = await asyncio.start_unix_server(self._connected, self._path, limit=limit)
            self._path.chmod(0o600)
        except OSError as error:
            raise CommandError(f"The local socket {self._path} cannot be made: {error.strerror}.") from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_full = len(self._connections) >= self._limits.connections.local_connections
        task = asyncio.create_task(self._serve(reader, writer, is_full=is_full))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_full: bool
    ) -> None:
        try:
            if peer_user.of_unix_socket(writer.get_extra_info("socket")) in {None, self._owner}:
                connection = _Connection(self._desk, reader, writer, self._mcp, self._limits)
                await (connection.refuse_another() if is_full else connection.serve())
            else:
                _log.warning("a process of another user was refused on the local socket")
        except OSError:
            pass  # the other side is gone: nobody is left to be told
        except Exception:  # noqa: BLE001 — whatever it was, it ends this connection and no other
            _log.exception("a connection of the local socket failed")
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


class _Connection:
    def __init__(
        self,
        desk: AgentDesk,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        mcp: ServeMcp,
        limits: CoreLimits,
    ) -> None:
        self._desk = desk
        self._reader = reader
        self._writer = writer
        self._mcp = mcp
        self._limits = limits
        self._unacknowledged: str | None = None
        self._about: str | None = None  # the invocation that the present request is about

    async def serve(self) -> None:
        while True:
            try:
                line = await self._line()
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                problem = f"A request may be {self._limits.wire.max_frame_bytes} bytes long."
                await self._refuse(PedelecError(Code.MESSAGE_TOO_LARGE, problem))
                return
            try:
                request = _REQUEST.validate_json(line)
            except ValidationError as error:
                await self._refuse(PedelecError(Code.SDK_PROTOCOL_ERROR, _problem_with(error)))
                return
            if isinstance(request, _Mcp):
                await self._mcp(self._reader, self._writer)
                return
            await self._handle(request)

    async def _handle(self, request: _Question | _Acknowledge) -> None:
        if isinstance(request, _Acknowledge):
            self._acknowledge()
            return
        self._about = None
        try:
            line = _encode(await self._answer(request))
        except PedelecError as error:
            line = _encode(_failure(error, self._about))
        except Exception:  # noqa: BLE001 — a request is answered, whatever happens
            _log.exception("a %s request failed", request.type)
            line = _encode(_failure(PedelecError(Code.INTERNAL_ERROR), self._about))
        self._writer.write(line)
        if self._writer.transport.get_write_buffer_size():
            await self._soon(self._writer.drain(), self._limits.connections.stall_seconds, "reads")

    async def _line(self) -> bytes:
        """The next line. It may be long in coming, but once it has begun, it has to end."""
        first = await self._reader.readexactly(1)
        if first == b"\n":
            return first
        return first + await self._soon(
            self._reader.readuntil(), self._limits.connections.body_seconds, "writes"
        )

    async def _soon[T](self, waiting: Awaitable[T], seconds: float, what: str) -> T:
        """Wait for the other side; it is cut off if it takes too long."""
        timer = asyncio.get_running_loop().call_later(seconds, self._cut, what)
        try:
            return await waiting
        finally:
            timer.cancel()

    def _cut(self, what: str) -> None:
        _log.warning("a local client %s too slowly: cut off", what)
        self._writer.transport.abort()

    async def refuse_another(self) -> None:
        """Answer and hang up: there are as many connections as may be."""
        most = self._limits.connections.local_connections
        await self._refuse(PedelecError(Code.TOO_MANY_REQUESTS, f"Core serves {most} local connections."))

    async def _answer(self, request: _Question) -> _Line:
        match request:
            case _ToolCall():
                return await self._tool_call(request)
            case _ToolResult(invocation_id=invocation_id):
                self._about = invocation_id
                return self._desk.tool_result(invocation_id).to_wire()
            case _:
                return {"ok": True, "result": self._told(request)}

    def _told(self, request: _Lookup) -> JsonObject:
        match request:
            case _ToolList(thread_id=thread_id):
                return self._desk.tool_list(thread_id)
            case _ToolSpec(thread_id=thread_id, tool=tool):
                return self._desk.tool_spec(thread_id, tool)
            case _Threads():
                return self._desk.threads()
            case _Lint(thread_id=thread_id):
                return self._desk.lint(thread_id)
            case _FailingCase(invocation_id=invocation_id):
                return self._desk.failing_case(invocation_id)
            case _Status():
                return self._desk.status()
            case _:
                assert_never(request)

    async def _tool_call(self, request: _ToolCall) -> _Line:
        call = ToolCallRequest(
            thread_id=request.thread_id,
            tool=request.tool,
            args_text=request.args_text,
            timeout_ms=request.timeout_ms,
            call_id=request.call_id,
            replay=request.replay,
        )
        running = self._desk.begin(call, self._tell)
        self._about = running.invocation_id
        try:
            answer = await running.answer()
        finally:
            running.leave()
        self._unacknowledged = answer.invocation_id
        return answer.to_wire()

    def _tell(self, event: CallEvent) -> None:
        is_read = self._writer.transport.get_write_buffer_size() == 0
        if is_read:  # else it is dropped
            self._writer.write(_encode(event.to_wire()))

    def _acknowledge(self) -> None:
        if self._unacknowledged is not None:
            self._desk.acknowledge(self._unacknowledged)
            self._unacknowledged = None

    async def _refuse(self, error: PedelecError) -> None:
        """Answer what is no request, then hang up: where the next one would begin, nobody knows.

        What still comes in is read for a moment; else the system may throw our answer away with it.
        """
        self._writer.write(_encode(_failure(error)))
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                while await self._reader.read(_DRAIN_CHUNK):
                    pass


def _encode(line: _Line) -> bytes:
    return safe_json(encode_object(line)).encode() + b"\n"


def _failure(error: PedelecError, invocation_id: str | None = None) -> JsonObject:
    failure: JsonObject = {"ok": False, "error": error.to_wire()}
    return failure if invocation_id is None else failure | {"invocationId": invocation_id}


def _problem_with(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"The line is no request: {place + ': ' if place else ''}{first['msg']}."
