"""The errors that Pedelec raises and sends, and the one door for everybody else's exceptions.

Owns the exceptions that carry an envelope and how any exception becomes one. What a code means stands in
`catalogue`, how large an envelope may be in `envelope`, what a failure of a library means in `failures`. Does
no I/O; decides nothing about when an error is raised.

The tree::

    PedelecError              every error that Pedelec raises or sends
    ├── ToolError             a handler's own (domain) error, raised or returned by page authors
    └── protocol.ProtocolError, json_safe.NotJsonSafeError, …
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Self

from pedelec.catalogue import CATALOGUE, Code, CodeInfo, Effects, ErrorClass, ErrorType, info_of
from pedelec.clean_text import MAX_MESSAGE_CHARS, clean_foreign_text, clean_step, clean_text
from pedelec.doors import COMMAND_LINE, Door
from pedelec.envelope import MAX_ERROR_BYTES, bounded

__all__ = [
    "CATALOGUE",
    "MAX_ERROR_BYTES",
    "MAX_MESSAGE_CHARS",
    "Code",
    "CodeInfo",
    "Effects",
    "ErrorClass",
    "ErrorType",
    "PedelecError",
    "ToolError",
    "clean_text",
    "error_from_exception",
    "rendered",
    "type_name_of",
]

_MAX_CODE_CHARS = 100
_MAX_FACT_CHARS = 120
_MAX_SECONDS = 1e9


class PedelecError(Exception):
    """An error with an envelope. What is not given comes from the catalogue.

    Args:
        code: a `Code`, or a page author's own string.
        message: one or two sentences for the reader; cut at `MAX_MESSAGE_CHARS`.
        error_class: `class` on the wire; if it is not one of `ErrorClass` it counts as not given.
        error_type: `errorType` on the wire.
        reason: the cause in a few words.
        retryable: True stands for class `retryable` where no class is given.
        retry_after_seconds: seconds to wait before the retry; always there with class `retryable`.
        recovery_steps: what to do next, in order, one sentence each; a call is written out,
            `move_shape(shapeId="s1", x=120, y=80)`.
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
        recovery_steps: Sequence[str] | str = (),
        options: Sequence[Any] = (),
        suggestions: Sequence[Any] = (),
        effects: Effects | str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        info = info_of(code)
        given = str(code)[:_MAX_CODE_CHARS]
        self.code = given if given.strip() else Code.TOOL_HANDLER_ERROR.value
        self.error_class = _one_of(ErrorClass, error_class) or (
            ErrorClass.RETRYABLE.value if retryable is True else info.error_class.value
        )
        self.error_type = _one_of(ErrorType, error_type) or _one_of(ErrorType, info.error_type)
        self.reason = reason
        self.retry_after_seconds = _seconds(retry_after_seconds)
        if self.retry_after_seconds is None and self.is_retryable:
            self.retry_after_seconds = 1 if info.retry_after_seconds is None else info.retry_after_seconds
        steps = [clean_step(step) for step in _listed(recovery_steps) if isinstance(step, str)]
        self.recovery_steps = [step for step in steps if step]
        self.options = _listed(options)
        self.suggestions = _listed(suggestions)
        self.effects = _one_of(Effects, effects) or _one_of(Effects, info.effects)
        self.details = details
        text = clean_text(message) or rendered(info.message, self.facts())
        self.message = text or info.meaning or self.code
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def is_retryable(self) -> bool:
        """Whether the same call may be made again, after `retry_after_seconds`."""
        return self.error_class == ErrorClass.RETRYABLE

    def facts(self) -> dict[str, str | float]:
        """What the catalogue's templates may name: the scalar members of `details`, and the delay."""
        members = self.details if isinstance(self.details, dict) else {}
        facts: dict[str, str | float] = {
            str(key): value[:_MAX_FACT_CHARS] if isinstance(value, str) else value
            for key, value in members.items()
            if isinstance(value, (str, int, float))
        }
        what = facts.get("what")
        if isinstance(what, str):
            facts["What"] = what[:1].upper() + what[1:]
        if self.retry_after_seconds is not None:
            facts["retryAfterSeconds"] = self.retry_after_seconds
        return facts

    def usual_steps(self) -> tuple[str, ...]:
        """The catalogue's templates for this error; they hold for the class that the catalogue gives it."""
        info = info_of(self.code)
        if self.error_class == info.error_class:
            return info.recovery
        return info.repeatable if self.is_retryable else info.final

    def to_wire(self, door: Door | None = COMMAND_LINE) -> dict[str, Any]:
        """The envelope, in order and bounded (see `envelope`); keys that say nothing are left out.

        Without steps of its own it has those of the catalogue that can be told without knowing the call;
        `advice` tells the others.

        Args:
            door: by which way the agent came that is told; None where that will be known later, so that the
                envelope has no steps but the error's own.
        """
        steps = self.recovery_steps
        if not steps and door is not None:
            facts = self.facts()
            steps = rendered_all(self.usual_steps(), {**facts, **door.words(facts)})
        return bounded(
            {
                "code": self.code,
                "class": self.error_class,
                "message": self.message,
                "retryAfterSeconds": self.retry_after_seconds,
                "recoverySteps": steps,
                "retryable": self.is_retryable,
                "effects": self.effects,
                "errorType": self.error_type,
                "reason": self.reason,
                "options": self.options,
                "suggestions": self.suggestions,
                "details": self.details,
            }
        )

    def bare(self) -> dict[str, Any]:
        """The envelope without the catalogue's steps: for who raises it again where the call is known."""
        envelope = self.to_wire()
        if not self.recovery_steps:
            envelope.pop("recoverySteps", None)
        return envelope

    @classmethod
    def from_wire(cls, envelope: object) -> Self:
        """Read an envelope that came over the wire; whatever is not one becomes `SDK_PROTOCOL_ERROR`."""
        if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), str):
            return cls(Code.SDK_PROTOCOL_ERROR, "An error arrived without a code.")
        message, reason, details = (envelope.get(key) for key in ("message", "reason", "details"))
        return cls(
            envelope["code"],
            message if isinstance(message, str) else "",
            error_class=envelope.get("class"),
            error_type=envelope.get("errorType"),
            reason=reason if isinstance(reason, str) else None,
            retryable=envelope.get("retryable"),
            retry_after_seconds=envelope.get("retryAfterSeconds"),
            recovery_steps=envelope.get("recoverySteps") or (),
            options=envelope.get("options") or (),
            suggestions=envelope.get("suggestions") or (),
            effects=envelope.get("effects"),
            details=details if details is None or isinstance(details, dict) else {"value": details},
        )


