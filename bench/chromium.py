"""Chromium that nothing inspects, as its users have it.

With Playwright in it, a page hands a copy of all that it fetches to the inspector, and keeps one for it.

Owns its process, and its tabs, by the HTTP half of the DevTools protocol, which attaches to nothing.
"""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.browsers import READY_SECONDS
from scripts.browsers.config import load_config

_OPTIONS = ("--headless=new", "--remote-debugging-port=0", "--no-default-browser-check")
_PAUSE_SECONDS = 0.1


class Chromium:
    """One that runs.

    Attributes:
        pid: of its first process.
    """

    def __init__(self, pid: int, devtools: str) -> None:
        self.pid = pid
        self._devtools = devtools

    @contextmanager
    def tab(self, url: str) -> Iterator[str]:
        """A tab, as long as the context lasts; its id."""
        tab_id = self._ask("PUT", f"new?{url}")["id"]
        try:
            yield tab_id
        finally:
            self._ask("GET", f"close/{tab_id}")

    def title(self, tab_id: str) -> str:
        """The title of a tab's page."""
        return next((tab["title"] for tab in self._ask("GET", "list") if tab["id"] == tab_id), "")

    def wait_for_title(self, tab_id: str, title: str) -> None:
        """Wait until the page of a tab is called so.

        Raises:
            TimeoutError: it never is.
        """
        deadline = time.monotonic() + READY_SECONDS
        while self.title(tab_id) != title:
            if time.monotonic() > deadline:
                raise TimeoutError(f"No page was called {title!r} within {READY_SECONDS:g} s.")
            time.sleep(_PAUSE_SECONDS)

    def _ask(self, method: str, what: str) -> Any:
        request = urllib.request.Request(f"{self._devtools}/json/{what}", method=method)
        with urllib.request.urlopen(request, timeout=READY_SECONDS) as response:
            text = response.read()
        return json.loads(text) if text.startswith((b"{", b"[")) else None


@contextmanager
def open_chromium(*options: str) -> Iterator[Chromium]:
    """Chromium with a new profile and nothing but a blank page, for as long as the context lasts."""
    chosen = load_config().find("chromium")
    with TemporaryDirectory(prefix="pedelec-bench-", ignore_cleanup_errors=True) as profile:
        words = [chosen.files[0], *chosen.launch_options["args"], *_OPTIONS, *options]
        command = [*words, f"--user-data-dir={profile}", "about:blank"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                yield Chromium(process.pid, _devtools_of(Path(profile)))
            finally:
                process.terminate()


def _devtools_of(profile: Path) -> str:
    told = profile / "DevToolsActivePort"
    deadline = time.monotonic() + READY_SECONDS
    while not (told.exists() and "\n" in told.read_text()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"Chromium did not start within {READY_SECONDS:g} s.")
        time.sleep(_PAUSE_SECONDS)
    return f"http://127.0.0.1:{told.read_text().partition('\n')[0]}"
