"""What the journal adds to a call's round trip: two Cores, one of which keeps none."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.agent import AgentConnection, median_call_ms
from bench.browsers import SITE, open_browser
from bench.calls_page import PYTHON, open_calls_page
from bench.model import Budget, Measurement, Scenario
from bench.rounds import Contender, interleave
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess

ROUNDS = 25
CALLS = 60
BUDGET = Budget(1.15)

WITH, WITHOUT = "round trip with the journal", "without"

_OPTIONS: dict[str, list[str]] = {WITH: [], WITHOUT: ["--no-journal"]}


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure with Python handlers in Chromium."""
    progress("starting Python in chromium")
    with ExitStack() as stack:
        browser = stack.enter_context(open_browser("chromium"))
        contenders: dict[str, Contender] = {}
        for name, options in _OPTIONS.items():
            state_dir = folder / str(len(contenders))
            core = stack.enter_context(CoreProcess(state_dir, "--site", str(SITE), *WITHOUT_RATES, *options))
            sessions = open_calls_page(browser, core.url)[PYTHON]
            agent = stack.enter_context(AgentConnection(core.runtime["socket"]))
            contenders[name] = partial(median_call_ms, agent, "echo", sessions[0], CALLS)
        samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress)
    return [samples.compare(WITH, WITHOUT, budget=BUDGET)]


SCENARIO = Scenario("journal", "The journal's share of a round trip", run)
