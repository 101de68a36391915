"""The catalogue of error codes, the error envelope, and the exceptions that carry it.

Owns what each code means, its class and its effects, the order of the envelope's keys, and the one
function that turns any exception into an envelope. Does no I/O; decides nothing about when an error is
raised. `docs/errors.md` is checked against the catalogue.

The tree::

    PedelecError              every error that Pedelec raises or sends
    ├── ToolError             a handler's own (domain) error, raised or returned by page authors
    └── protocol.ProtocolError, json_safe.NotJsonSafeError, …
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

MAX_MESSAGE_CHARS = 2_000


class ErrorClass(StrEnum):
    """What the receiver can do about an error."""

    RETRYABLE = "retryable"  # the same call later
    PERMANENT = "permanent"  # another call or none
    USER_INPUT = "userInput"  # ask the user
    AUTH_REQUIRED = "authRequired"  # the user reconnects access


class ErrorType(StrEnum):
    """Where an error comes from, in the terms of the layer below."""

    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    UPSTREAM_4XX = "upstream_4xx"
    UPSTREAM_5XX = "upstream_5xx"
    TIMEOUT = "timeout"
    INVALID_ARGS = "invalid_args"
    NOT_CONFIGURED = "not_configured"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Effects(StrEnum):
    """Whether the failed call changed anything."""

    NONE = "none"
    UNKNOWN = "unknown"
    APPLIED = "applied"


class Code(StrEnum):
    """Every code that Pedelec itself gives an error. Page authors add their own."""

    # a call, answered by Core
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_ARGS_INVALID = "TOOL_ARGS_INVALID"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_PAGE_UNAVAILABLE = "TOOL_PAGE_UNAVAILABLE"
    TOOL_INTERRUPTED = "TOOL_INTERRUPTED"
    TOOL_BUSY = "TOOL_BUSY"
    TOOL_CANCELLED = "TOOL_CANCELLED"
    CALL_ID_CONFLICT = "CALL_ID_CONFLICT"
    INVOCATION_NOT_FOUND = "INVOCATION_NOT_FOUND"
    TOOL_RESULT_PENDING = "TOOL_RESULT_PENDING"
    # a call, answered in the page
    TOOL_HANDLER_NOT_FOUND = "TOOL_HANDLER_NOT_FOUND"
    TOOL_HANDLER_ERROR = "TOOL_HANDLER_ERROR"
    TOOL_RESULT_NOT_SERIALIZABLE = "TOOL_RESULT_NOT_SERIALIZABLE"
    TOOL_RESULT_TOO_LARGE = "TOOL_RESULT_TOO_LARGE"
    SUBMIT_TOOL_RESULT_FAILED = "SUBMIT_TOOL_RESULT_FAILED"
    # sessions and requests
    INVALID_INPUT = "INVALID_INPUT"
    SESSION_ENDED = "SESSION_ENDED"
    SESSION_ERROR = "SESSION_ERROR"
    END_SESSION_FAILED = "END_SESSION_FAILED"
    THREAD_NOT_FOUND = "THREAD_NOT_FOUND"
    THREAD_ACCESS_DENIED = "THREAD_ACCESS_DENIED"
    CREATE_SESSION_NOT_APPROVED = "CREATE_SESSION_NOT_APPROVED"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    # the way between page, Core and command line
    SDK_BRIDGE_TIMEOUT = "SDK_BRIDGE_TIMEOUT"
    SDK_TRANSPORT_ERROR = "SDK_TRANSPORT_ERROR"
    SDK_PROTOCOL_ERROR = "SDK_PROTOCOL_ERROR"
    CORE_RUNTIME_UNAVAILABLE = "CORE_RUNTIME_UNAVAILABLE"
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    PEDELEC_THREAD_ID_NOT_FOUND = "PEDELEC_THREAD_ID_NOT_FOUND"
    USAGE_ERROR = "USAGE_ERROR"
    JOURNAL_UNAVAILABLE = "JOURNAL_UNAVAILABLE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What holds for every error of a code, unless the error itself says otherwise."""

    meaning: str
    error_class: ErrorClass = ErrorClass.PERMANENT
    effects: Effects | None = None
    error_type: ErrorType | None = None
    retry_after_seconds: float | None = None


