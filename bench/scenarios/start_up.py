"""From the script tag to the first tool call answered, against `loadPyodide()` alone, from a warm cache."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import time

from playwright.sync_api import BrowserContext, Page

from bench.agent import AgentConnection
from bench.browsers import READY_SECONDS, SITE, open_browser
from bench.model import Measurement, Scenario
from bench.rounds import interleave
from pedelec_core.runtime.progress import Progress
from tests.harness import CoreProcess

ROUNDS = {"chromium": 3, "firefox": 2}

SCHEMA, TYPED = "start with schema-given tools", "start with typed tools"
BARE = "loadPyodide() alone"


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in both browsers."""
    with (
        CoreProcess(folder / "state", "--site", str(SITE)) as core,
        AgentConnection(core.runtime["socket"]) as agent,
    ):
        return [row for browser in ROUNDS for row in _measure(core.url, browser, agent, progress)]


def _measure(
    core_url: str, browser_name: str, agent: AgentConnection, progress: Progress
) -> Sequence[Measurement]:
    with open_browser(browser_name) as browser, browser.new_context() as context:
        contenders = {
            BARE: partial(_bare_ms, context, f"{core_url}/start_bare.html"),
            SCHEMA: partial(_first_call_ms, context, f"{core_url}/start_schema.html", agent),
            TYPED: partial(_first_call_ms, context, f"{core_url}/start_typed.html", agent),
        }
        samples = interleave(
            contenders, rounds=ROUNDS[browser_name], unit="ms", progress=progress, stage=browser_name
        )
    return [samples.compare(subject, BARE, where=browser_name) for subject in (SCHEMA, TYPED)]


def _bare_ms(context: BrowserContext, url: str) -> float:
    with context.new_page() as page:
        _open_until_said(page, url, "ready")
        return float(page.evaluate("performance.measure('start', 'tag', 'ready').duration"))


def _first_call_ms(context: BrowserContext, url: str, agent: AgentConnection) -> float:
    """The page says its session's id once it has one; an agent calls at once."""
    with context.new_page() as page:
        thread_id = _open_until_said(page, url, "thread ")
        agent.start_call("echo", thread_id)
        agent.finish_call()
        answered = 1000 * time()
        agent.acknowledge()
        tag = page.evaluate("performance.timeOrigin + performance.getEntriesByName('tag')[0].startTime")
        return answered - float(tag)


def _open_until_said(page: Page, url: str, prefix: str) -> str:
    """Open a page and wait until it writes a line with this prefix to its console; returns the rest of it."""
    with page.expect_console_message(
        lambda message: message.text.startswith(prefix), timeout=READY_SECONDS * 1000
    ) as said:
        page.goto(url)
    return said.value.text.removeprefix(prefix).strip()


SCENARIO = Scenario("start-up", "From the script tag to the first answer", run)
