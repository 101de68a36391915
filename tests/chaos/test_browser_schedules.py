"""The same promise as in `test_schedules.py`, with the pages in tabs of a real browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from pedelec_core.runtime.commands import build as build_bundle
from scripts.browsers.config import load_config
from tests.chaos.browser_tab import BrowserTab
from tests.chaos.ledger import Ledger
from tests.chaos.schedules import Group, Schedule, browser_groups
from tests.chaos.world import play_group

pytestmark = [pytest.mark.anyio, pytest.mark.browser, pytest.mark.timeout(300)]

_SITE = Path(__file__).with_name("site")
_GRACE_SECONDS = "120"
"""Longer than a page takes to start: what is tested here is calls, not how a session ends."""
_BOUND_SECONDS = 120.0
"""Pages start anew here, each with a Python of its own."""


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    build_bundle()
    found = load_config().find("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**found.launch_options)
        yield browser
        await browser.close()


@pytest.mark.parametrize("group", browser_groups(), ids=lambda group: group.name)
async def test_tabs_of_a_browser_lose_nothing_and_run_nothing_twice(chromium: Browser, group: Group) -> None:
    context = await chromium.new_context()
    # Playwright brings what it routes sockets with when a context first does, and of pages that are opened
    # side by side only one would wait for that.
    await context.route_web_socket("**/nowhere", lambda _: None)

    def new_tab(schedule: Schedule, core_url: str, ledger: Ledger) -> BrowserTab:
        return BrowserTab(schedule, core_url, ledger, context)

    options = ("--site", str(_SITE), "--grace-seconds", _GRACE_SECONDS)
    complaints = await play_group(group, new_tab, options, _BOUND_SECONDS)
    assert not complaints, "\n" + "\n".join(complaints)