class ToolError(PedelecError):
    """A domain error of a page author's handler: raised or returned, it is the call's result, code and all.

    The constructors below ask for what the reader of that class needs.

    >>> ToolError("NO_SELECTION", "Select text first.").to_wire()["code"]
    'NO_SELECTION'
    """

    @classmethod
    def retryable(cls, code: str, message: str, *, after: float, **fields: Any) -> Self:
        """The same call may work later.

        Args:
            after: seconds to wait, 0 or more.
            fields: any others of `PedelecError`.

        Raises:
            PedelecError: `INVALID_INPUT` where the message is blank or `after` is no such number.
        """
        if _seconds(after) is None:
            _refuse("after must be a number of seconds, 0 or more.")
        return cls._of_class(ErrorClass.RETRYABLE, code, message, retry_after_seconds=after, **fields)

    @classmethod
    def permanent(cls, code: str, message: str, **fields: Any) -> Self:
        """The same call will never work; `recovery_steps` name the call that does, where there is one."""
        return cls._of_class(ErrorClass.PERMANENT, code, message, **fields)

    @classmethod
    def user_input(
        cls, code: str, message: str, *, question: str = "", options: Sequence[Any] = (), **fields: Any
    ) -> Self:
        """Only the user can say how to go on.

        Args:
            question: what to ask.
            options: the answers to choose from; `{"label": …, "value": …}` where the call needs a value.
            fields: any others of `PedelecError`. `details={"argument": NAME}` says which argument of the call
                takes an option's value, so that the call for each can be written out.

        Raises:
            PedelecError: `INVALID_INPUT` where there is neither a question nor an option.
        """
        if not question.strip() and not options:
            _refuse("user_input needs a question or options.")
        if question.strip():
            fields["details"] = {"question": question, **(fields.get("details") or {})}
        return cls._of_class(ErrorClass.USER_INPUT, code, message, options=options, **fields)

    @classmethod
    def auth_required(cls, code: str, message: str, *, reconnect: str, **fields: Any) -> Self:
        """The user has to renew access.

        Args:
            reconnect: what the user does for that, as an order: "Sign in at the top of the page".
            fields: any others of `PedelecError`.
        """
        if not reconnect.strip():
            _refuse("auth_required needs `reconnect`: what the user does to renew access.")
        fields.setdefault("error_type", ErrorType.AUTH)
        fields["details"] = {**(fields.get("details") or {}), "reconnect": reconnect}
        return cls._of_class(ErrorClass.AUTH_REQUIRED, code, message, **fields)

    @classmethod
    def not_configured(cls, what: str, how: str, **fields: Any) -> Self:
        """Something that only the user can set up is missing.

        Args:
            what: what is missing: "the weather service's key".
            how: what the user does, as an order: "Enter it under Settings, Services".
            fields: any others of `PedelecError`.
        """
        if not what.strip() or not how.strip():
            _refuse("not_configured needs both: what is missing and how the user sets it up.")
        fields["details"] = {**(fields.get("details") or {}), "what": what, "how": how}
        return cls(Code.NOT_CONFIGURED, **fields)

    @classmethod
    def _of_class(cls, error_class: ErrorClass, code: str, message: str, **fields: Any) -> Self:
        if not code.strip() or not message.strip():
            _refuse("An error needs a code and a message.")
        return cls(code, message, error_class=error_class, **fields)


