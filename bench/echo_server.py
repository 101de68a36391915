"""The baseline of a round trip: a WebSocket of the library that Core uses, and nothing that Core does.

Run as a module it serves, on a free port, two pages that echo JSON, `/javascript.html` and, in bare Pyodide,
`/python.html`. Each is measured under its name: `/NAME/latency?calls=N` and
`/NAME/throughput?calls=N&in_flight=K`. Prints its address once it listens.
"""

import asyncio
import itertools
import json
import socket
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from pedelec_core.runtime.locations import require_bundle
from pedelec_core.runtime.manifest import RUNTIME_DIR

PAGES = Path(__file__).parent / "pages" / "echo"


class Echo:
    """Pages that take turns, and the calls that they have not answered yet."""

    def __init__(self) -> None:
        self._pages: list[WebSocket] = []
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[object]] = {}

    def routes(self) -> list[BaseRoute]:
        """Where the page connects and where it is measured."""
        return [
            WebSocketRoute("/socket", self.serve_page),
            Route("/latency", self.latency),
            Route("/throughput", self.throughput),
        ]

    async def serve_page(self, websocket: WebSocket) -> None:
        await websocket.accept()
        self._pages.append(websocket)
        async for text in websocket.iter_text():
            answer = json.loads(text)
            self._waiting.pop(answer["id"]).set_result(answer["result"])

    async def latency(self, request: Request) -> JSONResponse:
        """The median of calls one after the other, in milliseconds."""
        taken = []
        for _ in range(int(request.query_params["calls"])):
            started = time.perf_counter()
            await self._call()
            taken.append(time.perf_counter() - started)
        return JSONResponse(statistics.median(taken) * 1000)

    async def throughput(self, request: Request) -> JSONResponse:
        """Calls a second, with a number of them always in flight."""
        calls, in_flight = (int(request.query_params[name]) for name in ("calls", "in_flight"))
        left = iter(range(calls))
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as workers:
            for _ in range(in_flight):
                workers.create_task(self._call_for_each(left))
        return JSONResponse(calls / (time.perf_counter() - begun))

    async def _call_for_each(self, left: Iterator[int]) -> None:
        for _ in left:
            await self._call()

    async def _call(self) -> object:
        number = next(self._ids)
        page = self._pages[number % len(self._pages)]
        answered = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        await page.send_text(json.dumps({"id": number, "args": {"n": number, "text": "hello"}}))
        return await answered


def main() -> None:
    """Serve until killed."""
    app = Starlette(
        routes=[
            *(Mount(f"/{name}", routes=Echo().routes()) for name in ("javascript", "python", "clients")),
            Mount("/runtime", StaticFiles(directory=require_bundle() / RUNTIME_DIR)),
            Mount("/", StaticFiles(directory=PAGES, html=True)),
        ]
    )
    # With its protocol named: asyncio switches Nagle's algorithm off for such sockets alone.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        print(f"ready http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            lifespan="off",
            log_level="error",
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
