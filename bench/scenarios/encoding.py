"""Checking and encoding a result of 1 MB, against the languages' own encoders, which check nothing."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.browsers import SITE, open_browser, open_page
from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess

ROUNDS = 25
PYTHON_BUDGET = Budget(1.6)
JAVASCRIPT_BUDGET = Budget(2.0)

PYTHON, DUMPS = "Python result of 1 MB", "json.dumps(allow_nan=False)"
JAVASCRIPT, STRINGIFY = "JavaScript result of 1 MB", "JSON.stringify"

_CONTENDERS = {
    PYTHON: "bench.python('encode')",
    DUMPS: "bench.python('dumps')",
    JAVASCRIPT: "bench.javascript('encode')",
    STRINGIFY: "bench.javascript('stringify')",
}


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in Chromium, and in Firefox for information."""
    with CoreProcess(folder / "state", "--site", str(SITE), *WITHOUT_RATES) as core:
        return [
            *_measure(core.url, "chromium", progress, python=PYTHON_BUDGET, javascript=JAVASCRIPT_BUDGET),
            *_measure(core.url, "firefox", progress),
        ]


def _measure(
    core_url: str,
    browser_name: str,
    progress: Progress,
    *,
    python: Budget | None = None,
    javascript: Budget | None = None,
) -> Sequence[Measurement]:
    progress(f"starting Python in {browser_name}")
    with open_browser(browser_name) as browser:
        page = open_page(browser, f"{core_url}/encoding.html")
        contenders = {name: partial(page.evaluate, expression) for name, expression in _CONTENDERS.items()}
        samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress, stage=browser_name)
    return [
        samples.compare(PYTHON, DUMPS, budget=python, where=browser_name),
        samples.compare(JAVASCRIPT, STRINGIFY, budget=javascript, where=browser_name),
    ]


SCENARIO = Scenario("encoding", "A result of 1 MB, checked and encoded", run)
