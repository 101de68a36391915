"""What of a session and an invocation outlives Core, and how it comes to life again.

Owns the flat records that the journal keeps as its rows, and their translation both ways. Does no I/O
and reads no clock: moments of the monotonic clock, which starts anew with the machine, are kept as
wall-clock time.
"""

import json
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

from pedelec.errors import PedelecError
from pedelec.json_text import RawJson, encode_value
from pedelec_core.invocation import Call, Instant, Invocation, Outcome, State
from pedelec_core.limits import CoreLimits
from pedelec_core.registry import ToolRegistry
from pedelec_core.sessions import Session, SessionTimes

LARGE_BYTES: Final = 64 * 1024
"""Outcomes larger than this are kept compressed, and in the journal alone."""


_SEQ_STEP: Final = 1 << 32
"""More events than a session can have while one Core lives. Sequence numbers are not kept one by one: a Core
that takes a session up begins this far above where the one before it began."""

_RESULT, _ERROR = b"r", b"e"
_PLAIN, _COMPRESSED = b"j", b"z"

HEAD_BYTES: Final = 2
"""Of a packed outcome: enough to see that there is one."""
LARGE_HEAD: Final = _RESULT + _COMPRESSED
"""The head of a large one."""


class SessionRecord(NamedTuple):
    """A session. `seq_base` is the event number at which the Core that holds it began.

    `tools` and `pages` (instances) are JSON lists.
    """

    id: str
    origin: str
    app_name: str | None
    guidance: str
    tools: str
    auto_end: bool
    created_at_ms: int
    ended_at_ms: int | None
    seq_base: int
    pages: str


class InvocationRecord(NamedTuple):
    """An invocation of a session: first what it is for good (`FIXED`), then what changes.

    Times are in milliseconds since the epoch. `outcome` and `late` are None where there is none yet, or where
    the journal alone has it.
    """

    id: str
    session_id: str
    tool: str
    args_key: str
    timeout_ms: int
    exclusive: bool
    safe_to_repeat: bool
    call_id: str | None
    joins: bool
    approval: str | None
    turn_id: str
    turn_started_at: int
    args: str
    deadline_ms: int
    instance_id: str | None
    seq: int
    cancel_seq: int
    cancel_reason: str
    settled_at_ms: int | None
    acknowledged: bool
    given_up: bool
    outcome: bytes | None
    late: bytes | None


FIXED: Final = InvocationRecord._fields.index("args")
"""How many fields of an invocation never change."""


def session_to_record(session: Session, seq_base: int, now: Instant) -> SessionRecord:
    """What is kept of a session, but for its invocations."""
    # What pages offer besides is theirs to offer again.
    tools = [session.declared.get(name).to_wire() for name in session.declared.names()]
    return SessionRecord(
        id=session.id,
        origin=session.origin,
        app_name=session.app_name,
        guidance=session.guidance,
        tools=encode_value(tools),
        auto_end=session.auto_end,
        created_at_ms=session.created_at_ms,
        ended_at_ms=None if session.ended_at is None else to_epoch_ms(session.ended_at, now),
        seq_base=seq_base,
        pages=encode_value(session.pages),
    )


def session_from_record(
    record: SessionRecord,
    invocations: list[InvocationRecord],
    *,
    new_id: Callable[[str], str],
    limits: CoreLimits,
    times: SessionTimes,
    now: Instant,
) -> Session:
    """The session as it was when Core went, all its pages lost."""
    session = Session(
        record.id,
        origin=record.origin,
        app_name=record.app_name,
        guidance=record.guidance,
        registry=ToolRegistry.from_manifests(json.loads(record.tools), limits.offers),
        auto_end=bool(record.auto_end),
        now=now,
        new_id=new_id,
        limits=limits.calls,
        times=times,
    )
    ended = record.ended_at_ms
    session.restore(
        [from_record(each, now, patience=times.restart_grace) for each in invocations],
        pages=json.loads(record.pages),
        created_at_ms=record.created_at_ms,
        ended_at=None if ended is None else min(from_epoch_ms(ended, now), now.seconds),
        seq=record.seq_base + _SEQ_STEP,
        now=now,
    )
    return session


