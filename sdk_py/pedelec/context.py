"""What a handler and an event callback are told besides their values.

Owns the fields of each context, their camelCase form for JavaScript, and the signal by which a handler
learns that nobody waits any more. Does no I/O; the clock and the way out are passed in.
"""

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any

from pedelec.errors import MAX_MESSAGE_CHARS, Code, PedelecError
from pedelec.wire_fields import to_camel

logger = logging.getLogger("pedelec")


class CancelSignal:
    """Set once nobody waits for the call: `bool(signal)`, `await signal`, or `signal.add_callback(fn)`.

    `reason` is None until then, afterwards `timeout`, `cancelled` or `ended`.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._callbacks: list[Callable[[], object]] = []

    def is_set(self) -> bool:
        return self.reason is not None

    def __bool__(self) -> bool:
        return self.is_set()

    def set(self, reason: str) -> None:
        """Set it; only the first reason counts."""
        if self.reason is not None:
            return
        self.reason = reason
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback()
            except Exception:
                logger.exception("A callback of a cancelled call raised.")

    def add_callback(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call once when it is set, at once if it is. Returns what takes the callback back."""
        if self.is_set():
            callback()
        else:
            self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    async def wait(self) -> str:
        """Wait until it is set; gives the reason."""
        if self.reason is None:
            import asyncio  # here, so that contexts can be made without an event loop

            wake = asyncio.Event()
            remove = self.add_callback(wake.set)
            try:
                await wake.wait()
            finally:
                remove()
        assert self.reason is not None
        return self.reason

    def __await__(self) -> Generator[Any, None, str]:
        return self.wait().__await__()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventContext:
    """Where an event comes from. Times in milliseconds since the epoch.

    `source` is `core` for what Core told, `sdk` for what the SDK found itself; `type` is `error`, `ended`,
    `status_changed` or `tool_call`, with `sdk_` before it where the SDK is the source.
    """

    type: str
    source: str
    session_id: str
    session_created_at: int
    event_emitted_at: int
    event_received_at: int | None = None
    turn_id: str | None = None
    turn_started_at: int | None = None
    turn_kind: str | None = None
    provider: str = ""
    model: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The camelCase object that JavaScript callbacks get; what is None is left out."""
        values = zip(self.wire_names(), self.wire_values(), strict=True)
        return {name: value for name, value in values if value is not None}

    @classmethod
    def wire_names(cls) -> tuple[str, ...]:
        """What the fields of that object are called."""
        return _told(cls)[0]  # type: ignore[arg-type] # mypy takes the class for its instances

    def wire_values(self) -> tuple[Any, ...]:
        """Their values in that order: None, strings and numbers."""
        return _told(type(self))[1](self)  # type: ignore[arg-type] # as above


@cache
def _told(kind: type[EventContext]) -> tuple[tuple[str, ...], Callable[[EventContext], tuple[Any, ...]]]:
    """What the fields that go out are called on the wire, and what gives their values."""
    names = [item.name for item in fields(kind) if item.metadata.get("wire", True)]
    return tuple(map(to_camel, names)), attrgetter(*names)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusContext(EventContext):
    """The context of `on_status`."""

    status: str
    previous_status: str


_LOCAL = {"wire": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext(EventContext):
    """The context of one call.

    `deadline` is in seconds since the epoch, as `time.time()` counts: when the agent stops waiting.
    `cancelled` is set when it has stopped (time-out, cancellation, end of the session).
    """

    tool_request_id: str
    tool: str
    deadline: float = field(metadata=_LOCAL)
    cancelled: CancelSignal = field(default_factory=CancelSignal, metadata=_LOCAL)
    now: Callable[[], float] = field(repr=False, metadata=_LOCAL)
    report: Callable[[float, float | None, str | None], None] = field(repr=False, metadata=_LOCAL)
    put_question: "PutQuestion" = field(repr=False, metadata=_LOCAL)

    @property
    def remaining_ms(self) -> int:
        """Milliseconds until the deadline, 0 once it has passed or nobody waits any more."""
        return 0 if self.cancelled else max(0, round((self.deadline - self.now()) * 1000))

    async def ask(
        self,
        question: str,
        *,
        options: Sequence[Any] | None = None,
        schema: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Ask the person at the page, and wait for the answer.

        While it waits the session's status is `waiting_user`, and whoever waits for the call is told. Where
        nobody sees the page, an agent's client that can ask does so as well; the first answer counts.

        Args:
            question: shown as text.
            options: to choose one from: strings, numbers, or `{"label": …, "value": …}`.
            schema: in place of options, several fields: a flat JSON Schema of an object, whose properties are
                strings, numbers, booleans, or choices of strings.
            name: names the question for those that answer by program (`inputRequests` of MCP).

        Returns:
            The text; with `options` the chosen one's value; with `schema` the object of the fields.

        Raises:
            PedelecError: `TOOL_DENIED` where the person does not want to answer, `TOOL_UNANSWERED` where
                nobody did in time, `TOOL_CANCELLED` where the call is over; `INVALID_INPUT` for a question
                that cannot be.
        """
        return await self.put_question(self, question, options, schema, name)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell whoever waits how far the call is. Cheap; may be dropped while the connection is down.

        Raises:
            PedelecError: `INVALID_INPUT` where `done` or `total` is no finite number or `message` no str.
        """
        if message is not None and not isinstance(message, str):
            raise PedelecError(Code.INVALID_INPUT, "The message of progress() must be a string.")
        text = None if message is None else message[:MAX_MESSAGE_CHARS].encode("utf-8", "replace").decode()
        self.report(_finite(done), None if total is None else _finite(total), text)


type PutQuestion = Callable[
    [ToolContext, str, Sequence[Any] | None, dict[str, Any] | None, str | None], Awaitable[Any]
]
"""Asks for a call: its context, the question, and the rest of what `ToolContext.ask` is given."""


def _finite(value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if number - number != 0:
        raise PedelecError(Code.INVALID_INPUT, "progress() takes finite numbers.")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
