"""The browsers under test, and how they are launched. The one place that knows.

Tests load this file by its path (its name has a dot) and use `BROWSERS` and `find`:

    browser = config.find("firefox")
    getattr(playwright, browser.engine).launch(**browser.launch_options)

`python playwright.config.py` finds or installs every browser; `make test` does that.
"""

import os
import sys
from importlib.metadata import version
from pathlib import Path

from scripts.browsers.choose import Chooser
from scripts.browsers.machine import Machine, ThisMachine
from scripts.browsers.model import Browser, BrowserError, BrowserSpec
from scripts.browsers.record import Record, read_record
from scripts.setup.relay import report_progress

RECORD = Path(__file__).resolve().parent / "build" / "browsers.json"

_CHROMIUM_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-features=WebMCP",  # not on by default yet; what pages do without it is shown in Firefox
)

SPECS = (
    BrowserSpec(
        name="chromium",
        engine="chromium",
        download=("chromium", "--only-shell"),
        programs=(
            "chromium",
            "chromium-browser",
            "google-chrome",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ),
        debian_package="chromium",
        # Chromium's sandbox refuses to run as root.
        arguments=(*_CHROMIUM_ARGUMENTS, *(("--no-sandbox",) if os.geteuid() == 0 else ())),
    ),
    BrowserSpec(
        name="firefox",
        engine="firefox",
        download=("firefox",),
        programs=("firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"),
        debian_package="firefox-esr",
        # The channel for a Firefox without Playwright's patches, driven through WebDriver BiDi.
        system_options={"channel": "moz-firefox"},
    ),
)

BROWSERS = tuple(spec.name for spec in SPECS)


def find(name: str) -> Browser:
    """Return the browser that `install` chose.

    Args:
        name: one of `BROWSERS`.

    Raises:
        BrowserError: nothing was chosen yet, or it is gone.
    """
    record = read_record(RECORD)
    if record is None or not record.still_holds():
        raise BrowserError("The browsers under test are not set up. Run `make test`.")
    return next(browser for browser in record.browsers if browser.name == name)


def install(machine: Machine | None = None, record_at: Path = RECORD) -> Record:
    """Find or install every browser under test, prove that each starts, and remember the choice.

    A download that failed is not tried again with the same Playwright, once other browsers were found.

    Raises:
        BrowserError: one is not to be had.
    """
    former = read_record(record_at)
    playwright = version("playwright")
    chooser = Chooser(
        machine or ThisMachine(),
        report_progress,
        download_failed=former is not None and former.playwright == playwright and former.download_failed,
    )
    browsers = [chooser.choose(spec) for spec in SPECS]
    record = Record(playwright, chooser.download_failed, browsers)
    record.write(record_at)
    return record


def main() -> int:
    """Install; print each choice, or what to do; return the exit status."""
    try:
        record = install()
    except BrowserError as error:
        print(error)
        return 1
    for browser in record.browsers:
        print(f"{browser.name}: {browser.origin} ({browser.files[0]})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
