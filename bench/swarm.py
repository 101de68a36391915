"""Many pages without a browser, in a process of their own: `python -m bench.swarm URL PAGES [bare]`.

Each page is a real WebSocket client that speaks the wire protocol, makes a session with one tool, `echo`, and
answers its calls and Core's pings. Prints the sessions' ids as one JSON line once all pages are there, then
serves them until its stdin ends. Errors that Core reports end it with a message.

Bare ones are clients of the echo server (`bench.echo_server`): they give back what they get, and that is all.
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
            pages = [Page(await _connected(core_url, "/page")) for _ in some]
            serving += [tasks.create_task(page.serve()) for page in pages]
            sessions += [await page.session_id for page in pages]
        print(json.dumps(sessions), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in serving:
            task.cancel()


async def run_bare(url: str, count: int) -> None:
    """Connect all clients of an echo server, tell that they are there, and serve them until stdin ends."""
    async with asyncio.TaskGroup() as tasks:
        sockets = [await _connected(url, "/clients/socket") for _ in range(count)]
        serving = [tasks.create_task(_echo(socket)) for socket in sockets]
        print("[]", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for task in serving:
            task.cancel()


async def _echo(socket: ClientConnection) -> None:
    async for text in socket:
        call = json.loads(text)
        await socket.send(json.dumps({"id": call["id"], "result": call["args"]}))


async def _connected(url: str, path: str) -> ClientConnection:
    return await connect(
        url.replace("http", "ws", 1) + path,
        additional_headers={"Origin": url},
        compression=None,
        proxy=None,
        ping_interval=None,
    )


if __name__ == "__main__":
    serve_pages = run_bare if sys.argv[3:] == ["bare"] else run
    asyncio.run(serve_pages(sys.argv[1], int(sys.argv[2])))
