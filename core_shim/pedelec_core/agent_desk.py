"""What agents may ask of Core: calls, and what there is to call.

Owns which session an agent means, the checks before a call is admitted, and the shape of its answer. How the
request came in (command line, MCP) is the business of whoever calls this.
"""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from pedelec.advice import advise
from pedelec.doors import COMMAND_LINE, Door
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue, RawJson, encode_value
from pedelec.protocol import DEFAULT_TOOL_TIMEOUT_MS, MAX_TOOL_TIMEOUT_MS
from pedelec_core import call_errors
from pedelec_core.args_key import key_of
from pedelec_core.author_desk import AuthorDesk
from pedelec_core.call_events import CallListener, Waiting
from pedelec_core.call_watch import Attempt, CallWatch, facts_of
from pedelec_core.failure_log import FailureLog
from pedelec_core.hub import Hub, Waiter, now
from pedelec_core.invocation import Accept, Answer, Call, ClientAnswer, Decision
from pedelec_core.loop_guard import LoopLimits
from pedelec_core.page_text import UNTRUSTED_NOTE
from pedelec_core.registry import parse_args
from pedelec_core.sessions import Session

_callers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRequest:
    """An agent's call, as it came in: nothing is checked yet."""

    thread_id: str | None
    tool: str
    args_text: str
    timeout_ms: int | None = None
    call_id: str | None = None
    joins: bool = True
    """As `invocation.Call.joins`."""
    door: Door = COMMAND_LINE
    """By which way the agent came: errors name the requests that it can make."""
    replay: bool = False
    """A person runs a failing call again, to see whether it still fails: no agent is caught in a loop."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What an agent is told of its call."""

    answer: Answer
    late: bool = False
    remark: str | None = None
    """What else the agent should know: that this call fails again and again."""
    untrusted: bool = False
    """The tool returns what others than the user and the page's author wrote."""

    @property
    def invocation_id(self) -> str:
        return self.answer.invocation.id

    @property
    def warning(self) -> str | None:
        """The remark, where it has to be told beside the outcome: an error carries it among its steps."""
        return self.remark if self.answer.outcome.error is None else None

    def to_wire(self) -> dict[str, JsonValue | RawJson]:
        """`{"ok":true,"result":…,"invocationId":…}`, or `error` in place of `result`."""
        outcome = self.answer.outcome
        told: dict[str, JsonValue | RawJson] = {"ok": outcome.error is None}
        if self.untrusted and outcome.error is None:
            told["notice"] = UNTRUSTED_NOTE  # before the result: what is long may be cut
        if outcome.error is None:
            told["result"] = outcome.result
        else:
            told["error"] = outcome.error.to_wire()
        told["invocationId"] = self.invocation_id
        if self.warning is not None:
            told["warning"] = self.warning
        flags = {"joined": self.answer.joined, "replayed": self.answer.replayed, "late": self.late}
        return told | {name: True for name, holds in flags.items() if holds}


