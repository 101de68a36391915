"""A Core that does what a test tells it, over the in-memory transport; and ways to use it from a test."""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from pedelec import Pedelec, PedelecSession
from pedelec.host import Host
from pedelec.transport import MemoryHost, MemoryTransport

BOUND_SECONDS = 5
type Json = dict[str, Any]


class ScriptedCore:
    """Answers handshakes and requests; keeps every frame that the page sent.

    Attributes:
        frames: everything that the page sent, in order, over all connections.
        answers: by request type, what makes the frame that answers it (None: no answer).
        refuse_connections: say no to new connections.
        heartbeat_ms: the interval that it announces.
        batches: whether it reads several messages in a frame.
        frame_sizes: how many messages each frame of the page held.
    """

    def __init__(self) -> None:
        self.frames: list[Json] = []
        self.transports: list[MemoryTransport] = []
        self.refuse_connections = False
        self.heartbeat_ms = 10_000
        self.batches = False
        self.frame_sizes: list[int] = []
        self.limits: Json = {"maxResultBytes": 1024 * 1024}
        self.answers: dict[str, Callable[[Json], Json | None]] = {
            "create_session": lambda frame: ok(frame, sessionId="s1"),
            "resume_session": lambda frame: ok(frame, sessionId=frame["sessionId"]),
            "end_session": ok,
            "submit_tool_result": ok,
            "get_approval_status": lambda frame: ok(frame, installed=True, approved=True),
        }
        self.host = MemoryHost(self._accept)
        self._arrived = asyncio.Event()
        self._numbers = itertools.count(1)

    @property
    def transport(self) -> MemoryTransport:
        return self.transports[-1]

    def _accept(self, transport: MemoryTransport) -> None:
        self.transports.append(transport)
        transport.from_page = self._received
        if self.refuse_connections:
            transport.core_close("refused")
        else:
            transport.core_open()

    def _received(self, text: str) -> None:
        messages = text.split("\n")
        self.frame_sizes.append(len(messages))
        for message in messages:
            self._take(message)

    def _take(self, text: str) -> None:
        frame = json.loads(text)
        self.frames.append(frame)
        self._arrived.set()
        if frame["type"] == "hello":
            self.welcome()
        elif frame["type"] in self.answers:
            answer = self.answers[frame["type"]](frame)
            if answer is not None:
                self.send(answer)

    def welcome(self) -> None:
        self.send(
            {
                "type": "welcome",
                "protocol": 1,
                "coreInstanceId": "core",
                "coreVersion": "0",
                "heartbeatMs": self.heartbeat_ms,
                "limits": self.limits,
                "batches": self.batches,
            }
        )

    def send(self, *messages: Json) -> None:
        """Send a frame, of one message or of several."""
        self.transport.core_send("\n".join(map(json.dumps, messages)))

    def send_call(self, tool: str = "probe_tool", args: object = None, **fields: object) -> str:
        """Send a call; returns its id."""
        call = self.call_message(tool, args, **fields)
        self.send(call)
        return str(call["toolRequestId"])

    def call_message(self, tool: str = "probe_tool", args: object = None, **fields: object) -> Json:
        number = next(self._numbers)
        call: Json = {
            "type": "tool_call",
            "sessionId": "s1",
            "seq": number,
            "toolRequestId": f"t{number}",
            "turnId": "turn",
            "turnStartedAt": 1_700_000_000_000,
            "tool": tool,
            "timeoutMs": 60_000,
            "args": {} if args is None else args,
        }
        return call | fields

    async def result_of(self, tool_request_id: str) -> Any:
        """The one result of a call. Fails where there is none in time, or a second one."""
        await self.until(lambda: bool(self.results_of(tool_request_id)))
        await settle()
        (result,) = self.results_of(tool_request_id)
        return result

    async def call(self, tool: str = "probe_tool", args: object = None) -> Any:
        return await self.result_of(self.send_call(tool, args))

    def results_of(self, tool_request_id: str) -> list[Any]:
        return [
            frame["result"]
            for frame in self.sent("submit_tool_result")
            if frame["toolRequestId"] == tool_request_id
        ]

    def sent(self, kind: str) -> list[Json]:
        return [frame for frame in self.frames if frame["type"] == kind]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; looked at again after each frame from the page."""
        async with asyncio.timeout(BOUND_SECONDS):
            while not holds():
                self._arrived.clear()
                await self._arrived.wait()


def ok(frame: Json, **result: object) -> Json:
    return {"type": "response", "requestId": frame["requestId"], "ok": True, "result": result}


def refused(frame: Json, code: str, message: str = "no", details: Json | None = None) -> Json:
    error = {"code": code, "message": message, "details": details}
    return {"type": "response", "requestId": frame["requestId"], "ok": False, "error": error}


async def settle() -> None:
    """Let everything happen that needs no time: until the loop has nothing else to do."""
    ready = vars(asyncio.get_running_loop())["_ready"]  # no public name tells
    for _ in range(20):
        await asyncio.sleep(0)
        if not ready:
            return


async def open_session(
    core: ScriptedCore, *, tools: tuple[Any, ...] = (), host: Host | None = None, **options: Any
) -> PedelecSession:
    return await Pedelec(host=host or core.host, **options).create_session("", tools)


async def answer_of(handler: object, args: object = None) -> Any:
    """What the agent gets from a handler."""
    core = ScriptedCore()
    session = await open_session(core)
    session.on_tool("probe_tool", handler)
    return await core.call(args=args)
