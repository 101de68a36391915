"""What inspectors may ask of Core: reads their frames, answers their requests, tells them what happens.

Owns which sessions an inspector sees: those of its own origin and no other. Calls are made at the agent desk,
as every agent's; lives are kept in `lives`. Knows no sockets: an inspector is anything that can `send` and
`close`.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue, RawJson, encode_object
from pedelec_core import __version__, call_errors
from pedelec_core.agent_desk import AgentDesk, RunningCall, ToolCallRequest
from pedelec_core.hub import Hub, PageConnection, now
from pedelec_core.inspector import messages
from pedelec_core.inspector.commands import Commands
from pedelec_core.inspector.lives import CallLives, Life
from pedelec_core.inspector.messages import Acknowledge, Call, Cancel, Question, Result, Tools, Watch
from pedelec_core.invocation import Decision
from pedelec_core.sessions import Session

CLOSE_PROTOCOL_ERROR: Final = 1002  # RFC 6455, section 7.4.1
CLOSE_TRY_AGAIN_LATER: Final = 1013  # the registry of RFC 6455, section 11.7
MAX_CALLS_AT_ONCE: Final = 32

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Inspector:
    connection: PageConnection
    watches: bool = False
    with_arguments: bool = False
    running: dict[str, RunningCall] = field(default_factory=dict)  # by request id
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def sees(self, session: Session | None) -> bool:
        return session is not None and session.origin == self.connection.origin


class InspectorDesk:
    """Serves every connected inspector. Until the first one comes, it costs Core nothing.

    Args:
        hub: the sessions. agents: makes the calls.
        commands: what to tell pages of Core's own of the commands that reach it.
        own_origins: Core's own.
    """

    def __init__(self, hub: Hub, agents: AgentDesk, commands: Commands, own_origins: frozenset[str]) -> None:
        self._hub = hub
        self._agents = agents
        self._commands = commands
        self._own_origins = own_origins
        self._inspectors: dict[str, _Inspector] = {}  # by connection id
        self._lives: CallLives | None = None
        self._changed: dict[str, Life] = {}
        self._sessions_changed = False

    # --- as the server calls it -----------------------------------------------------------------------------

    def opened(self, connection: PageConnection) -> None:
        """An inspector's connection is open. It hears nothing until it asks to `watch`."""
        of_origin = sum(each.connection.origin == connection.origin for each in self._inspectors.values())
        if of_origin >= self._hub.limits.connections.connections_per_origin:
            connection.close(CLOSE_TRY_AGAIN_LATER, "too many connections")
            return
        self._inspectors[connection.id] = _Inspector(connection)

    def closed(self, connection: PageConnection) -> None:
        """It is gone. Its calls go on: as with any agent's, the same call again takes them over."""
        inspector = self._inspectors.pop(connection.id, None)
        if inspector is not None:
            for task in inspector.tasks:
                task.cancel()

    def browser_answered(self, connection: PageConnection) -> None:
        """A pong; inspectors have no heartbeat."""

    def frame(self, connection: PageConnection, text: str) -> None:
        """One frame of an inspector."""
        inspector = self._inspectors.get(connection.id)
        if inspector is None:
            return
        match messages.read(text):
            case None:
                connection.close(CLOSE_PROTOCOL_ERROR, "no inspector's frame")
            case Watch(arguments=arguments):
                self._watch(inspector, arguments=arguments)
            case Acknowledge(invocation_id=invocation_id):
                if inspector.sees(self._hub.session_with(invocation_id)):
                    self._agents.acknowledge(invocation_id)
            case Cancel(request_id=request_id):
                if (running := inspector.running.get(request_id)) is not None:
                    running.call_off("the person at the inspector")
            case question:
                task = asyncio.create_task(self._serve(inspector, question))
                inspector.tasks.add(task)
                task.add_done_callback(inspector.tasks.discard)

    # --- requests -------------------------------------------------------------------------------------------

    async def _serve(self, inspector: _Inspector, question: Question) -> None:
        try:
            line = encode_object(await self._answer(inspector, question))
        except PedelecError as error:
            line = encode_object(_failure(error))
        except Exception:  # noqa: BLE001 — a request is answered, whatever happens
            _log.exception("an inspector's %s request failed", question.type)
            line = encode_object(_failure(PedelecError(Code.INTERNAL_ERROR)))
        inspector.connection.send(messages.answer(question.request_id, line))

    async def _answer(self, inspector: _Inspector, question: Question) -> Mapping[str, JsonValue | RawJson]:
        match question:
            case Tools(thread_id=thread_id):
                return {"ok": True, "result": self._tools(self._seen(inspector, thread_id))}
            case Result(invocation_id=invocation_id):
                if not inspector.sees(self._hub.session_with(invocation_id)):
                    raise call_errors.unknown_invocation(invocation_id)
                return self._agents.tool_result(invocation_id).to_wire()
            case Call():
                self._seen(inspector, question.thread_id)
                return await self._call(inspector, question)

    def _seen(self, inspector: _Inspector, thread_id: str) -> Session:
        """A session of the inspector's own origin. Another's is refused as one that does not exist."""
        session = self._hub.sessions.get(thread_id)
        if session is None or not inspector.sees(session):
            raise PedelecError(Code.THREAD_ACCESS_DENIED)
        return session

    @staticmethod
    def _tools(session: Session) -> JsonObject:
        registry = session.registry
        tools: list[JsonValue] = [registry.get(name).to_wire() for name in registry.names()]
        return {"threadId": session.id, "guidance": session.guidance, "tools": tools}

    async def _call(self, inspector: _Inspector, call: Call) -> Mapping[str, JsonValue | RawJson]:
        if call.request_id in inspector.running or len(inspector.running) >= MAX_CALLS_AT_ONCE:
            raise call_errors.busy(call.tool, len(inspector.running), "run")
        connection = inspector.connection
        request = ToolCallRequest(
            thread_id=call.thread_id,
            tool=call.tool,
            args_text=call.args_text,
            timeout_ms=call.timeout_ms,
        )
        running = self._agents.begin(
            request, lambda heard: connection.send(messages.event(call.request_id, heard))
        )
        inspector.running[call.request_id] = running
        connection.send(messages.started(call.request_id, running.invocation_id))
        try:
            return (await running.answer()).to_wire()
        finally:
            inspector.running.pop(call.request_id, None)
            running.leave()

    # --- what happens ---------------------------------------------------------------------------------------

    def _watch(self, inspector: _Inspector, *, arguments: bool) -> None:
        if self._lives is None:
            self._lives = CallLives()
            for session in self._hub.sessions.values():
                self._lives.take_up(session, now())
            self._hub.observe(self._observe)
            self._hub.watch(self._offer_changed)
        is_new, inspector.watches, inspector.with_arguments = not inspector.watches, True, arguments
        connection = inspector.connection
        if is_new:
            commands = self._commands if connection.origin in self._own_origins else Commands()
            connection.send(
                messages.core(__version__, self._hub.instance_id, list(commands.cli), list(commands.mcp))
            )
            self._tell_sessions(inspector)
        lives = self._lives.of(connection.origin)
        connection.send(messages.calls(lives, with_arguments=arguments))

    def _observe(self, session: Session, decision: Decision) -> None:
        assert self._lives is not None
        asked = any(each.with_arguments and each.sees(session) for each in self._inspectors.values())
        life = self._lives.observe(session, decision, now(), with_arguments=asked)
        if life is not None and self._inspectors:
            self._changed[life.invocation_id] = life
            self._hub.commits.tell(self._tell_changes)

    def _offer_changed(self) -> None:
        if self._inspectors:
            self._sessions_changed = True
            self._hub.commits.tell(self._tell_changes)

    def _tell_changes(self) -> None:
        """Tell everybody what changed in this turn of the event loop, once."""
        changed, self._changed = self._changed, {}
        sessions_changed, self._sessions_changed = self._sessions_changed, False
        for inspector in [each for each in self._inspectors.values() if each.watches]:
            if sessions_changed:
                self._tell_sessions(inspector)
            connection = inspector.connection
            lives = [life for life in changed.values() if life.origin == connection.origin]
            if lives:
                connection.send(messages.calls(lives, with_arguments=inspector.with_arguments))

    def _tell_sessions(self, inspector: _Inspector) -> None:
        seen = [session for session in self._hub.live_sessions() if inspector.sees(session)]
        inspector.connection.send(messages.sessions(seen))


def _failure(error: PedelecError) -> JsonObject:
    return {"ok": False, "error": error.to_wire()}
