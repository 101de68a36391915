"""What an inspector may ask of Core, and the frames that Core sends it: `docs/protocol.md` in code."""

import hashlib
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pedelec.json_text import JsonObject, JsonValue, encode_object
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS
from pedelec.wire_fields import to_camel
from pedelec_core.call_events import CallEvent
from pedelec_core.inspector.lives import Life
from pedelec_core.sessions import Session

type RequestId = Annotated[str, Field(min_length=1, max_length=100)]


class _Frame(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class Watch(_Frame):
    """Hear of sessions and calls from now on; sent again, it changes whether their arguments are told."""

    type: Literal["watch"]
    arguments: bool = False


class Tools(_Frame):
    """The tools of a session, their schemas included."""

    type: Literal["tools"]
    request_id: RequestId
    thread_id: str


class Call(_Frame):
    """A call, as an agent makes it."""

    type: Literal["call"]
    request_id: RequestId
    thread_id: str
    tool: str
    args_text: str
    timeout_ms: Annotated[int, Field(ge=1, le=MAX_TOOL_TIMEOUT_MS)] | None = None


class Cancel(_Frame):
    """Call off the call of that request. Has no answer itself."""

    type: Literal["cancel"]
    request_id: RequestId


class Result(_Frame):
    """What a call came to; its late result, where it came too late."""

    type: Literal["result"]
    request_id: RequestId
    invocation_id: str


class Acknowledge(_Frame):
    """The answer was shown. Has no answer itself."""

    type: Literal["acknowledge"]
    invocation_id: str


type Question = Tools | Call | Result
# Spelt out: into a union with a name of its own pydantic follows no discriminator, but tries all in turn.
type Frame = Watch | Cancel | Acknowledge | Tools | Call | Result

_FRAME: Final[TypeAdapter[Frame]] = TypeAdapter(Annotated[Frame, Field(discriminator="type")])


def read(text: str) -> Frame | None:
    """An inspector's frame, or None where it is none."""
    try:
        return _FRAME.validate_json(text)
    except ValidationError:
        return None


# --- what Core sends ----------------------------------------------------------------------------------------


def core(version: str, instance_id: str, cli: list[str], mcp: list[str]) -> str:
    """Who Core is, and the commands that reach it: first of all."""
    words: JsonObject = {"cli": list(cli), "mcp": list(mcp)}
    return _encode("core", {"version": version, "coreInstanceId": instance_id, "commands": words})


def sessions(live: Iterable[Session]) -> str:
    """The live sessions, whenever they may have changed."""
    return _encode("sessions", {"sessions": [_session(each) for each in live]})


def calls(lives: Iterable[Life], *, with_arguments: bool) -> str:
    """Calls that are new or have changed."""
    told: list[JsonValue] = [life.to_wire(with_arguments=with_arguments) for life in lives]
    return _encode("calls", {"calls": told})


def started(request_id: str, invocation_id: str) -> str:
    """The call was admitted."""
    return _encode("started", {"requestId": request_id, "invocationId": invocation_id})


def event(request_id: str, heard: CallEvent) -> str:
    """How far the call is, or that it waits for a person."""
    told = heard.to_wire()
    return _encode(str(told.pop("type")), {"requestId": request_id, **told})


def answer(request_id: str, line: str) -> str:
    """The one answer to a request: the line that the command line prints, to the letter, as text."""
    return _encode("answer", {"requestId": request_id, "line": line})


def page_label(instance_id: str) -> str:
    """A page instance's name among people. The id itself is the page's own."""
    return hashlib.sha256(instance_id.encode()).hexdigest()[:8]


def _session(session: Session) -> JsonObject:
    pages: list[JsonValue] = [
        {"page": page_label(instance_id), "state": state} for instance_id, state in session.page_states()
    ]
    return {
        "threadId": session.id,
        "appName": session.app_name,
        "createdAt": session.created_at_ms,
        "tools": len(session.registry.names()),
        "pages": pages,
    }


def _encode(kind: str, members: JsonObject) -> str:
    return encode_object({"type": kind, **members})
