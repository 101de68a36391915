"""A page without a browser: one WebSocket that speaks the wire protocol, step by step."""

import contextlib
import itertools
import secrets
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pedelec import batches as batches_of_messages
from pedelec.json_text import JsonObject, JsonValue
from pedelec.protocol import (
    PROTOCOL_VERSION,
    CoreMessage,
    CreateSession,
    EndSession,
    Hello,
    Message,
    Response,
    ResultsConfirmed,
    ResumeSession,
    SubmitToolResult,
    ToolCall,
    ToolResumed,
    ToolWaiting,
    Welcome,
    decode_from_core,
    encode,
)
from tests.harness import error_rules

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

WAIT_SECONDS = 20.0


def tool(name: str, args_schema: JsonObject | None = None, **more: JsonValue) -> JsonObject:
    """A tool's manifest, taking any object unless a schema is given."""
    schema: JsonObject = {"type": "object"} if args_schema is None else args_schema
    return {"name": name, "description": f"The tool {name}.", "argsSchema": schema, **more}


class PageClient:
    """A connected page that has said hello.

    Args:
        core_url: Core's `http://` address.
        origin: where the page claims to come from (default: Core itself).
        page_instance_id: given to stand for a page that reconnects.
        batches: whether it reads several messages in a frame.
    """

    def __init__(
        self,
        core_url: str,
        *,
        origin: str | None = None,
        page_instance_id: str = "",
        batches: bool = False,
    ) -> None:
        self._url = core_url.replace("http", "ws", 1) + "/page"
        self._origin = origin or core_url
        self.page_instance_id = page_instance_id or secrets.token_hex(8)
        self._batches = batches
        self._ids = itertools.count(1)
        self._unread: list[CoreMessage] = []
        self._closing = contextlib.ExitStack()
        self.socket: ClientConnection
        self.welcome: Welcome
        self.session_id = ""

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def connect(self) -> None:
        """Open the socket and exchange `hello` and `welcome`; called again, it reconnects."""
        from websockets.sync.client import connect

        self._closing.close()
        self.socket = self._closing.enter_context(
            connect(
                self._url,
                additional_headers={"Origin": self._origin},
                compression=None,
                max_size=None,
                proxy=None,
            )
        )
        self.send(
            Hello(
                protocol=PROTOCOL_VERSION,
                page_instance_id=self.page_instance_id,
                sdk_version="0.1.0",
                batches=self._batches or None,
            )
        )
        self.welcome = self.receive(Welcome)

    def send(self, message: Message) -> None:
        """Send one message."""
        self.socket.send(encode(message))

    def receive[M: CoreMessage](
        self, kind: type[M] | tuple[type[M], ...], timeout: float = WAIT_SECONDS
    ) -> M:
        """The next message of a type, or of several; others that come meanwhile are kept for later.

        Raises:
            TimeoutError: none came.
            websockets.exceptions.ConnectionClosed: none can come.
        """
        while True:
            for index, message in enumerate(self._unread):
                if isinstance(message, kind):
                    del self._unread[index]
                    return message
            frame = self.socket.recv(timeout)
            assert isinstance(frame, str)
            for text in batches_of_messages.split(frame):
                message = decode_from_core(text)
                error_rules.record_envelope(getattr(message, "error", None))
                self._unread.append(message)

    def next_id(self) -> str:
        """A request id that was not used yet."""
        return f"r{next(self._ids)}"

    def request(self, message: Message) -> Response:
        """Send a request and return its answer."""
        self.send(message)
        response = self.receive(Response)
        assert response.request_id == getattr(message, "request_id", None)
        return response

    def create_session(
        self,
        tools: Sequence[JsonObject] = (),
        *,
        guidance: str = "",
        auto_end_on_disconnect: bool = True,
        app_name: str | None = None,
    ) -> str:
        """Create a session, which becomes the page's current one; returns its id."""
        response = self.request(
            CreateSession(
                request_id=self.next_id(),
                guidance=guidance,
                tools=list(tools),
                auto_end_on_disconnect=auto_end_on_disconnect,
                app_name=app_name,
            )
        )
        assert response.ok, response.error
        assert response.result is not None
        self.session_id = str(response.result["sessionId"])
        return self.session_id

    def resume_session(self, session_id: str, last_seq: int = 0) -> Response:
        """Join a session that exists; on success it becomes the page's current one."""
        response = self.request(
            ResumeSession(request_id=self.next_id(), session_id=session_id, last_seq=last_seq)
        )
        if response.ok:
            self.session_id = session_id
        return response

    def end_session(self) -> Response:
        """End the current session."""
        return self.request(EndSession(request_id=self.next_id(), session_id=self.session_id))

    def ask(
        self,
        call: ToolCall,
        *,
        question_id: str = "q1",
        kind: str = "approval",
        message: str = "Sure?",
        arguments: str | None = None,
        schema: JsonObject | None = None,
        name: str | None = None,
        hidden: bool = False,
    ) -> None:
        """Let a call wait for a person."""
        self.send(
            ToolWaiting(
                session_id=call.session_id,
                tool_request_id=call.tool_request_id,
                question_id=question_id,
                kind=kind,
                message=message,
                arguments=arguments,
                schema=schema or {"type": "object"},
                name=name,
                hidden=hidden,
            )
        )

    def stop_asking(self, call: ToolCall, *, question_id: str = "q1") -> None:
        """The question is over."""
        self.send(
            ToolResumed(
                session_id=call.session_id, tool_request_id=call.tool_request_id, question_id=question_id
            )
        )

    def send_result(self, call: ToolCall, result: JsonValue) -> str:
        """Give a call its result, and wait for nothing; the request's id."""
        request_id = self.next_id()
        self.send(
            SubmitToolResult(
                request_id=request_id,
                session_id=call.session_id,
                tool_request_id=call.tool_request_id,
                result=result,
            )
        )
        return request_id

    def submit(self, call: ToolCall, result: JsonValue) -> Response:
        """Give a call its result; a confirmation is given back as the response that it stands for."""
        request_id = self.send_result(call, result)
        match self.receive((Response, ResultsConfirmed)):
            case ResultsConfirmed(request_ids=confirmed):
                assert confirmed == [request_id]
                return Response(request_id=request_id, ok=True)
            case Response() as refused:
                assert refused.request_id == request_id
                return refused
            case other:
                raise AssertionError(other)
