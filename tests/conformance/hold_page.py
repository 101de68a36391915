"""Opens the fixture page in a real browser and holds it until stdin ends: `python hold_page.py CORE_URL`.

A process of its own, so that it does not share Playwright's loop with the tests that drive browsers.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

_ROOT = Path(__file__).resolve().parents[2]
_BROWSER = "chromium"
_WAIT_MS = 180_000


def main() -> None:
    """Print `ready` once the page offers its tools."""
    sys.path.insert(0, str(_ROOT))
    from scripts.browsers.config import load_config

    found = load_config().find(_BROWSER)
    with sync_playwright() as playwright:
        browser = getattr(playwright, found.engine).launch(**found.launch_options)
        page = browser.new_page()
        page.goto(sys.argv[1])
        page.wait_for_function("document.title === 'ready'", timeout=_WAIT_MS)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
        browser.close()


if __name__ == "__main__":
    main()
