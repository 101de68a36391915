"""The page of Core's that has an echo tool of each kind, and the sessions that it opens."""

from collections.abc import Mapping, Sequence

from playwright.sync_api import Browser

from bench.browsers import open_page

PYTHON, JAVASCRIPT, TYPED = "Python handler", "JavaScript handler", "typed Python handler"

_SESSIONS = {
    PYTHON: "bench.pythonThreads",
    JAVASCRIPT: "bench.javascriptThreads",
    TYPED: "bench.typedThreads",
}


def open_calls_page(browser: Browser, core_url: str) -> Mapping[str, Sequence[str]]:
    """Open the page; return the ids of its sessions by the kind of handler behind their tool `echo`."""
    page = open_page(browser, f"{core_url}/calls.html")
    return {kind: page.evaluate(expression) for kind, expression in _SESSIONS.items()}
