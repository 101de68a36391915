"""The inspector on pages without Python: what it says where something is missing, and what to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.browser_page import WAIT_MS
from tests.browser.other_site import HEAD, OtherSite, serving
from tests.harness import CoreProcess, run_core

_BODY = '<script type="module" src="{core}/inspector.mjs"></script><pedelec-inspector></pedelec-inspector>'

expect.set_options(timeout=WAIT_MS)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherSite]:
    folder = tmp_path / "other"
    folder.mkdir()
    with serving(folder) as site:
        yield site


def opened(context: BrowserContext, address: str) -> tuple[Locator, Locator]:
    """The inspector on a page: the line of states, and what it says where there is no session."""
    page = context.new_page()
    page.goto(address)
    inspector = page.locator("pedelec-inspector")
    return inspector.locator(".state"), inspector.locator(".empty").first


def test_core_that_is_gone_is_told_with_the_next_step_and_found_again(
    context: BrowserContext, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(HEAD + _BODY.format(core=""))
    with CoreProcess(tmp_path / "state", "--site", str(site)) as core:
        state, empty = opened(context, core.url)
        expect(empty).to_contain_text("createSession")
        expect(state).to_contain_text("Origin approved")
        port = core.port
    expect(empty).to_contain_text("Next step: pedelec-core serve.")
    expect(state).to_have_text("Core: not running")
    with CoreProcess(tmp_path / "state", "--site", str(site), port=port):
        expect(empty).to_contain_text("createSession")


@pytest.mark.browsers("chromium")
def test_the_approval_of_the_pages_origin_is_told_with_the_next_step(
    context: BrowserContext, tmp_path: Path, other: OtherSite
) -> None:
    with CoreProcess(tmp_path / "state") as core:
        run_core("approve", other.origin, "--state-dir", str(core.state_dir))
        state, empty = opened(context, other.write(_BODY.format(core=core.url)))
        expect(empty).to_contain_text("Next step: pedelec-core serve --inspector.")
        expect(state).to_contain_text("Origin approved")
        run_core("revoke", other.origin, "--state-dir", str(core.state_dir))
        expect(empty).to_contain_text(f"Next step: pedelec-core approve {other.origin}")
        expect(state).to_contain_text("Origin not approved")
