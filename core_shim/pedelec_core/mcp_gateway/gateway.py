"""The MCP server in Core: answers the requests of every client, whichever way they come.

Owns which request leads to what, and who hears that the list of tools changed. Knows no transport: `http` and
`lines` bring the requests and say what became of the answers.
"""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CancelledNotificationParams,
    InputRequiredResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from pedelec.doors import MCP, Door
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject
from pedelec_core import __version__, call_errors
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.call_events import CallEvent
from pedelec_core.hub import Hub
from pedelec_core.registry import Tool, parse_args
from pedelec_core.sessions import Session

from . import instructions, own_tools, results
from .calls import BY_CLIENT, CallKey, CallsInFlight, answer_unless, core_stops
from .catalogue import Catalogue
from .elicitation import ParkedCalls, interim, questions_for
from .progress import ProgressPump
from .sdk_server import QuietServer
from .stored_results import StoredResults, refuse_cursor
from .wire import CALL_ID_META, RECEIVED_METHOD, Channel, ReceivedParams, to_json

_SETTLE_SECONDS: Final = 0.05
"""Changes that come together are told together."""

_TELL_SECONDS: Final = 5.0
_MAX_LISTENERS: Final = 256
_MAX_CALL_ID_CHARS: Final = 200

_log = logging.getLogger(__name__)

type Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class _Listener:
    """A client that shook hands, and how many changes there had been by then."""

    session: ServerSession
    since: int


