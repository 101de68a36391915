"""Pages without a browser: the SDK itself over real WebSockets whose every frame may meet with a fault."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Origin
from websockets.uri import parse_uri

from pedelec import Pedelec, PedelecError, batches, define_tool
from pedelec.context import ToolContext
from pedelec.host import Handler, TransportListener
from pedelec.json_text import JsonObject, RawJson
from pedelec.session import PedelecSession
from pedelec.transport import MemoryDialog
from tests.chaos.ledger import Ledger
from tests.chaos.schedules import Act, Faults, Schedule

MOMENT = 0.05
"""Seconds: long against a round trip, short against any deadline."""
STALE_SECONDS = 4 * MOMENT
"""How late Core reads what a page said on a connection that it has given up."""
LIMIT_MS = 200
"""The limit of a slow call, which takes twice as long."""

_instances = itertools.count(1)


class Link(asyncio.Protocol):
    """One WebSocket of a page. Implements `host.Transport`."""

    def __init__(self, host: "FaultyHost", url: str, listener: TransportListener) -> None:
        self._host = host
        self._listener = listener
        uri = parse_uri(url.replace("http", "ws", 1) + "/page")
        self._protocol = ClientProtocol(uri, origin=Origin(url), max_size=None)
        self._transport: asyncio.Transport | None = None
        self._open = False
        self._over = False
        self._told_closed = False
        self._held: dict[str, list[str] | None] = {"to_core": None, "to_page": None}

    # --- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            match event:
                case Response():
                    if self._protocol.handshake_exc is None:
                        self._open = True
                        self._listener.opened()
                case Frame(opcode=Opcode.TEXT):
                    self._pass("to_page", bytes(event.data).decode())
        self._flush()
        if self._protocol.close_expected() and self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.tell_closed("lost")

    # --- host.Transport

    def send(self, text: str) -> None:
        if self._open and not self._told_closed:
            self._pass("to_core", text)

    def close(self) -> None:
        self.cut()

    # --- faults

    def cut(self) -> None:
        """End the connection; what was sent before arrives, and nothing that comes after it."""
        self._over = True
        if self._transport is not None:
            self._transport.close()
        asyncio.get_running_loop().call_soon(self.tell_closed, "cut")

    def tell_closed(self, reason: str) -> None:
        """Tell the page, once, that the connection is over."""
        if not self._told_closed:
            self._told_closed = True
            self._listener.closed(reason)

    def _pass(self, direction: str, text: str) -> None:
        if self._over:
            return
        act = self._host.note(direction, [json.loads(message) for message in batches.split(text)])
        if act in {Act.CUT_BEFORE, Act.AWAY}:
            self._host.away_for(MOMENT * 4 if act is Act.AWAY else 0)
            self.cut()
        elif act is Act.RELOAD:
            self.cut()
            self._host.reload()
        elif act is Act.STALE:
            self._hold(direction, text, STALE_SECONDS)
            asyncio.get_running_loop().call_soon(self.tell_closed, "stale")
        elif act is Act.DELAY:
            self._hold(direction, text, MOMENT)
        else:
            for _ in range(2 if act is Act.DUPLICATE else 1):
                self._deliver(direction, text)
            if act is Act.CUT_AFTER:
                self.cut()

    def _hold(self, direction: str, text: str, seconds: float) -> None:
        """Keep this frame and those that follow it back for a while."""
        held = self._held[direction]
        if held is not None:
            held.append(text)
            return
        self._held[direction] = [text]
        asyncio.get_running_loop().call_later(seconds, self._release, direction)

    def _release(self, direction: str) -> None:
        held, self._held[direction] = self._held[direction], None
        for text in held or []:
            self._deliver(direction, text)
        if self._told_closed and self._transport is not None:
            self._transport.close()

    def _deliver(self, direction: str, text: str) -> None:
        held = self._held[direction]
        if held is not None:
            held.append(text)
        elif direction == "to_core" and self._protocol.state is State.OPEN:
            self._protocol.send_text(text.encode())
            self._flush()
        elif direction == "to_page" and not self._told_closed and not self._over:
            self._listener.received(text)

    def _flush(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(self._protocol.data_to_send()))


class FaultyHost:
    """A page on CPython whose connections meet with the faults of a schedule. Implements `host.Host`."""

    def __init__(self, faults: Faults, ledger: Ledger) -> None:
        self.page_instance_id = f"page-{next(_instances)}"
        self.dialog = MemoryDialog()
        self.reload: Callable[[], None] = lambda: None
        self._faults = faults
        self._ledger = ledger
        self._away_until = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, direction: str, messages: list[dict[str, Any]]) -> Act | None:
        """A frame is on its way: what is to happen to it?"""
        for message in messages:
            self._ledger.frame(self.page_instance_id, direction, message)
        return self._faults.meet(direction, *(message["type"] for message in messages))

    def away_for(self, seconds: float) -> None:
        """Let no connection come about for a while."""
        self._away_until = asyncio.get_running_loop().time() + seconds

    def default_core_url(self) -> str:
        raise AssertionError("the address is given")

    def is_hidden(self) -> bool:
        return False

    def watch_visibility(self, changed: Callable[[], None]) -> None:
        """Nothing here is ever hidden."""

    async def model_context(self, *, polyfill: bool = False) -> None:
        """It has none."""

    def connect(self, core_url: str, listener: TransportListener) -> Link:
        link = Link(self, core_url, listener)
        task = asyncio.get_running_loop().create_task(self._connect(core_url, link))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return link

    async def _connect(self, core_url: str, link: Link) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._away_until - loop.time()))
        host, _, port = core_url.removeprefix("http://").rpartition(":")
        try:
            await loop.create_connection(lambda: link, host, int(port))
        except OSError as error:
            link.tell_closed(str(error))

    async def explain_unreachable(self, core_url: str) -> PedelecError | None:
        return None

    def report(self, stage: str, loaded: int, total: int) -> None:
        """Tell nobody."""

    def is_foreign(self, value: object) -> bool:
        return False

    def foreign_to_json(self, value: object) -> RawJson:
        raise AssertionError("no value is foreign here")

    def adapt_handler(self, handler: object) -> Handler | None:
        raise AssertionError("no value is foreign here")

    def adapt_awaitable(self, value: object) -> Awaitable[Any] | None:
        raise AssertionError("no value is foreign here")


class Tab:
    """A tab of the browser with the page in it, which may be reloaded."""

    def __init__(self, schedule: Schedule, core_url: str, ledger: Ledger) -> None:
        self._schedule = schedule
        self._core_url = core_url
        self._ledger = ledger
        self._faults = Faults(schedule.frame_faults)
        self._client: Pedelec | None = None
        self._reloading: asyncio.Task[None] | None = None
        self.session_id = ""

    async def open(self, session_id: str = "") -> None:
        """Load the page: it takes the session up, or makes one, however often that takes."""
        self.session_id = session_id
        host = FaultyHost(self._faults, self._ledger)
        host.reload = self._reload
        client = self._client = Pedelec(self._core_url, host=host)
        while self._client is client:
            try:
                session = await self._join(client)
            except PedelecError as error:
                if error.code not in {"SDK_TRANSPORT_ERROR", "CORE_RUNTIME_UNAVAILABLE"}:
                    raise
                await asyncio.sleep(MOMENT)
            else:
                self.session_id = session.session_id
                session.on_tool(self._schedule.tool, self._handler(host.page_instance_id))
                return

    async def _join(self, client: Pedelec) -> PedelecSession:
        if self.session_id:
            return await client.resume_session(self.session_id)
        tool = define_tool(
            name=self._schedule.tool,
            description="Acts.",
            args_schema={"type": "object"},
            exclusive=self._schedule.exclusive,
        )
        return await client.create_session(tools=[tool])

    def _handler(self, page: str) -> Callable[[JsonObject, ToolContext], Awaitable[JsonObject]]:
        async def act(args: JsonObject, ctx: ToolContext) -> JsonObject:
            key = str(args["key"])
            self._ledger.started(page, key, ctx.tool_request_id)
            try:
                match self._schedule.handler:
                    case "waits":
                        await asyncio.sleep(MOMENT / 2)
                    case "reports":
                        ctx.progress(1, 2, "half")
                        await asyncio.sleep(MOMENT / 2)
                    case "slow":
                        await asyncio.sleep(2 * LIMIT_MS / 1000)
            finally:
                self._ledger.finished(page)
            return {"key": key}

        return act

    def _reload(self) -> None:
        if self._client is not None and self._reloading is None:
            asyncio.get_running_loop().call_soon(self.close)
            self._reloading = asyncio.get_running_loop().create_task(self._load_again())

    async def _load_again(self) -> None:
        await asyncio.sleep(MOMENT / 5)
        await self.open(self.session_id)
        self._reloading = None

    async def opened(self) -> str:
        """The id of the session, once there is one."""
        while not self.session_id:  # noqa: ASYNC110 - a reload may come between
            await asyncio.sleep(MOMENT / 10)
        return self.session_id

    def close(self) -> None:
        """Close the page without a word."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    async def leave(self) -> None:
        """Close the tab for good."""
        if self._reloading is not None:
            self._reloading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reloading
        self.close()
