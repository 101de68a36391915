"""`python -m scripts.browsers.start ENGINE OPTIONS`: start a browser once, run a script in it, and end it.

A process of its own, so that a browser that hangs can be given up. `OPTIONS` are launch options in JSON.
"""

import json
import sys

from playwright.sync_api import sync_playwright


def main(engine: str, options: str) -> int:
    """Return 0 if the browser works. An error of Playwright's ends the process with its traceback."""
    with sync_playwright() as playwright:
        browser = getattr(playwright, engine).launch(**json.loads(options))
        answer = browser.new_page().evaluate("() => 6 * 7")
        browser.close()
    return 0 if answer == 42 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
