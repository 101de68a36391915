"""One session: its handlers, its running calls, its status and its events.

Owns that each call is run once and answered once, and what callbacks hear. Frames and times go in; messages
go out through the owner (`switchboard`), who also runs the coroutines. Does no I/O and reads no clock.
"""

import functools
import logging
import re
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, overload

from pedelec import calls
from pedelec.call_text import CallFacts, best_reader
from pedelec.context import EventContext, StatusContext, ToolContext
from pedelec.errors import Code, Effects, PedelecError
from pedelec.events import Callbacks
from pedelec.handlers import Bound, HandlerTable, Registration
from pedelec.host import Host
from pedelec.json_text import JsonObject, RawJson
from pedelec.person import Person
from pedelec.protocol import TOOL_NAME_PATTERN, Message, ToolAnswer, ToolCall, ToolProgress
from pedelec.tools import CheckedTools, ToolDefinition

logger = logging.getLogger("pedelec")

MAX_REMEMBERED_CALLS = 1_024
_MISSING = object()


class SessionOwner(Protocol):
    """What a session needs of the client that it belongs to."""

    @property
    def host(self) -> Host: ...

    @property
    def max_result_bytes(self) -> int: ...

    @property
    def question_handler(self) -> Bound | None:
        """The page author's own way of asking a person, if there is one."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine, at once as far as it goes without waiting."""

    def send(self, message: Message) -> None:
        """Send a message that nobody misses if the connection is down."""

    def submit(self, session_id: str, tool_request_id: str, result: RawJson) -> None:
        """Deliver a result, after a reconnect if need be."""

    def submit_again(self, tool_request_id: str) -> None:
        """Send a result once more if Core has not confirmed it yet."""

    async def end_session(self, session_id: str) -> None: ...

    async def offer_tools(self, session_id: str, manifests: list[JsonObject]) -> None:
        """Offer tools besides the declared ones: all of them, each time. Raises as Core says."""

    async def check_args(self, session_id: str, tool: str, args: JsonObject) -> None:
        """Have Core check arguments. Raises `TOOL_ARGS_INVALID`, or why they could not be checked."""