def to_record(invocation: Invocation, session_id: str, now: Instant) -> InvocationRecord:
    """What is kept of an invocation."""
    call = invocation.call
    settled = invocation.outcome is not None
    return InvocationRecord(
        id=invocation.id,
        session_id=session_id,
        tool=call.tool,
        args_key=call.args_key,
        timeout_ms=call.timeout_ms,
        exclusive=call.exclusive,
        safe_to_repeat=call.safe_to_repeat,
        call_id=call.call_id,
        joins=call.joins,
        approval=call.approval,
        turn_id=invocation.turn_id,
        turn_started_at=invocation.turn_started_at,
        args=call.args.text,
        deadline_ms=to_epoch_ms(invocation.deadline, now),
        instance_id=invocation.instance_id,
        seq=invocation.seq,
        cancel_seq=invocation.cancel_seq,
        cancel_reason=invocation.cancel_reason,
        settled_at_ms=to_epoch_ms(invocation.settled_at, now) if settled else None,
        acknowledged=invocation.acknowledged,
        given_up=invocation.given_up,
        outcome=_pack(invocation.outcome),
        late=_pack(invocation.late),
    )


def from_record(record: InvocationRecord, now: Instant, *, patience: float = 0) -> Invocation:
    """The invocation as it was when Core went, its callers gone.

    `patience`: seconds that an open one is given for its page to come back, should its deadline be over.
    """
    if record.settled_at_ms is not None:
        state = State.SETTLED
    else:
        state = State.QUEUED if record.instance_id is None else State.DELIVERED
    settled_at = record.settled_at_ms
    return Invocation(
        id=record.id,
        call=Call(
            tool=record.tool,
            args=RawJson(record.args),
            args_key=record.args_key,
            timeout_ms=record.timeout_ms,
            exclusive=bool(record.exclusive),
            safe_to_repeat=bool(record.safe_to_repeat),
            call_id=record.call_id,
            joins=bool(record.joins),
            approval=record.approval,
        ),
        turn_id=record.turn_id,
        turn_started_at=record.turn_started_at,
        deadline=_deadline(record, now, patience),
        state=state,
        instance_id=record.instance_id,
        seq=record.seq,
        cancel_seq=record.cancel_seq,
        cancel_reason=record.cancel_reason,
        outcome=unpack(record.outcome),
        settled_at=0.0 if settled_at is None else min(from_epoch_ms(settled_at, now), now.seconds),
        acknowledged=bool(record.acknowledged),
        given_up=bool(record.given_up),
        late=unpack(record.late),
    )


def _deadline(record: InvocationRecord, now: Instant, patience: float) -> float:
    """On the monotonic clock. A wall clock that was set meanwhile gives no call more time than it had."""
    limit = record.timeout_ms / 1000
    return now.seconds + min(max(from_epoch_ms(record.deadline_ms, now) - now.seconds, patience), limit)


def to_epoch_ms(moment: float, now: Instant) -> int:
    """A moment of the monotonic clock as wall-clock time."""
    return now.epoch_ms + round((moment - now.seconds) * 1000)


def from_epoch_ms(moment_ms: int, now: Instant) -> float:
    """The reverse of `to_epoch_ms`, on the monotonic clock of this process."""
    return now.seconds + (moment_ms - now.epoch_ms) / 1000


def _pack(outcome: Outcome | None) -> bytes | None:
    if outcome is None or outcome.spilled:
        return None
    if outcome.error is not None:
        kind, text = _ERROR, encode_value(outcome.error.to_wire(door=None))
    else:
        assert outcome.result is not None
        kind, text = _RESULT, outcome.result.text
    data = text.encode()
    if kind == _RESULT and len(data) > LARGE_BYTES:
        return kind + _COMPRESSED + zlib.compress(data, 1)
    return kind + _PLAIN + data


def unpack(packed: bytes | None) -> Outcome | None:
    """An outcome as the journal has it; one of which the journal gave only the first bytes is spilled."""
    if packed is None:
        return None
    kind, form, data = packed[:1], packed[1:2], packed[2:]
    if not data:
        return Outcome(spilled=True)
    text = (data if form == _PLAIN else zlib.decompress(data)).decode()
    if kind == _ERROR:
        return Outcome(error=PedelecError.from_wire(json.loads(text)))
    return Outcome(result=RawJson(text))
