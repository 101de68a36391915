"""From the script tag to the first answer, against `loadPyodide()` alone; and what comes over the wire.

Warm: the same browser context, each page visited before. Cold: a new context for each page.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import time

from playwright.sync_api import Browser, BrowserContext, Page

from bench.agent import AgentConnection
from bench.browsers import READY_SECONDS, SITE, open_browser
from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave, measured_once
from pedelec_core.runtime.progress import Progress
from tests.harness import CoreProcess

ROUNDS = {"chromium": 3, "firefox": 2}
SCHEMA_BUDGETS = {"chromium": Budget(0.30), "firefox": Budget(0.50)}
TYPED_BUDGETS = {"chromium": Budget(0.33), "firefox": Budget(0.50)}
COLD_ROUNDS = 3
COLD_BUDGET = Budget(1.25)
WIRE_BUDGET_MIB = 16

SCHEMA, TYPED = "start with schema-given tools", "start with typed tools"
BARE = "loadPyodide() alone"
COLD, COLD_BARE = "cold start without the snapshot", "cold loadPyodide() alone"

_FETCHED = """() => performance.getEntriesByType("resource")
    .map(({ name, transferSize }) => [new URL(name).pathname, transferSize])"""


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in both browsers; what needs an empty cache in Chromium alone."""
    with (
        CoreProcess(folder / "state", "--site", str(SITE)) as core,
        AgentConnection(core.runtime["socket"]) as agent,
    ):
        warm = [row for browser in ROUNDS for row in _measure_warm(core.url, browser, agent, progress)]
        with open_browser("chromium") as browser:
            cold = _measure_cold(core.url, browser, agent, progress)
            return [*warm, cold, *_measure_wire(core.url, browser)]


def _measure_warm(
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
    budgets = {SCHEMA: SCHEMA_BUDGETS[browser_name], TYPED: TYPED_BUDGETS[browser_name]}
    return [
        samples.compare(subject, BARE, where=browser_name, budget=budget)
        for subject, budget in budgets.items()
    ]


def _measure_cold(core_url: str, browser: Browser, agent: AgentConnection, progress: Progress) -> Measurement:
    def bare() -> float:
        with browser.new_context() as context:
            return _bare_ms(context, f"{core_url}/start_bare.html")

    def plain() -> float:
        with browser.new_context() as context:
            return _first_call_ms(context, f"{core_url}/start_plain.html", agent)

    contenders = {COLD_BARE: bare, COLD: plain}
    samples = interleave(contenders, rounds=COLD_ROUNDS, unit="ms", progress=progress, stage="cold")
    return samples.compare(COLD, COLD_BARE, where="chromium", budget=COLD_BUDGET)


def _measure_wire(core_url: str, browser: Browser) -> Sequence[Measurement]:
    """The bytes that a first visit costs, in all and for each of the bigger files."""
    with browser.new_context() as context, context.new_page() as page:
        _open_until_said(page, f"{core_url}/start_typed.html", "thread ")
        fetched = sorted(page.evaluate(_FETCHED), key=lambda entry: -entry[1])
    in_all = _wire("bytes of a first visit", sum(size for _, size in fetched), Budget(1))
    return [in_all, *(_wire(path, size, None) for path, size in fetched if size > 100_000)]


def _wire(what: str, size: int, budget: Budget | None) -> Measurement:
    mib, limit = size / 2**20, f"{WIRE_BUDGET_MIB} MiB"
    return measured_once(f"{what} ({mib:.2f} MiB)", mib, limit, WIRE_BUDGET_MIB, "MiB", budget)


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