def error_from_exception(error: BaseException, now: float | None = None) -> PedelecError:
    """What the receiver is told of an exception that left a handler: the one door for foreign errors.

    A `PedelecError` speaks for itself. Anything else becomes `TOOL_HANDLER_ERROR` with the exception's
    type and message, without stack, file paths or what URLs carry; `failures` knows the class of some.

    Args:
        error: the exception.
        now: seconds since the epoch, to reckon the date of a `Retry-After` with.
    """
    if isinstance(error, BaseExceptionGroup):
        return _error_from_group(error, now)
    if isinstance(error, PedelecError):
        return error
    from pedelec.failures import classify_exception  # at a failure, not when the page starts

    type_name = type_name_of(error)
    failure = classify_exception(error, now)
    text = failure.words() if failure is not None and failure.status is not None else _exception_text(error)
    message = f"{type_name}: {text}" if text else type_name
    fields = {} if failure is None else failure.fields()
    return PedelecError(Code.TOOL_HANDLER_ERROR, message, details={"type": type_name}, **fields)


def _error_from_group(group: "BaseExceptionGroup[BaseException]", now: float | None) -> PedelecError:
    """Of one exception in a group what it means; of several all messages, and the class where they agree."""
    from pedelec.exception_groups import leaves_of  # as above

    told = [error_from_exception(leaf, now) for leaf in leaves_of(group)]
    if len(told) == 1:
        return told[0]
    delays = [error.retry_after_seconds for error in told if error.retry_after_seconds is not None]
    classes = {error.error_class for error in told}
    return PedelecError(
        Code.TOOL_HANDLER_ERROR,
        "; ".join(error.message.rstrip(".") for error in told),
        error_class=classes.pop() if len(classes) == 1 else ErrorClass.PERMANENT,
        retry_after_seconds=max(delays, default=None),
        details={"type": type_name_of(group), "codes": [error.code for error in told]},
    )


def type_name_of(error: BaseException) -> str:
    """The name of an exception's type, as its author wrote it (`ForeignError` types name their own)."""
    try:
        named = getattr(error, "foreign_type_name", None)
    except BaseException:  # noqa: BLE001 - an exception that does not bear being looked at is named all the same
        named = None
    return named if isinstance(named, str) and named else type(error).__name__


def rendered(template: str, facts: Mapping[str, str | float]) -> str:
    """A template of the catalogue, filled in; blank where a fact is missing."""
    try:
        return template.format_map(facts)
    except KeyError:
        return ""


def rendered_all(templates: Sequence[str], facts: Mapping[str, str | float]) -> list[str]:
    """The sentences whose facts are all known."""
    return [text for text in (rendered(template, facts) for template in templates) if text]


def _exception_text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return clean_foreign_text(error.strerror)
    try:
        return clean_foreign_text(str(error))
    except BaseException:  # noqa: BLE001 - a __str__ that raises must not cost the caller its answer
        return ""


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, dict)) else [value]


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= _MAX_SECONDS else None


def _one_of[E: (ErrorClass, ErrorType, Effects)](kind: type[E], value: object) -> str | None:
    try:
        return kind(value).value  # type: ignore[arg-type]
    except ValueError:
        return None


def _refuse(problem: str) -> NoReturn:
    raise PedelecError(Code.INVALID_INPUT, problem)