class Gateway:
    """One MCP server over all sessions.

    Args:
        hub: whose sessions.
        desk: where calls are made.
        rank: the place of an origin among the approved ones, the first approved first.
    """

    def __init__(self, hub: Hub, desk: AgentDesk, rank: Callable[[str], int]) -> None:
        self.calls = CallsInFlight()
        self._parked = ParkedCalls()
        self._hub = hub
        self._desk = desk
        self._rank = rank
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._listeners: OrderedDict[str, _Listener] = OrderedDict()  # by channel
        self._changes = 0  # of the list of tools, so far
        self._catalogue = self._read_offers()
        self._announced = self._catalogue
        self._is_stale = False
        self._timer: asyncio.TimerHandle | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self._stopping: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.server = self._make_server()
        hub.watch(self._offer_changed)

    def _make_server(self) -> QuietServer:
        stored = StoredResults(self._desk)
        server = QuietServer(
            "pedelec",
            version=__version__,
            title="Pedelec: tools of open web pages",
            instructions=instructions.render(self._catalogue.apps),
            get_tool_input_schema=self._args_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=stored.list,
            on_list_resource_templates=stored.templates,
            on_read_resource=stored.read,
            on_subscriptions_listen=self._listen,
        )
        server.add_notification_handler("notifications/initialized", NotificationParams, self._initialized)
        server.add_notification_handler(
            "notifications/cancelled", CancelledNotificationParams, self._cancelled
        )
        server.add_notification_handler(RECEIVED_METHOD, ReceivedParams, self._received)
        return server

    def channel_gone(self, channel_id: str) -> None:
        """A client's connection is gone, for whatever reason."""
        self._listeners.pop(channel_id, None)
        self.calls.connection_lost(channel_id)

    def stream_opened(self, channel_id: str) -> None:
        """A client has opened the stream by which it hears of changes: what came before is told now."""
        listener = self._listeners.get(channel_id)
        if listener is not None and listener.since != self._changes:
            self._spawn(_tell(listener.session))

    def close(self) -> None:
        """End all subscriptions, and answer the calls that run: Core is about to stop."""
        self._stopping.set_result(None)
        self._listen.close()
        if self._timer is not None:
            self._timer.cancel()

    # --- what there is --------------------------------------------------------------------------------------

    def _read_offers(self) -> Catalogue:
        return Catalogue(self._hub.live_sessions(), self._rank, own_tools.REGISTRY.names())

    def _current(self) -> Catalogue:
        if self._is_stale:
            self._catalogue = self._read_offers()
            self._is_stale = False
        return self._catalogue

    def _offer_changed(self) -> None:
        self._is_stale = True
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SETTLE_SECONDS, self._settle)

    def _settle(self) -> None:
        self._timer = None
        before, self._announced = self._announced, self._current()
        self.server.instructions = instructions.render(self._announced.apps)
        if before.signature() != self._announced.signature():
            self._spawn(self._bus.publish(ToolsListChanged()))
            self._changes += 1
            for listener in self._listeners.values():
                self._spawn(_tell(listener.session))

    def _spawn(self, telling: Any) -> None:
        task = asyncio.create_task(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _args_schema(self, name: str) -> JsonObject | None:
        """What a tool takes: asked at each call, as arguments may stand in headers too (MCP 2026-07-28)."""
        entry = self._current().entries.get(name)
        return None if entry is None else entry.tool.args_schema

    async def _list_tools(self, _ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        refuse_cursor(params)
        own = [_listed(name, own_tools.REGISTRY.get(name), None) for name in own_tools.REGISTRY.names()]
        entries = self._current().entries.values()
        pages = [_listed(each.name, each.tool, results.meta_of_tool(each)) for each in entries]
        return ListToolsResult(tools=[*own, *pages])

    # --- calls ----------------------------------------------------------------------------------------------

    async def call_tool(
        self, ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Answer `tools/call`.

        Raises:
            MCPError: there is no such tool, or no such `requestState` (-32602). Every other failure is a
                result.
        """
        try:
            args_text = to_json(params.arguments or {})
            own = own_tools.own_tool(params.name)
            if own is not None:
                return await self._call_own(ctx, params, own, args_text)
            catalogue = self._current()
            entry = catalogue.entries.get(params.name)
            if entry is None:
                error = own_tools.not_found(catalogue, params.name)
                raise MCPError(INVALID_PARAMS, error.message, error.to_wire(MCP))
            return await self._call_page(ctx, params, own_tools.Target(entry, entry.session.id, args_text))
        except PedelecError as error:
            return results.of_error(error)
        except MCPError:
            raise
        except Exception:  # noqa: BLE001 - whatever it was: its text is not the client's to see
            _log.exception("a call of %s failed", params.name)
            return results.of_error(PedelecError(Code.INTERNAL_ERROR))

    async def _call_own(
        self, ctx: Context, params: CallToolRequestParams, tool: Tool, args_text: str
    ) -> CallToolResult | InputRequiredResult:
        args = parse_args(args_text, self._hub.limits.wire)
        tool.validate(args)
        catalogue = self._current()
        if tool.name == own_tools.LIST_NAME:
            return results.of_value(own_tools.listing(catalogue, args))
        if (earlier := own_tools.wanted_result(args)) is not None:
            return self._earlier(catalogue, earlier)
        return await self._call_page(ctx, params, own_tools.target(catalogue, args))

    def _earlier(self, catalogue: Catalogue, invocation_id: str) -> CallToolResult:
        session = self._hub.session_with(invocation_id)
        answer = self._desk.tool_result(invocation_id, MCP)
        entry = None if session is None else catalogue.entry_of(session, answer.answer.invocation.call.tool)
        return results.of_answer(answer, entry)

    async def _call_page(
        self, ctx: Context, params: CallToolRequestParams, target: own_tools.Target
    ) -> CallToolResult | InputRequiredResult:
        request = ToolCallRequest(
            thread_id=target.thread_id,
            tool=target.entry.tool.name,
            args_text=target.args_text,
            call_id=_call_id(ctx),
            joins=False,
            door=self._door_to(target.entry.session),
        )
        channel = Channel.of(ctx)
        key = CallKey(channel.id, str(ctx.request_id))
        if self.calls.is_called_off(key):
            raise call_errors.cancelled(request.tool, BY_CLIENT, ran=False)
        app = target.entry.app
        parked = self._parked.find(params.request_state)
        progress = ProgressPump(ctx.session.report_progress)
        questions = questions_for(ctx, params, app, parked)

        def hear(event: CallEvent) -> None:
            progress.put(event)
            questions.put(event)

        if parked is None:
            running = self._desk.begin(request, hear)
        else:
            running = self._desk.take_up(parked.invocation_id, request, hear)
        self.calls.begin(key, running)
        channel.carries(key)
        questions.begin(running)
        try:
            answer = await answer_unless(running, questions.needed, self._stopping)
            if answer is None and self._stopping.done():
                raise core_stops(target.entry.name)
            await progress.finish()
            if answer is None:
                self.calls.parked(key)
                return interim(questions.needed.result(), running, app, self._parked)
            self.calls.answered(key, running)
        except (asyncio.CancelledError, PedelecError):
            progress.stop()
            self.calls.interrupted(key)
            raise
        finally:
            questions.stop()
            running.leave()
        return results.of_answer(answer, target.entry)

    def _door_to(self, session: Session) -> Door:
        """How an agent speaks of the tools of a session."""

        def name_of(tool: str) -> str:
            entry = self._current().entry_of(session, tool)
            return tool if entry is None else entry.name

        return replace(MCP, name_of=name_of)

    async def _cancelled(self, ctx: Context, params: CancelledNotificationParams) -> None:
        if params.request_id is not None:
            channel = Channel.of(ctx)
            key = CallKey(channel.id, str(params.request_id))
            self.calls.cancelled(key, may_come_first=not channel.is_ordered)

    async def _received(self, ctx: Context, params: ReceivedParams) -> None:
        self.calls.received(CallKey(Channel.of(ctx).id, str(params.request_id)))

    # --- clients that shook hands ---------------------------------------------------------------------------

    async def _initialized(self, ctx: Context, _params: NotificationParams) -> None:
        channel = Channel.of(ctx)
        self._listeners[channel.id] = _Listener(ctx.session, since=self._changes)
        self._listeners.move_to_end(channel.id)
        if len(self._listeners) > _MAX_LISTENERS:
            self._listeners.popitem(last=False)


async def _tell(session: ServerSession) -> None:
    """Best effort: a client that does not read hears of it when it asks."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(session.send_tool_list_changed(), _TELL_SECONDS)


def _listed(name: str, tool: Tool, meta: dict[str, Any] | None) -> ListedTool:
    return ListedTool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.args_schema,
        output_schema=results.output_schema(tool.result_schema),
        annotations=_annotations(tool),
        _meta=meta,
    )


def _annotations(tool: Tool) -> ToolAnnotations:
    """MCP's hints. Where the author said nothing, nothing is said: what is left out counts as the worse."""
    return ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=False if tool.read_only else tool.consequential or None,
        idempotent_hint=tool.read_only or tool.idempotent,
        open_world_hint=tool.untrusted_content or tool.consequential or None,
    )


def _call_id(ctx: Context) -> str | None:
    """The client's own name for the call, where it gave one: a retry has the same."""
    named = ctx.meta.get(CALL_ID_META) if ctx.meta else None
    return named if isinstance(named, str) and 0 < len(named) <= _MAX_CALL_ID_CHARS else None
