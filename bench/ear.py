"""Where pages tell the bench how far they are, without an inspector in their browser.

Owns the address that `tell.js` of the bench's pages sends to, and the order in which things are heard.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from threading import Thread
from typing import override

from bench.browsers import READY_SECONDS


@dataclass(frozen=True, slots=True)
class Told:
    """A line of a page's console. Moments are milliseconds of the wall clock."""

    text: str
    tag: float
    """When the page came to its script tag."""
    said: float
    """When it wrote the line."""


class Ear:
    """Hears one page at a time."""

    def __init__(self) -> None:
        self.url = ""
        self._heard: SimpleQueue[Told] = SimpleQueue()

    def hear(self, prefix: str) -> Told:
        """The next line that begins so; earlier ones are forgotten.

        Raises:
            TimeoutError: there is none.
        """
        while True:
            try:
                told = self._heard.get(timeout=READY_SECONDS)
            except Empty:
                raise TimeoutError(f"The page did not say {prefix!r} within {READY_SECONDS:g} s.") from None
            if told.text.startswith(prefix):
                return told


@contextmanager
def listening() -> Iterator[Ear]:
    """An ear, for as long as the context lasts."""
    ear = Ear()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            ear._heard.put(Told(**json.loads(body)))
            self.send_response(204)
            self.end_headers()

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        ear.url = f"http://127.0.0.1:{server.server_port}/"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield ear
        finally:
            server.shutdown()
            thread.join()
