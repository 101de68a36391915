"""What agents are told of their failing calls, beyond the failure itself.

Owns that a failure names the call to make next, and the remark on a call that fails again and again. When
that is said and when such a call is stopped, `loop_guard` decides; the sentences stand in
`pedelec.catalogue`.
"""

import hashlib
import json
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from pedelec.advice import advise
from pedelec.call_text import CallFacts
from pedelec.doors import COMMAND_LINE, Door
from pedelec.errors import Code, PedelecError
from pedelec.json_text import RawJson
from pedelec_core.args_key import key_of
from pedelec_core.invocation import Call, Outcome
from pedelec_core.loop_guard import AttemptedCall, LoopGuard, LoopLimits
from pedelec_core.sessions import Session

_NOT_A_LOOP: Final = frozenset({Code.TOOL_BUSY})
"""Failures that the agent has no part in: other calls are in the way, and waiting is all that helps."""

_MAX_ARGS_CHARS: Final = 64 * 1024
_MAX_ERROR_CHARS: Final = 64 * 1024


class CallWatch:
    """Watches the calls of all sessions, as long as they live."""

    def __init__(self, limits: LoopLimits | None = None) -> None:
        self._limits = limits or LoopLimits()
        self._guards: WeakKeyDictionary[Session, LoopGuard] = WeakKeyDictionary()

    def attempt(
        self,
        session: Session,
        tool: str,
        args_text: str,
        *,
        door: Door = COMMAND_LINE,
        is_guarded: bool = True,
    ) -> "Attempt":
        """An agent is about to make a call; one that is not guarded counts for nothing."""
        guard = self._guards.get(session) if is_guarded else None
        if guard is None:
            guard = LoopGuard(self._limits)
            if is_guarded:
                self._guards[session] = guard
        return Attempt(session, guard, tool, args_text, door)


class Attempt:
    """One call of an agent, from its wish to its answer. Made by `CallWatch.attempt`."""

    def __init__(self, session: Session, guard: LoopGuard, tool: str, args_text: str, door: Door) -> None:
        self._session = session
        self._guard = guard
        self._tool = tool
        self._args_text = args_text
        self._door = door
        self._key = AttemptedCall("", "")

    def admit(self, call: Call, now: float) -> None:
        """The call is in order. Raises `TOOL_LOOP_STOPPED` where it must not run all the same."""
        self._enter(call.args_key, now)

    def rejoin(self, call: Call) -> None:
        """The call is a retry and runs nothing. It is never stopped: its answer may have got lost."""
        self._key = AttemptedCall(self._tool, call.args_key)

    def refused(self, error: PedelecError, now: float) -> PedelecError:
        """The call is not in order: what to tell the agent (`TOOL_LOOP_STOPPED` from the fifth time on)."""
        try:
            self._enter(_key_of(self._args_text), now)
        except PedelecError as stopped:
            return stopped
        return self._told(error, self._failed(error.code, now))

    def not_run(self, error: PedelecError, now: float) -> PedelecError:
        """The call was admitted and could not begin: what to tell the agent."""
        return self._told(error, self._failed(error.code, now))

    def answered(self, outcome: Outcome, now: float, *, counts: bool) -> tuple[Outcome, str | None]:
        """What the agent is told of an outcome, and a remark beside it.

        Args:
            outcome: what the call came to. now: seconds, monotonic. counts: whether this is the first that
            is told of it: a joined or replayed answer is no repetition.
        """
        code = code_of(outcome)
        if code is None:
            self._guard.succeeded()
            return outcome, None
        remark = self._failed(code, now) if counts else None
        if outcome.error is None:
            return outcome, remark
        return replace(outcome, error=self._told(outcome.error, remark)), remark

    def _enter(self, args_key: str, now: float) -> None:
        self._key = AttemptedCall(self._tool, args_key)
        try:
            self._guard.admit(self._key, ",".join(self._session.pages), now)
        except PedelecError as stopped:
            raise self._told(stopped, None) from None

    def _failed(self, code: str, now: float) -> str | None:
        return None if code in _NOT_A_LOOP else self._guard.failed(self._key, code, now)

    def _told(self, error: PedelecError, remark: str | None) -> PedelecError:
        envelope = advise(error, facts_of(self._session, self._tool, self._args_text, self._door))
        if remark is not None:
            envelope["recoverySteps"] = [remark, *envelope.get("recoverySteps", [])]
        return PedelecError.from_wire(envelope)


def facts_of(session: Session, tool_name: str, args_text: str, door: Door) -> CallFacts:
    """A call as far as its failure has to be told."""
    registry = session.registry
    tool = registry.get(tool_name) if registry.knows(tool_name) else None
    return CallFacts(
        tool=tool_name,
        args=_object_in(args_text),
        safe_to_repeat=tool is not None and (tool.read_only or tool.idempotent),
        reader=registry.reader_for(tool_name),
        door=door,
    )


def _key_of(text: str) -> str:
    """By what arguments that were refused are known: however they are spaced, as long as they can be read."""
    args = _object_in(text)
    try:
        return key_of(args if args is not None else {"text": text})
    except ValueError:  # numbers or texts that no other JSON has
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _object_in(text: str) -> dict[str, Any] | None:
    """The arguments, where they can be written out again at all."""
    if len(text) > _MAX_ARGS_CHARS:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def code_of(outcome: Outcome) -> str | None:
    """The code of a failure, made by Core or by the page; None for a result."""
    if outcome.error is not None:
        return outcome.error.code
    return None if outcome.result is None else _code_in(outcome.result)


def _code_in(result: RawJson) -> str | None:
    text = result.text
    if not text.startswith('{"error":') or len(text) > _MAX_ERROR_CHARS:
        return None
    error = json.loads(text)["error"]
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else None
