"""A real Core and a real page (the SDK, over the in-memory transport) in one event loop; time is simulated.

Nothing sleeps: `wait` moves the scenario's clock, and whatever a scenario does `when_waiting` happens then.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from pedelec import Pedelec, PedelecError, PedelecSession, ToolDefinition
from pedelec.transport import MemoryHost, MemoryTransport
from pedelec_core.agent_desk import AgentDesk, CallAnswer, ToolCallRequest
from pedelec_core.hub import Hub, new_id
from pedelec_core.page_desk import PageDesk
from tests.harness.approvers import EveryOrigin

type Json = dict[str, Any]
BOUND_SECONDS = 10


async def turns_until(holds: Callable[[], bool]) -> None:
    """Let the event loop turn until something holds, which takes no time."""
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


class _Connection:
    """Core's end of one in-memory connection."""

    origin = "http://127.0.0.1:1"

    def __init__(self, transport: MemoryTransport) -> None:
        self.id = new_id("connection_")
        self._transport = transport

    def send(self, text: str) -> None:
        self._transport.core_send(text)

    def close(self, _code: int, reason: str) -> None:
        self._transport.core_close(reason)

    def batch(self) -> None:
        """It has not said that it reads batches."""

    def probe(self) -> None:
        """A browser would answer; nobody here asks."""

    def cut(self) -> None:
        self._transport.core_close("cut")


class Stage:
    """Core, the pages of a scenario, and what an agent can do.

    Attributes:
        clock: simulated seconds since the start.
        when_waiting: called with the new `clock` whenever the agent waits.
        thread: the session that calls go to, None where the agent names none.
        call_ids: for the first calls, in order.
        person: what the person at the page says to one question after the other; `...` is nothing at all.
    """

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.clock = 0.0
        self.when_waiting: Callable[[float], Awaitable[None]] | None = None
        self.thread: str | None = None
        self.timeout_ms = 5_000
        self.call_ids: list[str] = []
        self.person: list[Any] = []
        self._pages = PageDesk(hub, EveryOrigin())
        self._desk = AgentDesk(hub)
        self._clients: list[Pedelec] = []
        self._connections: list[_Connection] = []
        self._background: set[asyncio.Task[Any]] = set()

    async def open_page(self, *tools: ToolDefinition, instance: str = "page") -> PedelecSession:
        """A page that offers these tools."""
        return await self._client(instance).create_session(tools=tools)

    async def reload_page(self, session_id: str, *tools: ToolDefinition) -> PedelecSession:
        """The page goes, and comes back as a new instance of itself that takes its session up again."""
        self.close_page()
        session = await self._client(new_id("page_")).resume_session(session_id)
        for tool in tools:
            session.on_tool(tool.name, tool.handler)
        return session

    def close_page(self) -> None:
        """All pages are gone, as when their tabs are closed."""
        for client in self._clients:
            client.close()
        for connection in self._connections:
            connection.cut()
            self._pages.closed(connection)
        self._connections.clear()

    def _client(self, instance: str) -> Pedelec:
        client = Pedelec(host=MemoryHost(self._accept, page_instance_id=instance))
        client.on_question(self._ask_person)
        self._clients.append(client)
        return client

    async def _ask_person(self, _question: Json) -> Any:
        said = self.person.pop(0)
        if said is ...:
            await asyncio.get_running_loop().create_future()
        return said

    def _accept(self, transport: MemoryTransport) -> None:
        connection = _Connection(transport)
        self._connections.append(connection)
        transport.from_page = lambda text: self._pages.frame(connection, text)
        self._pages.opened(connection)
        transport.core_open()

    # --- what an agent can do -------------------------------------------------------------------------------

    async def call(self, tool: str, args: Json, *, thread: str | None = None) -> Json:
        """Make a call and wait for its answer, as the command line prints it."""
        return await self.call_text(tool, json.dumps(args), thread=thread)

    async def call_text(self, tool: str, args_text: str, *, thread: str | None = None) -> Json:
        """As `call`, with the arguments as somebody wrote them."""
        request = ToolCallRequest(
            thread_id=thread or self.thread,
            tool=tool,
            args_text=args_text,
            timeout_ms=self.timeout_ms,
            call_id=self.call_ids.pop(0) if self.call_ids else None,
        )
        try:
            running = self._desk.begin(request)
            async with asyncio.timeout(BOUND_SECONDS):
                answer = await running.answer()
            running.acknowledge()
            running.leave()
        except PedelecError as error:
            return _refusal(error)
        return _as_printed(answer)

    async def command(self, name: str, argument: str | None) -> Json:
        """Run one of the other commands."""
        try:
            if name == "tool-result":
                return _as_printed(self._desk.tool_result(argument or ""))
            if name == "tool-list":
                return {"ok": True, "result": self._desk.tool_list(self.thread)}
            if name == "tool-spec":
                return {"ok": True, "result": self._desk.tool_spec(self.thread, argument or "")}
            return {"ok": True, "result": self._desk.threads()}
        except PedelecError as error:
            return _refusal(error)

    def is_look(self, tool: str) -> bool:
        """Whether the tool list says that a tool changes nothing."""
        sessions = self.hub.live_sessions()
        return any(
            session.registry.knows(tool) and session.registry.get(tool).read_only for session in sessions
        )

    async def wait(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.clock += seconds
        if self.when_waiting is not None:
            await self.when_waiting(self.clock)

    def in_background(self, work: Awaitable[Any]) -> None:
        """Let something happen beside what the agent does."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """End everything."""
        self.close_page()
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.hub.close()


def _as_printed(answer: CallAnswer) -> Json:
    printed: Json = json.loads(json.dumps(answer.to_wire(), default=lambda raw: json.loads(raw.text)))
    return printed


def _refusal(error: PedelecError) -> Json:
    return {"ok": False, "error": json.loads(json.dumps(error.to_wire()))}
