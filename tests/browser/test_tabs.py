"""One session and the tabs that come and go under it: reload, close, a second tab, back and forward."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.browser_page import LOADER, BrowserPage
from tests.harness import CoreProcess

_PATIENT, _HASTY = 60, 3
"""Seconds that Core waits for pages that went away: for those that start anew, and for those that do not."""

# A page that takes its session up again wherever it is opened in this profile, as an application would.
_PAGE = f"""{LOADER}
<script type="module">
await pedelec.ready;
const client = new pedelec.Pedelec();
const tools = ["ask", "wait"].map((name) => ({{
  name, description: `The tool ${{name}}.`, argsSchema: {{ type: "object" }},
}}));
const known = localStorage.getItem("session");
globalThis.session = known
  ? await client.resumeSession(known)
  : await client.createSession({{ skills: {{ guidance: "", tools }}, autoEndOnDisconnect: true }});
localStorage.setItem("session", session.sessionId);
globalThis.runs = [];
session.onTool("ask", () => document.title);
session.onTool("wait", (args) => {{
  runs.push(args);
  return new Promise((resolve) => {{ globalThis.finish = resolve; }});
}});
</script>"""


@pytest.fixture
def core(request: pytest.FixtureRequest, tmp_path: Path, site: Path) -> Iterator[CoreProcess]:
    """A Core that waits as long as the test says, else long enough for any start."""
    grace = getattr(request, "param", _PATIENT)
    with CoreProcess(tmp_path / "state", "--site", str(site), "--grace-seconds", str(grace)) as running:
        yield running


hasty = pytest.mark.parametrize("core", [_HASTY], indirect=True)


type OpenTab = Callable[[str], BrowserPage]


@pytest.fixture
def tab(context: BrowserContext, core: CoreProcess, site: Path) -> OpenTab:
    """Open a tab with a title of its own; all tabs of a test are of one profile."""

    def opened(title: str) -> BrowserPage:
        page = BrowserPage(context, core, site)
        page.open(_PAGE, name=f"{title}.html", head=f"<title>{title}</title>")
        ready(page, title)
        return page

    return opened


def ready(page: BrowserPage, title: str) -> None:
    """Wait until a tab's session is there; what agents hear from it is its title."""
    page.wait_for("globalThis.runs !== undefined")
    page.run("document.title = given", title)


def thread_of(page: BrowserPage) -> str:
    return str(page.run("return session.sessionId"))


def started(page: BrowserPage, thread: str) -> Any:
    """A call of `wait` whose handler has begun; its answer is waited for with `.finish()`."""
    call = page.start_call("wait", '{"n":1}', thread=thread)
    page.wait_for("runs.length === 1")
    return call


def wait_for_pages(core: CoreProcess, thread: str, count: int) -> None:
    """Wait until Core knows of so many pages of a session."""
    until = time.monotonic() + _PATIENT
    while _pages(core, thread) != count:
        assert time.monotonic() < until


def _pages(core: CoreProcess, thread: str) -> int:
    threads = core.cli("threads").json["result"]["threads"]
    return int(next(one["pages"] for one in threads if one["threadId"] == thread))


def test_a_reload_in_mid_call_is_told_at_once_and_the_session_goes_on(tab: OpenTab) -> None:
    page = tab("only")
    thread = thread_of(page)
    call = started(page, thread)
    page.page.reload()
    ready(page, "only")
    error = call.finish().error
    assert (error["code"], error["class"], error["effects"]) == ("TOOL_INTERRUPTED", "permanent", "unknown")
    assert thread_of(page) == thread
    assert page.call("ask", thread=thread)["result"] == "only"
    assert page.run("return runs.length") == 0


def test_a_second_tab_watches_and_takes_over_when_the_first_is_closed(
    tab: OpenTab, core: CoreProcess
) -> None:
    first = tab("first")
    thread = thread_of(first)
    second = tab("second")
    assert thread_of(second) == thread
    assert second.call("ask", thread=thread)["result"] == "first"
    first.page.close()
    wait_for_pages(core, thread, 1)  # a call in the same moment could still go to the tab that is closing
    assert second.call("ask", thread=thread)["result"] == "second"


@hasty
def test_what_a_closed_tab_was_running_is_given_up_and_never_run_by_the_other(tab: OpenTab) -> None:
    first = tab("first")
    second = tab("second")
    call = started(first, thread_of(second))
    first.page.close()
    error = call.finish().error
    assert (error["code"], error["effects"]) == ("TOOL_INTERRUPTED", "unknown")
    assert second.run("return runs.length") == 0


def test_a_page_that_is_left_and_gone_back_to_offers_its_tools_again(tab: OpenTab) -> None:
    page = tab("home")
    thread = thread_of(page)
    page.open("<h1>elsewhere</h1>", name="elsewhere.html")
    page.page.go_back()
    ready(page, "home")
    assert page.call("ask", thread=thread)["result"] == "home"


@hasty
def test_the_session_ends_some_time_after_its_last_tab_was_closed(tab: OpenTab, core: CoreProcess) -> None:
    page = tab("last")
    thread = thread_of(page)
    call = started(page, thread)
    page.page.close()
    error = call.finish().error
    assert (error["code"], error["effects"]) == ("TOOL_INTERRUPTED", "unknown")
    gone = core.cli("--thread-id", thread, "tool-call", "ask", "{}").error
    assert gone["code"] == "THREAD_NOT_FOUND"
