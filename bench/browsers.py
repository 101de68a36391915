"""The browsers that are measured, and their pages. Which browsers there are is `playwright.config.py`'s."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from scripts.browsers.config import load_config

ROOT = Path(__file__).resolve().parents[1]
SITE = Path(__file__).parent / "pages" / "core"
"""What a Core under measurement serves."""

READY_SECONDS = 90.0
"""How long a page may take to get ready on a busy machine before the scenario fails."""


@contextmanager
def open_browser(name: str) -> Iterator[Browser]:
    """One of the browsers under test, for as long as the context lasts."""
    chosen = load_config().find(name)
    with sync_playwright() as playwright:
        browser = getattr(playwright, chosen.engine).launch(**chosen.launch_options)
        try:
            yield browser
        finally:
            browser.close()


def open_page(context: Browser | BrowserContext, url: str) -> Page:
    """Open a page of the bench and wait until it has made itself ready.

    Raises:
        RuntimeError: it failed to.
    """
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("bench.state !== 'starting'", timeout=READY_SECONDS * 1000)
    state = page.evaluate("bench.state")
    if state != "ready":
        raise RuntimeError(f"{url} {state}")
    return page
