"""Many pages without a browser, in a process of their own: `python -m bench.swarm CORE_URL PAGES`.

Each page is a real WebSocket client that speaks the wire protocol, makes a session with one tool, `echo`, and
answers its calls and Core's pings. Prints the sessions' ids as one JSON line once all pages are there, then
serves them until its stdin ends. Errors that Core reports end it with a message.
"""

import asyncio
import json
import secrets
import sys
from itertools import batched

from websockets.asyncio.client import ClientConnection, connect

from pedelec.protocol import (
    PROTOCOL_VERSION,
    CreateSession,
    ErrorEvent,
    Hello,
    Ping,
    Pong,
    Response,
    SubmitToolResult,
    ToolCall,
    decode_from_core,
    encode,
)

_AT_ONCE = 50
_TOOL = {"name": "echo", "description": "Give back the arguments.", "argsSchema": {"type": "object"}}


class Page:
    """One page and its one session."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.session_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def serve(self) -> None:
        """Speak until the connection ends."""
        await self._say_hello()
        async for text in self._socket:
            match decode_from_core(str(text)):
                case ToolCall() as call:
                    await self._send_result(call)
                case Ping(id=number):
                    await self._socket.send(encode(Pong(id=number)))
                case Response(request_id="create", result=result) if result is not None:
                    self.session_id.set_result(str(result["sessionId"]))
                case Response(ok=False, error=error) | ErrorEvent(error=error):
                    raise RuntimeError(f"Core refused a page: {error}")
                case _:
                    pass

    async def _say_hello(self) -> None:
        hello = Hello(protocol=PROTOCOL_VERSION, page_instance_id=secrets.token_hex(8), sdk_version="0")
        await self._socket.send(encode(hello))
        create = CreateSession(
            request_id="create", guidance="", tools=[dict(_TOOL)], auto_end_on_disconnect=True
        )
        await self._socket.send(encode(create))

    async def _send_result(self, call: ToolCall) -> None:
        result = SubmitToolResult(
            request_id=call.tool_request_id,
            session_id=call.session_id,
            tool_request_id=call.tool_request_id,
            result=call.args,
        )
        await self._socket.send(encode(result))


async def run(core_url: str, count: int) -> None:
    """Connect all pages, tell of them, and serve them until stdin ends."""
    async with asyncio.TaskGroup() as tasks:
        sessions: list[str] = []
        serving: list[asyncio.Task[None]] = []
        for some in batched(range(count), _AT_ONCE):
            pages = [Page(await _connected(core_url)) for _ in some]
            serving += [tasks.create_task(page.serve()) for page in pages]
            sessions += [await page.session_id for page in pages]
        print(json.dumps(sessions), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in serving:
            task.cancel()


async def _connected(core_url: str) -> ClientConnection:
    return await connect(
        core_url.replace("http", "ws", 1) + "/page",
        additional_headers={"Origin": core_url},
        compression=None,
        proxy=None,
        ping_interval=None,
    )


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], int(sys.argv[2])))
