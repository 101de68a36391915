"""The messages that a page and Core exchange: their types, their JSON, and nothing that moves them.

Owns every message's name, fields and exact JSON, the protocol's version and its default limits. Does no
I/O and reads no clock; knows neither sessions nor invocations. `docs/protocol.md` is this module in prose.

Each message is a JSON object; `type` tells which. It has a WebSocket text frame for itself, or shares one
with others (`batches`). Fields are `snake_case` here and `camelCase` on the wire, by `wire_fields.to_camel`
alone. A field whose value is `None` and which has a default is left out; fields unknown to the receiver are
ignored, so that either side may be newer than the other.
"""

import json
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from json.encoder import encode_basestring
from typing import ClassVar

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue, RawJson, encode_value, reader
from pedelec.wire_fields import wire_fields

PROTOCOL_VERSION = 1
"""Raised when a frame's meaning changes; Core refuses a page that speaks another version."""

DEFAULT_TOOL_TIMEOUT_MS = 60_000
MAX_TOOL_TIMEOUT_MS = 24 * 60 * 60 * 1000
REQUEST_TIMEOUT_MS = 30_000
"""How long a page waits for the answer to one of its requests."""

TOOL_NAME_PATTERN = r"^[a-zA-Z][a-zA-Z0-9_.-]{0,127}$"
MAX_TOOL_TITLE_CHARS = 200
TOOL_HINTS = ("read_only", "idempotent", "exclusive", "untrusted_content", "consequential")
"""What a tool may say of itself, true or left out. Wire names follow from these by `to_camel`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What Core accepts, announced in `welcome` so that a page can refuse early. Sizes in UTF-8 bytes."""

    max_frame_bytes: int = 4 * 1024 * 1024
    max_args_bytes: int = 1024 * 1024
    max_result_bytes: int = 1024 * 1024
    max_depth: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Base of all messages; `type` is the discriminator."""

    type: ClassVar[str]


# --- page → Core ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello(Message):
    """First frame of a page. `page_instance_id` lives as long as the loaded page, across reconnects.

    `batches`: the page reads frames that hold several messages (`pedelec.batches`).
    """

    type: ClassVar[str] = "hello"
    protocol: int
    page_instance_id: str
    sdk_version: str
    batches: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession(Message):
    """Ask for a session. `tools` are manifests: `ToolDefinition.to_wire` makes them."""

    type: ClassVar[str] = "create_session"
    request_id: str
    guidance: str
    tools: list[JsonObject]
    auto_end_on_disconnect: bool
    app_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSession(Message):
    """Join a session that exists. `last_seq` is the last event seen of it, 0 for none."""

    type: ClassVar[str] = "resume_session"
    request_id: str
    session_id: str
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferTools(Message):
    """The tools that this page instance offers besides those of `create_session`: all of them, each time."""

    type: ClassVar[str] = "offer_tools"
    request_id: str
    session_id: str
    tools: list[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckArgs(Message):
    """Whether arguments fit a tool: for calls that reach the page by another way than Core."""

    type: ClassVar[str] = "check_args"
    request_id: str
    session_id: str
    tool: str
    args: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSession(Message):
    type: ClassVar[str] = "end_session"
    request_id: str
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitToolResult(Message):
    """A call's one answer. Answered by `response`; sent again after a reconnect until it is answered."""

    type: ClassVar[str] = "submit_tool_result"
    request_id: str
    session_id: str
    tool_request_id: str
    result: JsonValue | RawJson


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(Message):
    """How far a running handler is. Unanswered; may be dropped."""

    type: ClassVar[str] = "tool_progress"
    session_id: str
    tool_request_id: str
    done: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWaiting(Message):
    """A running call waits for a person. Unanswered; sent again when `hidden` changes and after a reconnect.

    `kind` is `approval` or `question`. `schema` says what an answer holds to (a flat object); `hidden` that
    the page is not seen now, so that somebody else had better ask.
    """

    type: ClassVar[str] = "tool_waiting"
    session_id: str
    tool_request_id: str
    question_id: str
    kind: str
    message: str
    arguments: str | None = None
    schema: JsonObject
    name: str | None = None
    hidden: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResumed(Message):
    """The call does not wait for that answer any more. Unanswered."""

    type: ClassVar[str] = "tool_resumed"
    session_id: str
    tool_request_id: str
    question_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetApprovalStatus(Message):
    type: ClassVar[str] = "get_approval_status"
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestApproval(Message):
    """Ask that the page's origin be let in. `tools` are manifests, as far as they are known by now."""

    type: ClassVar[str] = "request_approval"
    request_id: str
    tools: list[JsonObject]
    app_name: str | None = None