class RunningCall:
    """A call that was admitted, in the hands of whoever made it. Made by `AgentDesk.begin`."""

    def __init__(
        self,
        hub: Hub,
        session: Session,
        call: Call,
        attempt: Attempt,
        failures: FailureLog,
        listener: CallListener | None,
        admit: Callable[[str], list[Decision]],
    ) -> None:
        self._hub = hub
        self._session = session
        self._call = call
        self._attempt = attempt
        self._failures = failures
        self._caller = f"caller_{next(_callers)}"
        self._waiter = Waiter(asyncio.get_running_loop().create_future(), listener)
        decisions = admit(self._caller)
        settled_or_new = next(
            (each.invocation for each in decisions if isinstance(each, (Accept, Answer))), None
        )
        invocation = settled_or_new or session.calls.awaited_by(self._caller)
        assert invocation is not None, "who is admitted waits for something"
        self._invocation = invocation
        hub.waiters[self._caller] = self._waiter
        hub.carry_out(session, decisions)
        if listener is not None and invocation.questions:  # joined while it waits for a person
            listener(self.waiting())

    @property
    def invocation_id(self) -> str:
        return self._invocation.id

    async def answer(self) -> CallAnswer:
        """Wait for the answer. Cancelling this coroutine does not cancel the call."""
        answer = await self._waiter.answer
        again = answer.joined or answer.replayed
        outcome, remark = self._attempt.answered(answer.outcome, now().seconds, counts=not again)
        self._failures.note(self.invocation_id, self._call, outcome)
        if outcome is not answer.outcome:
            answer = replace(answer, outcome=outcome)
        untrusted = _is_untrusted(self._session, self._call.tool)
        return CallAnswer(answer, remark=remark, untrusted=untrusted)

    def waiting(self) -> Waiting:
        """What the call waits to have answered by a person."""
        return Waiting(tuple(self._invocation.questions.values()))

    def is_answered(self, question_id: str) -> bool:
        """Whether a client has brought an answer to a question that the page has not taken yet."""
        return question_id in self._invocation.answers

    def answer_question(self, question_id: str, answer: ClientAnswer) -> None:
        """A person has answered in the agent's client."""
        decisions = self._session.calls.answer_question(self._invocation.id, question_id, answer)
        self._hub.carry_out(self._session, decisions)

    def leave(self) -> None:
        """Wait no longer. The call goes on: its caller may come back with a retry."""
        self._hub.waiters.pop(self._caller, None)
        self._session.calls.caller_gone(self._caller)

    def acknowledge(self) -> None:
        """The answer is in the caller's hands."""
        self._hub.carry_out(self._session, self._session.calls.acknowledge(self._invocation.id))

    def abandon(self) -> None:
        """The caller vanished before the answer reached it: the next equal call takes over."""
        self._session.calls.abandon(self._invocation.id)

    def call_off(self, by: str) -> None:
        """Settle it as `TOOL_CANCELLED` for everybody who waits, this caller too. `by` as in `cancel`."""
        self._hub.carry_out(self._session, self._session.calls.cancel(self._invocation.id, by, now()))

    def cancel(self, by: str) -> None:
        """Call it off, unless somebody else waits for the same answer. `by` says who did, in a few words."""
        self.leave()
        if not self._invocation.callers:
            self._hub.carry_out(self._session, self._session.calls.cancel(self._invocation.id, by, now()))
            self.acknowledge()