CATALOGUE: dict[Code, CodeInfo] = {
    Code.TOOL_NOT_FOUND: CodeInfo("The session offers no tool of that name.", effects=Effects.NONE),
    Code.TOOL_ARGS_INVALID: CodeInfo(
        "The arguments are no JSON object or break the tool's schema; nothing ran.",
        effects=Effects.NONE,
        error_type=ErrorType.INVALID_ARGS,
    ),
    Code.TOOL_TIMEOUT: CodeInfo(
        "The page gave no result within the limit; the handler may still be running.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.TIMEOUT,
    ),
    Code.TOOL_PAGE_UNAVAILABLE: CodeInfo(
        "The page is closed or still loading; the call never reached it.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=5,
    ),
    Code.TOOL_INTERRUPTED: CodeInfo(
        "The page was reloaded or lost, or Core restarted, while the call ran.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.ABORTED,
    ),
    Code.TOOL_BUSY: CodeInfo(
        "The session runs as many calls as it may.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=1,
    ),
    Code.TOOL_CANCELLED: CodeInfo(
        "The call was cancelled before it had a result.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.ABORTED,
    ),
    Code.CALL_ID_CONFLICT: CodeInfo(
        "The call id was used before for another tool or other arguments.", effects=Effects.NONE
    ),
    Code.INVOCATION_NOT_FOUND: CodeInfo("No invocation of that id is remembered."),
    Code.TOOL_RESULT_PENDING: CodeInfo(
        "The call asked about still runs in the page.",
        error_class=ErrorClass.RETRYABLE,
        retry_after_seconds=2,
    ),
    Code.TOOL_HANDLER_NOT_FOUND: CodeInfo(
        "The page declares the tool and implements no handler for it; a retry will not help.",
        effects=Effects.NONE,
    ),
    Code.TOOL_HANDLER_ERROR: CodeInfo("The handler raised or rejected.", effects=Effects.UNKNOWN),
    Code.TOOL_RESULT_NOT_SERIALIZABLE: CodeInfo(
        "The handler ran, but its result holds a value that JSON cannot carry.", effects=Effects.APPLIED
    ),
    Code.TOOL_RESULT_TOO_LARGE: CodeInfo(
        "The handler ran, but its result is over the size limit.", effects=Effects.APPLIED
    ),
    Code.SUBMIT_TOOL_RESULT_FAILED: CodeInfo(
        "A result could not be delivered as it was; `details.cause` has the code of the reason."
    ),
    Code.INVALID_INPUT: CodeInfo("An argument of an SDK call is not what it must be."),
    Code.SESSION_ENDED: CodeInfo("The session is over."),
    Code.SESSION_ERROR: CodeInfo("The session failed."),
    Code.END_SESSION_FAILED: CodeInfo("Core did not confirm the end of the session."),
    Code.THREAD_NOT_FOUND: CodeInfo("Core knows no session of that id."),
    Code.THREAD_ACCESS_DENIED: CodeInfo("The session does not exist or belongs to another origin."),
    Code.CREATE_SESSION_NOT_APPROVED: CodeInfo(
        "The page's origin is not approved.", error_class=ErrorClass.USER_INPUT
    ),
    Code.NOT_SUPPORTED: CodeInfo("This part of the TypeScript SDK's interface is not built."),
    Code.SDK_BRIDGE_TIMEOUT: CodeInfo(
        "Core did not answer a request of the page in time.",
        error_class=ErrorClass.RETRYABLE,
        error_type=ErrorType.TIMEOUT,
        retry_after_seconds=1,
    ),
    Code.SDK_TRANSPORT_ERROR: CodeInfo(
        "The connection between the page and Core failed.",
        error_class=ErrorClass.RETRYABLE,
        retry_after_seconds=1,
    ),
    Code.SDK_PROTOCOL_ERROR: CodeInfo("A message between page and Core was not understood."),
    Code.CORE_RUNTIME_UNAVAILABLE: CodeInfo(
        "Core cannot be reached.", error_class=ErrorClass.USER_INPUT, effects=Effects.NONE
    ),
    Code.MESSAGE_TOO_LARGE: CodeInfo("A message is over the size limit."),
    Code.PEDELEC_THREAD_ID_NOT_FOUND: CodeInfo(
        "Which session is meant cannot be told: none is live, or several are.", effects=Effects.NONE
    ),
    Code.USAGE_ERROR: CodeInfo("The command line is not one that the command knows.", effects=Effects.NONE),
    Code.JOURNAL_UNAVAILABLE: CodeInfo(
        "Core cannot write down what it does, so it begins nothing new.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=10,
    ),
    Code.INTERNAL_ERROR: CodeInfo("Pedelec itself failed; this is a bug.", effects=Effects.UNKNOWN),
}


