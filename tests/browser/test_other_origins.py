"""Pages of other origins: waiting to be let in, and what they are told when they are not."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.browser_page import BrowserPage
from tests.browser.other_site import OtherSite, serving
from tests.harness import CoreProcess

_JAVASCRIPT = """
<script src="{core}/pedelec.js"></script>
<script type="module">
const tools = [{{
  name: "probe",
  description: "Answers <b>one</b>.",
  argsSchema: {{ type: "object" }},
  handler: () => 1,
}}];
const client = new pedelec.Pedelec({{ appName: "Board" }});
globalThis.opening = client.createSession({{ skills: {{ guidance: "", tools }} }});
opening.catch(() => {{}});
</script>
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherSite]:
    folder = tmp_path / "other"
    folder.mkdir()
    with serving(folder) as site:
        yield site


@pytest.fixture
def core(tmp_path: Path) -> Iterator[CoreProcess]:
    with CoreProcess(tmp_path / "state") as running:
        yield running


@pytest.fixture
def page(context: BrowserContext, core: CoreProcess, tmp_path: Path) -> Iterator[BrowserPage]:
    own = BrowserPage(context, core, tmp_path)
    yield own
    own.assert_quiet()


def wait_to_be_let_in(page: BrowserPage, other: OtherSite) -> str:
    """Open a page that asks; the one-time link that Core prints."""
    page.page.goto(other.write(_JAVASCRIPT.format(core=page.core.url)))
    page.wait_for("__events.some(({detail}) => detail?.stage === 'approval')")
    assert page.events("ready") == []
    (link,) = re.findall(r"http://\S+/approve/\S+", page.core.log)
    return str(link)


def open_approval(context: BrowserContext, link: str) -> Page:
    approval = context.new_page()
    approval.goto(link)
    return approval


def test_a_page_waits_until_a_person_lets_its_origin_in(
    page: BrowserPage, context: BrowserContext, other: OtherSite
) -> None:
    link = wait_to_be_let_in(page, other)
    approval = open_approval(context, link)
    expect(approval.locator("#origin")).to_have_text(other.origin)
    expect(approval.locator("q")).to_have_text("Board")
    expect(approval.locator("dt")).to_have_text(["probe"])
    expect(approval.locator("dd")).to_have_text(["Answers <b>one</b>."])
    assert link.rpartition("/")[2] not in approval.url
    approval.get_by_role("button", name="Let it in", exact=True).click()
    expect(approval.get_by_role("status")).to_contain_text("is let in")
    thread = page.run("return (await opening).sessionId")
    assert page.call("probe", thread=thread)["result"] == 1
    stages = [event["stage"] for event in page.events("progress")]
    assert stages[:2] == ["approval", "approval"]
    page.page.reload()
    page.run("await opening")


def test_a_page_that_is_rejected_is_told(
    page: BrowserPage, context: BrowserContext, other: OtherSite
) -> None:
    approval = open_approval(context, wait_to_be_let_in(page, other))
    approval.get_by_role("button", name="Do not let it in").click()
    expect(approval.get_by_role("status")).to_contain_text("is not let in")
    error = page.raised("await opening")
    assert error["code"] == "APPROVAL_REJECTED"
    assert page.raised("await pedelec.ready")["code"] == "APPROVAL_REJECTED"
    assert f"pedelec-core approve {other.origin}" in str(error["recoverySteps"])
    (told,) = page.take_errors()
    assert "APPROVAL_REJECTED" in told
