"""A call's way from the agent through Core into a handler in the page, and back.

The baseline is a WebSocket of the same library whose page echoes JSON (`echo_server`), timed inside its
process. Ours is timed by an agent at the local socket; what the budgets bound begins and ends at Core's
agent side, so the time of a request that never gets to a page is taken off, round by round.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.agent import AgentConnection, calls_per_second, median_call_ms, median_status_ms
from bench.browsers import SITE, open_browser, open_page
from bench.calls_page import JAVASCRIPT, PYTHON, TYPED, open_calls_page
from bench.echo_process import ask_echo_server, echo_server
from bench.model import Budget, Measurement, Scenario
from bench.rounds import Contender, interleave
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess

ROUNDS = 15
CALLS = 100
IN_FLIGHT = 64
CALLS_IN_FLIGHT = 640

PYTHON_BUDGET = Budget(2.2)
JAVASCRIPT_BUDGET = Budget(2.0)
THROUGHPUT_BUDGET = Budget(0.5, at_least=True)

RAW, RAW_PYTHON = "raw echo by JavaScript", "raw echo by bare Pyodide"
CORE_SIDE = "from Core's agent side"
LOCAL_SOCKET = "the local socket's part (a status request)"


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in Chromium."""
    with ExitStack() as stack:
        core = stack.enter_context(CoreProcess(folder / "state", "--site", str(SITE), *WITHOUT_RATES))
        echo_url = stack.enter_context(echo_server())
        progress("starting Python in chromium")
        browser = stack.enter_context(open_browser("chromium"))
        for page in ("javascript.html", "python.html"):
            open_page(browser, f"{echo_url}/{page}")
        threads = open_calls_page(browser, core.url)
        agents = [stack.enter_context(AgentConnection(core.runtime["socket"])) for _ in range(IN_FLIGHT)]
        return [
            *_latency(agents[0], threads, echo_url, progress),
            *_throughput(agents, threads, echo_url, progress),
        ]


def _latency(
    agent: AgentConnection, threads: Mapping[str, Sequence[str]], echo_url: str, progress: Progress
) -> Sequence[Measurement]:
    contenders: dict[str, Contender] = {
        RAW: partial(ask_echo_server, f"{echo_url}/javascript/latency", calls=CALLS),
        RAW_PYTHON: partial(ask_echo_server, f"{echo_url}/python/latency", calls=CALLS),
        LOCAL_SOCKET: partial(median_status_ms, agent, CALLS),
    }
    for kind, sessions in threads.items():
        contenders[kind] = partial(median_call_ms, agent, "echo", sessions[0], CALLS)
    samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress, stage="one at a time")
    for kind in threads:
        samples = samples.less(kind, LOCAL_SOCKET, f"{kind}, {CORE_SIDE}")
    return [
        samples.compare(f"{PYTHON}, {CORE_SIDE}", RAW, budget=PYTHON_BUDGET),
        samples.compare(f"{JAVASCRIPT}, {CORE_SIDE}", RAW, budget=JAVASCRIPT_BUDGET),
        samples.compare(f"{TYPED}, {CORE_SIDE}", RAW),
        *(samples.compare(kind, RAW, where="local socket included") for kind in threads),
        samples.compare(RAW_PYTHON, RAW),
        samples.compare(LOCAL_SOCKET, RAW),
    ]


def _throughput(
    agents: Sequence[AgentConnection],
    threads: Mapping[str, Sequence[str]],
    echo_url: str,
    progress: Progress,
) -> Sequence[Measurement]:
    contenders: dict[str, Contender] = {
        RAW: partial(
            ask_echo_server, f"{echo_url}/javascript/throughput", calls=CALLS_IN_FLIGHT, in_flight=IN_FLIGHT
        ),
    }
    for kind in (PYTHON, JAVASCRIPT):
        contenders[kind] = partial(calls_per_second, agents, "echo", threads[kind], CALLS_IN_FLIGHT)
    stage = f"{IN_FLIGHT} in flight"
    samples = interleave(contenders, rounds=ROUNDS, unit="calls/s", progress=progress, stage=stage)
    return [
        samples.compare(kind, RAW, budget=THROUGHPUT_BUDGET, where=f"{stage}, throughput")
        for kind in (PYTHON, JAVASCRIPT)
    ]


SCENARIO = Scenario("round-trip", "A call's round trip", run)