class PedelecError(Exception):
    """An error with an envelope. What is not given comes from the catalogue.

    Args:
        code: a `Code`, or a page author's own string.
        message: one or two sentences for the reader; never blank, cut at `MAX_MESSAGE_CHARS`.
        error_class: `class` on the wire.
        error_type: `errorType` on the wire.
        reason: the cause in a few words.
        retryable: whether the same call may be made again; follows from the class if not given.
        retry_after_seconds: seconds to wait before the retry; always there with class `retryable`.
        recovery_steps: what to do next, in order, one sentence each.
        options: choices to put before the user, JSON values.
        suggestions: near misses, best first.
        effects: whether the call changed anything.
        details: more facts, a JSON object.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        error_class: ErrorClass | str | None = None,
        error_type: ErrorType | str | None = None,
        reason: str | None = None,
        retryable: bool | None = None,
        retry_after_seconds: float | None = None,
        recovery_steps: Sequence[str] = (),
        options: Sequence[Any] = (),
        suggestions: Sequence[Any] = (),
        effects: Effects | str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        info = _info(code)
        self.code = str(code) or Code.TOOL_HANDLER_ERROR.value
        self.message = clean_text(message) or info.meaning or self.code
        self.error_class = str(error_class or info.error_class)
        self.error_type = _optional_text(error_type or info.error_type)
        self.reason = reason
        self.retryable = self.error_class == ErrorClass.RETRYABLE if retryable is None else retryable
        self.retry_after_seconds = retry_after_seconds
        if retry_after_seconds is None and self.error_class == ErrorClass.RETRYABLE:
            self.retry_after_seconds = 1 if info.retry_after_seconds is None else info.retry_after_seconds
        self.recovery_steps = list(recovery_steps)
        self.options = list(options)
        self.suggestions = list(suggestions)
        self.effects = _optional_text(effects or info.effects)
        self.details = details
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def to_wire(self) -> dict[str, Any]:
        """The envelope, its keys in the order in which a reader needs them; empty ones left out.

        Hosts cut long tool output, so what decides the next call stands first.
        """
        envelope = {
            "code": self.code,
            "class": self.error_class,
            "message": self.message,
            "retryAfterSeconds": self.retry_after_seconds,
            "recoverySteps": self.recovery_steps,
            "retryable": self.retryable,
            "effects": self.effects,
            "errorType": self.error_type,
            "reason": self.reason,
            "options": self.options,
            "suggestions": self.suggestions,
            "details": self.details,
        }
        return {key: value for key, value in envelope.items() if value is not None and value != []}

    @classmethod
    def from_wire(cls, envelope: object) -> Self:
        """Read an envelope that came over the wire; whatever is not one becomes `SDK_PROTOCOL_ERROR`."""
        if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), str):
            return cls(Code.SDK_PROTOCOL_ERROR, "An error arrived without a code.")
        message = envelope.get("message")
        return cls(
            envelope["code"],
            message if isinstance(message, str) else "",
            error_class=envelope.get("class"),
            error_type=envelope.get("errorType"),
            reason=envelope.get("reason"),
            retryable=envelope.get("retryable"),
            retry_after_seconds=envelope.get("retryAfterSeconds"),
            recovery_steps=envelope.get("recoverySteps") or (),
            options=envelope.get("options") or (),
            suggestions=envelope.get("suggestions") or (),
            effects=envelope.get("effects"),
            details=envelope.get("details"),
        )


class ToolError(PedelecError):
    """A domain error of a page author's handler: raised, it becomes the call's result under its own code.

    >>> ToolError("NO_SELECTION", "Select text first.").to_wire()["code"]
    'NO_SELECTION'
    """


def error_from_exception(error: BaseException) -> PedelecError:
    """What the receiver is told of an exception that left a handler: the one door for foreign errors.

    A `PedelecError` speaks for itself. Anything else becomes `TOOL_HANDLER_ERROR` with the exception's
    type and message, without stack or file paths.
    """
    if isinstance(error, PedelecError):
        return error
    type_name = type_name_of(error)
    text = _exception_text(error)
    message = f"{type_name}: {text}" if text else type_name
    return PedelecError(Code.TOOL_HANDLER_ERROR, message, details={"type": type_name})


def type_name_of(error: BaseException) -> str:
    """The name of an exception's type, as its author wrote it (`ForeignError` types name their own)."""
    try:
        named = getattr(error, "foreign_type_name", None)
    except BaseException:  # noqa: BLE001 - an exception that does not bear being looked at is named all the same
        named = None
    return named if isinstance(named, str) and named else type(error).__name__


def _exception_text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return clean_text(error.strerror)
    try:
        return clean_text(str(error))
    except BaseException:  # noqa: BLE001 - a __str__ that raises must not cost the caller its answer
        return ""


_PATH = re.compile(
    r"""(?:[A-Za-z]:\\|/(?:lib|home|usr|tmp|Users|var|opt|root|private|srv|mnt|etc)/)[^\s'"<>|:]*
      | (?<![\w/.])/(?:[^\s'"<>|:/]+/)+[^\s'"<>|:/]+\.(?:pyc?|m?js|whl|zip)\b""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


def clean_text(text: str) -> str:
    """Text that may leave the process: no file paths, control or direction characters, lone surrogates.

    Cut to `MAX_MESSAGE_CHARS` characters.
    """
    text = text[: MAX_MESSAGE_CHARS * 2].encode("utf-8", "replace").decode("utf-8")
    text = _CONTROL.sub(" ", _PATH.sub(_base_name, text)).strip()
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def _base_name(match: re.Match[str]) -> str:
    return re.split(r"[\\/]", match.group().rstrip("\\/"))[-1]


def _info(code: str) -> CodeInfo:
    try:
        return CATALOGUE[Code(code)]
    except ValueError:
        return CodeInfo("")


def _optional_text(value: str | None) -> str | None:
    return None if value is None else str(value)