# --- Core → page ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome(Message):
    """Answer to `hello`. A changed `core_instance_id` tells the page that Core was restarted.

    `batches`: Core reads several messages in a frame, too; not said to a page that does not.
    """

    type: ClassVar[str] = "welcome"
    protocol: int
    core_instance_id: str
    core_version: str
    heartbeat_ms: int
    limits: JsonObject
    batches: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(Message):
    """Answer to the request with `request_id`: `result` where `ok`, else `error` (an error envelope)."""

    type: ClassVar[str] = "response"
    request_id: str
    ok: bool
    result: JsonObject | None = None
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsConfirmed(Message):
    """Core has the results that these requests (`submit_tool_result`) brought, and will not lose them."""

    type: ClassVar[str] = "results_confirmed"
    request_ids: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPending(Message):
    """The request waits for a person's word on the page's origin, for `timeout_ms` at most."""

    type: ClassVar[str] = "approval_pending"
    request_id: str
    timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Message):
    """Run a tool. `timeout_ms` is what is left of the deadline when the frame is written.

    The frame may come twice (same `tool_request_id`); the page runs it once. `turn_started_at` is in
    milliseconds since the epoch. `approval` is what the tool's manifest says of it.
    """

    type: ClassVar[str] = "tool_call"
    session_id: str
    seq: int
    tool_request_id: str
    turn_id: str
    turn_started_at: int
    tool: str
    timeout_ms: int
    args: JsonObject | RawJson
    approval: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCancel(Message):
    """Nobody waits for this call any more. `reason` is `timeout`, `cancelled` or `ended`."""

    type: ClassVar[str] = "tool_cancel"
    session_id: str
    seq: int
    tool_request_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer(Message):
    """A person answered a question through the agent's client. `action` is `accept` or `decline`.

    Carries no `seq`: a page that has missed it asks again with `tool_waiting`.
    """

    type: ClassVar[str] = "tool_answer"
    session_id: str
    tool_request_id: str
    question_id: str
    action: str
    content: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Message):
    """The session is over. `reason` is `requested`, `disconnected` or `revoked`."""

    type: ClassVar[str] = "ended"
    session_id: str
    seq: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(Message):
    """A failure that answers no request: of one session, or of the whole connection."""

    type: ClassVar[str] = "error"
    error: JsonObject
    session_id: str | None = None


# --- both ways -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(Message):
    type: ClassVar[str] = "ping"
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pong(Message):
    type: ClassVar[str] = "pong"
    id: int


type PageMessage = (
    Hello
    | CreateSession
    | ResumeSession
    | OfferTools
    | CheckArgs
    | EndSession
    | SubmitToolResult
    | ToolProgress
    | ToolWaiting
    | ToolResumed
    | GetApprovalStatus
    | RequestApproval
    | Ping
    | Pong
)
type CoreMessage = (
    Welcome
    | Response
    | ResultsConfirmed
    | ApprovalPending
    | ToolCall
    | ToolCancel
    | ToolAnswer
    | Ended
    | ErrorEvent
    | Ping
    | Pong
)


class ProtocolError(PedelecError):
    """A frame that is no message. `request_id` is set where it could be read, so it can be answered."""

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(Code.SDK_PROTOCOL_ERROR, message)
        self.request_id = request_id


# --- codec ---------------------------------------------------------------------------------------------


def _message_types(union: typing.TypeAliasType) -> tuple[type[Message], ...]:
    return typing.get_args(union.__value__)


_PAGE_TYPES = {message_type.type: message_type for message_type in _message_types(PageMessage)}
_CORE_TYPES = {message_type.type: message_type for message_type in _message_types(CoreMessage)}
_FIELDS = {kind: wire_fields(kind) for kind in (*_PAGE_TYPES.values(), *_CORE_TYPES.values())}
_WRITTEN = {
    kind: [(each.name, each.lead, each.required) for each in known] for kind, known in _FIELDS.items()
}


def encode(message: Message) -> str:
    """The frame of a message: compact JSON, `type` first, fields in their declared order."""
    parts = [f'{{"type":"{message.type}"']
    for name, lead, required in _WRITTEN[type(message)]:
        value = getattr(message, name)
        if value is not None or required:
            parts += (lead, _encode_member(value))
    parts.append("}")
    return "".join(parts)


def _encode_member(value: object) -> str:
    kind = type(value)
    if kind is RawJson:
        return value.text  # type: ignore[attr-defined, no-any-return]
    if kind is str:
        return encode_basestring(value)  # type: ignore[arg-type] # as the encoder does, without its call
    if kind is int:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    return encode_value(value) if value != {} else "{}"


def decode_from_page(text: str) -> PageMessage:
    """Read a frame that a page sent.

    Raises:
        ProtocolError: not JSON, no object, unknown `type`, or a field missing or of the wrong type.
    """
    return typing.cast(PageMessage, _decode(text, _PAGE_TYPES))


def decode_from_core(text: str) -> CoreMessage:
    """Read a frame that Core sent. Raises `ProtocolError` as `decode_from_page` does."""
    return typing.cast(CoreMessage, _decode(text, _CORE_TYPES))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_read = reader(json.JSONDecoder(parse_constant=_refuse_constant))


def _decode(text: str, known: Mapping[str, type[Message]]) -> Message:
    try:
        frame = _read(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"The frame is not JSON: {error}") from None
    if type(frame) is not dict:
        raise ProtocolError("The frame is not a JSON object.")
    request_id = frame.get("requestId")
    request_id = request_id if isinstance(request_id, str) else None
    name = frame.get("type")
    message_type = known.get(name) if isinstance(name, str) else None
    if message_type is None:
        raise ProtocolError(f"Unknown message type {name!r:.80}.", request_id=request_id)
    values = {}
    for own_name, wire_name, _, required, usual, accepts, expected in _FIELDS[message_type]:
        value = frame.get(wire_name, MISSING)
        if type(value) is usual and (usual is not str or value.isascii()):  # type: ignore[attr-defined]
            values[own_name] = value
            continue
        if value is MISSING or (value is None and not required):
            if required:
                raise ProtocolError(f"{name} lacks {wire_name}.", request_id=request_id)
            continue
        if not accepts(value):
            raise ProtocolError(f"{name}.{wire_name} must be {expected}.", request_id=request_id)
        values[own_name] = value
    return message_type(**values)
