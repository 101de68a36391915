"""A site of another origin than Core's: a second port, and nothing but files."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

HEAD: Final = (
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Another site</title>'
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@dataclass(frozen=True)
class OtherSite:
    """The site's address and its folder."""

    origin: str
    folder: Path

    def write(self, body: str, name: str = "index.html") -> str:
        """Put a page on the site; its address."""
        (self.folder / name).write_text(f"{HEAD}\n{body}\n", encoding="utf-8")
        return f"{self.origin}/{name}"


@contextmanager
def serving(folder: Path) -> Iterator[OtherSite]:
    """Serve a folder on a free port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield OtherSite(f"http://127.0.0.1:{server.server_port}", folder)
        server.shutdown()