class AgentDesk:
    """Serves every agent, whichever way it came.

    Args:
        hub: whose sessions.
        loop_limits: when calls that keep failing, or never pause, are stopped.
    """

    def __init__(self, hub: Hub, loop_limits: LoopLimits | None = None) -> None:
        self._hub = hub
        self._watch = CallWatch(loop_limits)
        self._authors = AuthorDesk()

    def begin(self, request: ToolCallRequest, listener: CallListener | None = None) -> RunningCall:
        """Run a tool, or join or replay the call that this one is a retry of.

        Whoever begins a call also has to `leave` it.

        Raises:
            PedelecError: the call is refused and nothing ran (`TOOL_NOT_FOUND`, `TOOL_ARGS_INVALID`,
                `TOOL_LOOP_STOPPED`, …;
                `JOURNAL_UNAVAILABLE` while nothing can be written down).
        """
        moment = now()
        failure = self._hub.commits.failure
        session = self._session_for(request)
        attempt = self._watch.attempt(
            session, request.tool, request.args_text, door=request.door, is_guarded=not request.replay
        )
        if wait := session.call_rate.take(moment.seconds):
            too_fast = call_errors.too_fast(request.tool, self._hub.limits.calls.per_second, wait)
            raise attempt.not_run(too_fast, moment.seconds)
        try:
            call = self._call(session, request)
        except PedelecError as error:
            raise failure or attempt.refused(error, moment.seconds) from None
        if session.calls.is_retry(call, moment):
            attempt.rejoin(call)
        elif failure is not None:
            raise failure
        else:
            attempt.admit(call, moment.seconds)
        try:
            failures = self._authors.log_of(session)
            return RunningCall(
                self._hub,
                session,
                call,
                attempt,
                failures,
                listener,
                lambda caller: session.calls.call(call, caller, moment),
            )
        except PedelecError as error:
            raise attempt.not_run(error, moment.seconds) from None

    def take_up(
        self, invocation_id: str, request: ToolCallRequest, listener: CallListener | None = None
    ) -> RunningCall:
        """Wait again for a call whose caller left it in order to ask its user. Runs nothing.

        Raises:
            PedelecError: `INVOCATION_NOT_FOUND`; `CALL_ID_CONFLICT` where the request is for another call.
        """
        session = self._hub.session_with(invocation_id)
        invocation = None if session is None else session.calls.get(invocation_id)
        if session is None or invocation is None:
            raise call_errors.unknown_invocation(invocation_id)
        call = self._call(session, request)
        if call.key != invocation.call.key:
            raise call_errors.call_id_conflict(invocation_id, invocation.call.tool)
        attempt = self._watch.attempt(session, request.tool, request.args_text, door=request.door)
        attempt.rejoin(call)
        return RunningCall(
            self._hub,
            session,
            call,
            attempt,
            self._authors.log_of(session),
            listener,
            lambda caller: session.calls.take_up(invocation_id, caller),
        )

    def acknowledge(self, invocation_id: str) -> None:
        """The agent has its answer in hand."""
        session = self._hub.session_with(invocation_id)
        if session is not None:
            self._hub.carry_out(session, session.calls.acknowledge(invocation_id))

    def tool_list(self, thread_id: str | None) -> JsonObject:
        """The tools of a session, without their schemas."""
        session = self._session(thread_id)
        tools: list[JsonValue] = [
            {key: value for key, value in session.registry.get(name).to_wire().items() if key != "argsSchema"}
            for name in session.registry.names()
        ]
        return {"threadId": session.id, "guidance": session.guidance, "tools": tools}

    def tool_spec(self, thread_id: str | None, name: str) -> JsonObject:
        """All that is known of one tool, its schema included."""
        session = self._session(thread_id)
        return {"threadId": session.id, **session.registry.get(name).to_wire()}

    def threads(self) -> JsonObject:
        """The live sessions."""
        return {"threads": [_summary(session) for session in self._hub.live_sessions()]}

    def tool_result(self, invocation_id: str, door: Door = COMMAND_LINE) -> CallAnswer:
        """What a call came to; its late result, where one came after the agent was answered.

        Raises:
            PedelecError: `INVOCATION_NOT_FOUND`, or `TOOL_RESULT_PENDING` while there is nothing yet.
        """
        session = self._hub.session_with(invocation_id)
        invocation = None if session is None else session.calls.get(invocation_id)
        if invocation is None:
            raise call_errors.unknown_invocation(invocation_id)
        if (late := self._hub.commits.outcome(invocation, late=True)) is not None:
            untrusted = session is not None and _is_untrusted(session, invocation.call.tool)
            return CallAnswer(Answer("", invocation, late), late=True, untrusted=untrusted)
        outcome = self._hub.commits.outcome(invocation)
        may_come = session is not None and session.live and invocation.running_on_page
        if outcome is None or (outcome.error is not None and may_come):
            told = None if outcome is None or outcome.error is None else outcome.error.code
            raise call_errors.result_pending(invocation.call.tool, invocation.id, told)
        if outcome.error is not None:
            assert session is not None
            facts = facts_of(session, invocation.call.tool, invocation.call.args.text, door)
            outcome = replace(outcome, error=PedelecError.from_wire(advise(outcome.error, facts)))
        untrusted = session is not None and _is_untrusted(session, invocation.call.tool)
        return CallAnswer(Answer("", invocation, outcome), untrusted=untrusted)

    def lint(self, thread_id: str | None) -> JsonObject:
        """What is wrong with a session's tools, and with the errors that its page gave."""
        return self._authors.lint(self._session(thread_id))

    def failing_case(self, invocation_id: str) -> JsonObject:
        """A failing call as a test case, redacted.

        Raises:
            PedelecError: as `AuthorDesk.case`.
        """
        return self._authors.case(invocation_id)

    def status(self) -> JsonObject:
        """How Core is."""
        return self._hub.status()

    def _call(self, session: Session, request: ToolCallRequest) -> Call:
        """What is asked for. A retry runs nothing, so its tool may be gone by now, or take other arguments.

        Raises:
            PedelecError: it is neither in order nor a retry.
        """
        try:
            return self._checked(session, request)
        except PedelecError:
            retry = self._unchecked(request)
            if retry is None or not session.calls.is_retry(retry, now()):
                raise
            return retry

    def _unchecked(self, request: ToolCallRequest) -> Call | None:
        """A call as far as it can be told from another without its tool."""
        try:
            args = parse_args(request.args_text, self._hub.limits.wire)
        except PedelecError:
            return None
        return Call(
            tool=request.tool,
            args=RawJson(encode_value(args)),
            args_key=key_of(args),
            timeout_ms=DEFAULT_TOOL_TIMEOUT_MS,
            call_id=request.call_id,
            joins=request.joins,
        )

    def _checked(self, session: Session, request: ToolCallRequest) -> Call:
        tool = session.registry.get(request.tool)
        args = parse_args(request.args_text, self._hub.limits.wire)
        tool.validate(args)
        timeout_ms = request.timeout_ms or tool.timeout_ms or DEFAULT_TOOL_TIMEOUT_MS
        return Call(
            tool=tool.name,
            args=RawJson(encode_value(args)),
            args_key=key_of(args),
            timeout_ms=min(timeout_ms, MAX_TOOL_TIMEOUT_MS),
            exclusive=tool.exclusive,
            safe_to_repeat=tool.read_only or tool.idempotent,
            call_id=request.call_id,
            joins=request.joins,
            approval=tool.approval,
        )

    def _session_for(self, request: ToolCallRequest) -> Session:
        """The session that a call means: a live one, or an ended one that still owes the answer to this call.

        An agent that was cut off may come back with its retry after the page was closed.
        """
        try:
            return self._session(request.thread_id)
        except PedelecError:
            if request.thread_id is not None or not self._hub.live_sessions():
                ended = [each for each in self._hub.sessions.values() if not each.live]
                for session in reversed(ended):
                    if request.thread_id in {None, session.id} and self._owes(session, request):
                        return session
            raise

    def _owes(self, session: Session, request: ToolCallRequest) -> bool:
        try:
            return session.calls.has_answer(self._call(session, request), now())
        except PedelecError:
            return False

    def _session(self, thread_id: str | None) -> Session:
        """The session that an agent means: the named one, else the only live one.

        One whose page is away does not count beside one whose page is here: it is the leftover of a
        reload, about to end.

        Raises:
            PedelecError: `THREAD_NOT_FOUND`, or `PEDELEC_THREAD_ID_NOT_FOUND`; both list the live ones.
        """
        named = None if thread_id is None else self._hub.sessions.get(thread_id)
        if named is not None and named.live:
            return named
        live = self._hub.live_sessions()
        if thread_id is not None:
            raise _no_session(Code.THREAD_NOT_FOUND, f"No live session is called {thread_id}.", live)
        candidates = [session for session in live if session.page_count] or live
        if len(candidates) != 1:
            known = f"{len(candidates)} sessions are live: name one" if live else "No page offers tools now"
            raise _no_session(Code.PEDELEC_THREAD_ID_NOT_FOUND, f"{known}.", live)
        return candidates[0]


def _is_untrusted(session: Session, tool: str) -> bool:
    """Whether a tool's results are others' words; so they are where it is not known any more."""
    return not session.registry.knows(tool) or session.registry.get(tool).untrusted_content


def _summary(session: Session) -> JsonObject:
    return {
        "threadId": session.id,
        "appName": session.app_name,
        "origin": session.origin,
        "createdAt": session.created_at_ms,
        "pages": session.page_count,
        "tools": len(session.registry.names()),
        "runningCalls": session.calls.running(),
    }


def _no_session(code: Code, message: str, live: list[Session]) -> PedelecError:
    steps = [] if live else ["Ask the user to open the page, then call again."]
    listed: list[JsonValue] = [_summary(session) for session in live[:10]]
    details: JsonObject = {"threads": listed}
    if live:
        details["liveThread"] = live[0].id
    if len(live) > len(listed):
        details["leftOut"] = {"threads": len(live) - len(listed)}
    return PedelecError(code, message, recovery_steps=steps, details=details)