class PedelecSession:
    """A session, made by `Pedelec.create_session` or `resume_session`.

    Attributes:
        session_id: also the agent's thread id.
        session_created_at: when this object was made, in milliseconds since the epoch.
    """

    def __init__(self, owner: SessionOwner, session_id: str, tools: CheckedTools | None) -> None:
        self.session_id = session_id
        self.session_created_at = round(owner.now() * 1000)
        self._owner = owner
        self._handlers = HandlerTable(owner.host)
        self._on_error = Callbacks("on_error", ("error", "ctx"), owner.host, owner.start)
        self._on_status = Callbacks("on_status", ("status", "ctx"), owner.host, owner.start)
        self._on_ended = Callbacks("on_ended", ("ctx",), owner.host, owner.start)
        self._running: dict[str, ToolContext] = {}
        self._answers_here: dict[str, Callable[[RawJson], None]] = {}  # for calls that Core knows nothing of
        self._held: dict[str, JsonObject] = {}  # arguments of calls that came before their handler could
        self._holding = True
        self._seen: dict[str, str] = {}  # request id → tool, oldest first
        self._declared: dict[str, JsonObject] | None = None  # unknown where another page declared them
        self._person = Person(owner, session_id, functools.partial(self._refresh_status, "sdk"))
        self._found: dict[str, JsonObject] = {}  # what was found in the page besides
        self._on_joined: list[Callable[[], None]] = []
        self._traits: dict[str, tuple[bool, str | None]] = {}  # by tool, for `_facts`
        self._warned: set[str] = set()
        self._status = "idle"
        self._ended = self._ending = self._failed = self._disconnected = False
        if tools is not None:
            self._declare(tools)

    # --- handlers -----------------------------------------------------------------------------------

    @overload
    def on_tool[F: Callable[..., Any]](self, tool: str) -> Callable[[F], F]: ...
    @overload
    def on_tool(self, tool: str, handler: object) -> Registration: ...
    @overload
    def on_tool(self, tool: Callable[..., Any]) -> Registration: ...

    def on_tool(self, tool: object, handler: object = _MISSING) -> Any:
        """Set the handler of one tool, or the generic one for tools that have none.

        ``session.on_tool("name", fn)`` and ``session.on_tool(fn)`` return a disposer;
        ``@session.on_tool("name")`` and ``@session.on_tool`` leave the function usable. A named handler is
        called with `(args, ctx)` or fewer, the generic one with `(tool, args, ctx)` or fewer; either may be
        sync or async. A second handler of the same name replaces the first; a call that is running
        finishes with the old one.

        Raises:
            PedelecError: `INVALID_INPUT` for a name that no tool can have or what cannot be called.
        """
        if not isinstance(tool, str):
            return Registration(tool, self._registered(self._handlers.set_generic(tool)))
        if not re.fullmatch(TOOL_NAME_PATTERN, tool):
            raise PedelecError(
                Code.INVALID_INPUT,
                f"Tool name {tool!r:.200} must match {TOOL_NAME_PATTERN}.",
                details={"field": "name"},
            )
        if handler is not _MISSING:
            return self._set_named(tool, handler)

        def decorate[F](function: F) -> F:
            self._set_named(tool, function)
            return function

        return decorate

    def on_error(self, callback: object) -> Registration:
        """Call `callback(error, ctx)` for each failure of session or delivery; returns a disposer."""
        return self._on_error.add(callback)

    def on_status(self, callback: object) -> Registration:
        """Call `callback(status, ctx)` whenever the status changes; returns a disposer."""
        return self._on_status.add(callback)

    def on_ended(self, callback: object) -> Registration:
        """Call `callback(ctx)` once when the session is over; returns a disposer."""
        return self._on_ended.add(callback)

    def get_status(self) -> str:
        """What the session is about.

        `idle`, `waiting_tool_result` while calls run, `waiting_user` while one of them waits for a person,
        `error` while Core is out of reach, or `ended`.
        """
        return self._status

    async def end(self) -> None:
        """End the session. A second call does nothing.

        Raises:
            PedelecError: Core did not confirm; `on_error` hears of it too, and `end` may be called again.
        """
        if self._ended or self._ending:
            return
        self._ending = True
        try:
            await self._owner.end_session(self.session_id)
        except PedelecError as error:
            self._emit_error(error, "sdk")
            raise
        finally:
            self._ending = False
        self._end("sdk")

    async def import_webmcp(self) -> Callable[[], None]:
        """Offer the tools to Core that this page registers with the browser (WebMCP), whichever script does.

        Follows their changes until the session ends, or until what this returns is called. Their calls are
        run by the browser. Where the browser has no such API, nothing is offered.

        Raises:
            PedelecError: Core refused, or could not be reached; call it again.
        """
        from pedelec.webmcp import inbound  # when a page first asks for it

        return await inbound.follow(self, self._owner.host)

    importWebmcp = import_webmcp  # noqa: N815 - the TypeScript SDK's way of naming
    onTool = on_tool  # noqa: N815 - the TypeScript SDK's names
    onError = on_error  # noqa: N815
    onStatus = on_status  # noqa: N815
    onEnded = on_ended  # noqa: N815
    getStatus = get_status  # noqa: N815

    def _set_named(self, tool: str, handler: object) -> Registration:
        function = handler.handler if isinstance(handler, ToolDefinition) else handler
        dispose = self._registered(self._handlers.set_named(tool, function))
        if self._declared is not None and tool not in self._declared:
            self._warn_once(tool, "A handler is set for %s, but the session declares no such tool.")
        return Registration(function, dispose)

    def _registered(self, dispose: Callable[[], None]) -> Callable[[], None]:
        self._start_held()
        return dispose

    # --- calls (from here on: for the owner) ----------------------------------------------------------

    def _declare(self, tools: CheckedTools) -> None:
        self._declared = {str(manifest["name"]): manifest for manifest in tools.manifests}
        self._traits.clear()
        self._handlers.replace_inline(tools.handlers)
        self._person.decides_by(tools.approvals)

    def _set_found(self, tools: dict[str, JsonObject], handlers: dict[str, Bound]) -> None:
        """The tools that were found in the page besides the declared ones, and how they are run."""
        self._found = tools
        self._traits.clear()
        self._handlers.replace_found(handlers)

    def _call_here(self, message: ToolCall, answer: Callable[[RawJson], None]) -> None:
        """Run a call that did not come from Core; its one result goes to `answer`."""
        if self._ended:
            answer(self._failure(message.tool, PedelecError(Code.SESSION_ENDED)))
            return
        self._answers_here[message.tool_request_id] = answer
        self._call(message, self._owner.now(), source="sdk")

    def _give_up_here(self, request_id: str, error: PedelecError, reason: str) -> None:
        """Answer such a call with an error while it still runs; tell its handler that nobody waits."""
        ctx = self._running.pop(request_id, None)
        if ctx is not None:
            self._held.pop(request_id, None)
            self._person.forget(request_id)
            ctx.cancelled.set(reason)
            self._answers_here.pop(request_id)(self._failure(ctx.tool, error))
            self._refresh_status("sdk")

    def _failure(self, tool: str, error: PedelecError) -> RawJson:
        return calls.failure(error, self._facts(tool)).result

    def _call(self, message: ToolCall, received_at: float, *, source: str = "core") -> None:
        """Run a call, unless it was seen before."""
        request_id = message.tool_request_id
        if self._ended:
            return
        if request_id in self._seen:
            self._owner.submit_again(request_id)
            return
        self._remember(request_id, message.tool)
        ctx = ToolContext(
            type="tool_call",
            source=source,
            session_id=self.session_id,
            session_created_at=self.session_created_at,
            event_received_at=round(received_at * 1000),
            event_emitted_at=round(received_at * 1000),
            turn_id=message.turn_id,
            turn_started_at=message.turn_started_at,
            turn_kind="user",
            tool_request_id=request_id,
            tool=message.tool,
            deadline=received_at + message.timeout_ms / 1000,
            now=self._owner.now,
            report=functools.partial(self._report_progress, request_id),
            put_question=self._person.ask,
        )
        self._person.expect(message)
        self._running[request_id] = ctx
        self._failed = False
        self._refresh_status(source)
        assert not isinstance(message.args, RawJson)  # decoded frames hold values
        handler = self._handlers.find(message.tool)
        if handler is not None:
            self._owner.start(self._run(handler, message.args, ctx))
        elif self._holding:
            self._held[request_id] = message.args
        else:
            self._refuse(ctx)

    def _cancel(self, tool_request_id: str, reason: str) -> None:
        ctx = self._running.get(tool_request_id)
        if ctx is not None:
            ctx.cancelled.set(reason)

    def _stop_holding(self) -> None:
        """The page has had time to set its handlers: warn of those that are missing, refuse their calls."""
        self._holding = False
        if not self._ended and not self._handlers.has_generic():
            for tool in sorted(set(self._declared or ()) - self._handlers.names()):
                self._warn_missing(tool)
        for request_id in list(self._held):
            del self._held[request_id]
            if request_id in self._running:
                self._refuse(self._running[request_id])

    def _start_held(self) -> None:
        for request_id, args in list(self._held.items()):
            ctx = self._running.get(request_id)
            handler = None if ctx is None else self._handlers.find(ctx.tool)
            if ctx is not None and handler is not None:
                del self._held[request_id]
                self._owner.start(self._run(handler, args, ctx))

    async def _run(self, handler: Bound, args: JsonObject, ctx: ToolContext) -> None:
        owner, facts = self._owner, self._facts(ctx.tool, args)
        limit = owner.max_result_bytes
        handler = self._person.guard(handler, ctx)
        self._settle(ctx, await calls.run(handler, args, ctx, facts, max_bytes=limit, host=owner.host))

    def _refuse(self, ctx: ToolContext) -> None:
        self._warn_missing(ctx.tool)
        names = self._handlers.names()
        others = sorted(names if self._declared is None else names & {*self._declared, *self._found})
        error = PedelecError(Code.TOOL_HANDLER_NOT_FOUND, suggestions=others, details={"tool": ctx.tool})
        self._settle(ctx, calls.failure(error, self._facts(ctx.tool)))

    def _facts(self, tool: str, args: JsonObject | None = None) -> CallFacts:
        if tool not in self._traits:
            manifests = {**self._found, **(self._declared or {})}
            own = manifests.get(tool, {})
            safe_to_repeat = bool(own.get("readOnly") or own.get("idempotent"))
            self._traits[tool] = (safe_to_repeat, best_reader(tool, manifests.values()))
        safe_to_repeat, reader = self._traits[tool]
        return CallFacts(tool=tool, args=args, safe_to_repeat=safe_to_repeat, reader=reader)

    def _settle(self, ctx: ToolContext, outcome: calls.Outcome) -> None:
        """The one place where a call gets its answer. After the end of the session nobody waits for one."""
        if self._running.pop(ctx.tool_request_id, None) is None:
            return
        self._person.forget(ctx.tool_request_id)
        answer = self._answers_here.pop(ctx.tool_request_id, None)
        if answer is not None:
            answer(outcome.result)
        else:
            self._owner.submit(self.session_id, ctx.tool_request_id, outcome.result)
        if outcome.fault is not None:
            self._delivery_failed(ctx.tool_request_id, outcome.fault)
        self._refresh_status("sdk")

    def _remember(self, request_id: str, tool: str) -> None:
        self._seen[request_id] = tool
        if len(self._seen) > MAX_REMEMBERED_CALLS:
            oldest = next((seen for seen in self._seen if seen not in self._running), request_id)
            del self._seen[oldest]

    def _report_progress(
        self, request_id: str, done: float, total: float | None, message: str | None
    ) -> None:
        if request_id in self._running and request_id not in self._answers_here:
            self._owner.send(
                ToolProgress(
                    session_id=self.session_id,
                    tool_request_id=request_id,
                    done=done,
                    total=total,
                    message=message,
                )
            )

    def _answered(self, message: ToolAnswer) -> None:
        """A person answered through the agent's client."""
        self._person.answered(message)

    # --- events -----------------------------------------------------------------------------------------

    def _delivery_failed(self, tool_request_id: str, cause: PedelecError) -> None:
        """Tell the page's author that a result did not arrive as it was."""
        tool = self._seen.get(tool_request_id, tool_request_id)
        details = {**(cause.details or {}), "tool": tool, "toolRequestId": tool_request_id}
        message = cause.message
        if cause.code != Code.SUBMIT_TOOL_RESULT_FAILED:  # Core's own word for it, which names the cause
            details["cause"] = cause.code
            message = f"The result of {tool} was not delivered. {message}"
        error = PedelecError(Code.SUBMIT_TOOL_RESULT_FAILED, message, details=details)
        self._emit_error(error, "sdk")

    def _session_failed(self, error: PedelecError, source: str) -> None:
        self._failed = self._failed or not error.is_retryable  # else it goes on by itself
        self._refresh_status(source)
        self._emit_error(error, source)

    def _connection_changed(self, *, connected: bool) -> None:
        self._disconnected = not connected
        if connected:
            self._failed = False
            self._person.tell_again()
        self._refresh_status("sdk")
        if connected:
            for callback in self._on_joined:
                callback()

    def _end(self, source: str) -> None:
        """The session is over, for whatever reason. Doing it twice does nothing."""
        if self._ended:
            return
        if self._ending:  # asked for here: Core's word of it may come before its answer
            source = "sdk"
        self._ended = True
        running, self._running = self._running, {}
        self._held.clear()
        for ctx in running.values():
            ctx.cancelled.set("ended")
            answer = self._answers_here.pop(ctx.tool_request_id, None)
            if answer is not None:
                error = PedelecError(Code.SESSION_ENDED, effects=Effects.UNKNOWN)
                answer(self._failure(ctx.tool, error))
        self._refresh_status(source)
        self._on_ended.fire(EventContext(**self._event("ended", source)))

    def _emit_error(self, error: PedelecError, source: str) -> None:
        self._on_error.fire(error, EventContext(**self._event("error", source)))

    def _refresh_status(self, source: str) -> None:
        if self._ended:
            status = "ended"
        elif self._disconnected or self._failed:
            status = "error"
        elif self._person.waits():
            status = "waiting_user"
        else:
            status = "waiting_tool_result" if self._running else "idle"
        if status != self._status:
            previous, self._status = self._status, status
            if self._on_status:  # it changes twice with most calls, and hardly anybody listens
                event = self._event("status_changed", source)
                context = StatusContext(**event, status=status, previous_status=previous)
                self._on_status.fire(status, context)

    def _event(self, name: str, source: str) -> dict[str, Any]:
        event: dict[str, Any] = {
            "type": name if source == "core" else f"sdk_{name}",
            "source": source,
            "session_id": self.session_id,
            "session_created_at": self.session_created_at,
            "event_emitted_at": round(self._owner.now() * 1000),
        }
        if self._running:
            call = next(reversed(self._running.values()))
            event |= {
                "turn_id": call.turn_id,
                "turn_started_at": call.turn_started_at,
                "turn_kind": call.turn_kind,
            }
        return event

    def _warn_missing(self, tool: str) -> None:
        self._warn_once(tool, "The tool %s has no handler: set one with session.on_tool(...).")

    def _warn_once(self, tool: str, message: str) -> None:
        if tool not in self._warned:
            self._warned.add(tool)
            logger.warning(message, tool)
