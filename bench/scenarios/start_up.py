"""From the script tag to the first answer, against `loadPyodide()` alone; and what comes over the wire.

Warm: the same browser, each page visited before. Cold: a new browser for each page. Chromium is inspected by
nobody (`bench.chromium`), but to count bytes; Firefox by Playwright.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time

from playwright.sync_api import Browser, BrowserContext

from bench.agent import AgentConnection
from bench.browsers import READY_SECONDS, SITE, open_browser
from bench.chromium import open_chromium
from bench.ear import Ear, listening
from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave, measured_once
from pedelec_core.runtime.progress import Progress
from tests.harness import CoreProcess

ROUNDS = {"chromium": 5, "firefox": 3}
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


type Opener = Callable[[str], AbstractContextManager[object]]
"""Opens a page at an address, for as long as the context lasts."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """What every start is measured with."""

    core_url: str
    agent: AgentConnection
    ear: Ear

    def bare_ms(self, opener: Opener) -> float:
        with self._page(opener, "start_bare"):
            told = self.ear.hear("ready")
            return told.said - told.tag

    def first_call_ms(self, opener: Opener, page: str) -> float:
        """The page says its session's id once it has one; an agent calls at once."""
        with self._page(opener, page):
            told = self.ear.hear("thread ")
            self.agent.start_call("echo", told.text.removeprefix("thread ").strip())
            self.agent.finish_call()
            answered = 1000 * time()
            self.agent.acknowledge()
            return answered - told.tag

    def _page(self, opener: Opener, page: str) -> AbstractContextManager[object]:
        return opener(f"{self.core_url}/{page}.html?tell={self.ear.url}")


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in both browsers; what needs an empty cache in Chromium alone."""
    with (
        CoreProcess(folder / "state", "--site", str(SITE)) as core,
        AgentConnection(core.runtime["socket"]) as agent,
        listening() as ear,
    ):
        stage = _Stage(core.url, agent, ear)
        with open_chromium() as chromium:
            warm = _measure_warm(stage, "chromium", chromium.tab, progress)
        with open_browser("firefox") as firefox, firefox.new_context() as context:
            warm += _measure_warm(stage, "firefox", _pages_of(context), progress)
        cold = _measure_cold(stage, progress)
        with open_browser("chromium") as browser:
            return [*warm, cold, *_measure_wire(core.url, browser)]


def _pages_of(context: BrowserContext) -> Opener:
    @contextmanager
    def opener(url: str) -> Iterator[None]:
        with context.new_page() as page:
            page.goto(url)
            yield

    return opener


def _measure_warm(stage: _Stage, browser: str, opener: Opener, progress: Progress) -> list[Measurement]:
    contenders = {
        BARE: partial(stage.bare_ms, opener),
        SCHEMA: partial(stage.first_call_ms, opener, "start_schema"),
        TYPED: partial(stage.first_call_ms, opener, "start_typed"),
    }
    samples = interleave(contenders, rounds=ROUNDS[browser], unit="ms", progress=progress, stage=browser)
    budgets = {SCHEMA: SCHEMA_BUDGETS[browser], TYPED: TYPED_BUDGETS[browser]}
    return [
        samples.compare(subject, BARE, where=browser, budget=budget) for subject, budget in budgets.items()
    ]


def _measure_cold(stage: _Stage, progress: Progress) -> Measurement:
    def bare() -> float:
        with open_chromium() as chromium:
            return stage.bare_ms(chromium.tab)

    def plain() -> float:
        with open_chromium() as chromium:
            return stage.first_call_ms(chromium.tab, "start_plain")

    contenders = {COLD_BARE: bare, COLD: plain}
    samples = interleave(contenders, rounds=COLD_ROUNDS, unit="ms", progress=progress, stage="cold")
    return samples.compare(COLD, COLD_BARE, where="chromium", budget=COLD_BUDGET)


def _measure_wire(core_url: str, browser: Browser) -> Sequence[Measurement]:
    """The bytes that a first visit costs, in all and for each of the bigger files."""
    with browser.new_context() as context, context.new_page() as page:
        page.goto(f"{core_url}/start_typed.html")
        page.wait_for_function("globalThis.said", timeout=READY_SECONDS * 1000)
        fetched = sorted(page.evaluate(_FETCHED), key=lambda entry: -entry[1])
    in_all = _wire("bytes of a first visit", sum(size for _, size in fetched), Budget(1))
    return [in_all, *(_wire(path, size, None) for path, size in fetched if size > 100_000)]


def _wire(what: str, size: int, budget: Budget | None) -> Measurement:
    mib, limit = size / 2**20, f"{WIRE_BUDGET_MIB} MiB"
    return measured_once(f"{what} ({mib:.2f} MiB)", mib, limit, WIRE_BUDGET_MIB, "MiB", budget)


SCENARIO = Scenario("start-up", "From the script tag to the first answer", run)
