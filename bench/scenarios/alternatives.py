"""A call's round trip next to what one would otherwise take in the same browser.

They do less: nobody outside the browser can call, and nothing is checked, bounded in time or kept. What is
told is the price of the rest; no budget hangs on it.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.agent import AgentConnection, median_call_ms
from bench.browsers import SITE, open_browser, open_page
from bench.calls_page import JAVASCRIPT, PYTHON, open_calls_page
from bench.model import Measurement, Scenario
from bench.rounds import Contender, interleave
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess

ROUNDS = 9
CALLS = 100

WEBMCP = "WebMCP's executeTool, JavaScript"
WORKER = "postMessage to Pyodide in a worker"


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in Chromium, which has WebMCP."""
    with (
        CoreProcess(folder / "state", "--site", str(SITE), *WITHOUT_RATES) as core,
        AgentConnection(core.runtime["socket"]) as agent,
        open_browser("chromium") as browser,
    ):
        progress("starting Python in chromium")
        threads = open_calls_page(browser, core.url)
        other = open_page(browser, f"{core.url}/alternatives.html")
        contenders: dict[str, Contender] = {
            WEBMCP: partial(other.evaluate, f"bench.meanMs('webmcp', {CALLS})"),
            WORKER: partial(other.evaluate, f"bench.meanMs('worker', {CALLS})"),
        }
        for kind in (JAVASCRIPT, PYTHON):
            contenders[kind] = partial(median_call_ms, agent, "echo", threads[kind][0], CALLS)
        samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress)
    where = "from an agent's socket"
    return [
        samples.compare(JAVASCRIPT, WEBMCP, where=where),
        samples.compare(PYTHON, WORKER, where=where),
    ]


SCENARIO = Scenario("alternatives", "A call, and what one would otherwise take", run)
