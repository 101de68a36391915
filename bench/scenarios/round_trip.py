"""A call's way from the agent through Core into a handler in the page, and back.

The baseline is a WebSocket of the same library whose page echoes JSON (`echo_server`), timed inside its
process. What the budgets bound begins and ends at Core's agent side, and so is timed inside Core's process,
by an agent there (`inner_agent`). The same from another process, by the local socket, stands beside it.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.agent import AgentConnection, calls_per_second, median_call_ms
from bench.browsers import SITE, open_browser, open_page
from bench.calls_page import JAVASCRIPT, PYTHON, open_calls_page
from bench.echo_process import ask_echo_server, echo_server
from bench.inner_agent import InnerAgent, Measure, core_with_agent
from bench.model import Budget, Measurement, Scenario
from bench.rounds import Contender, interleave
from pedelec_core.runtime.progress import Progress

ROUNDS = 15
CALLS = 100
IN_FLIGHT = 64
CALLS_IN_FLIGHT = 640

PYTHON_BUDGET = Budget(2.2)
JAVASCRIPT_BUDGET = Budget(2.0)
THROUGHPUT_BUDGET = Budget(0.5, at_least=True)

RAW, RAW_PYTHON = "raw echo by JavaScript", "raw echo by bare Pyodide"
CORE_SIDE = "from Core's agent side"
LOCAL_SOCKET = "local socket included"


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure in Chromium."""
    with ExitStack() as stack:
        core = stack.enter_context(core_with_agent(folder / "state", SITE))
        echo_url = stack.enter_context(echo_server())
        progress("starting Python in chromium")
        browser = stack.enter_context(open_browser("chromium"))
        for page in ("javascript.html", "python.html"):
            open_page(browser, f"{echo_url}/{page}")
        threads = open_calls_page(browser, core.url)
        agents = [stack.enter_context(AgentConnection(core.socket)) for _ in range(IN_FLIGHT)]
        return [
            *_latency(core, agents[0], threads, echo_url, progress),
            *_throughput(core, agents, threads, echo_url, progress),
        ]


def _latency(
    core: InnerAgent,
    agent: AgentConnection,
    threads: Mapping[str, Sequence[str]],
    echo_url: str,
    progress: Progress,
) -> Sequence[Measurement]:
    contenders: dict[str, Contender] = {
        RAW: partial(ask_echo_server, f"{echo_url}/javascript/latency", calls=CALLS),
        RAW_PYTHON: partial(ask_echo_server, f"{echo_url}/python/latency", calls=CALLS),
    }
    for kind, sessions in threads.items():
        inside = Measure(tool="echo", threads=sessions[:1], calls=CALLS)
        contenders[f"{kind}, {CORE_SIDE}"] = partial(core.measure, inside)
        outside = partial(median_call_ms, agent, "echo", sessions[0], CALLS)
        contenders[f"{kind}, {LOCAL_SOCKET}"] = outside
    samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress, stage="one at a time")
    budgets = {PYTHON: PYTHON_BUDGET, JAVASCRIPT: JAVASCRIPT_BUDGET}
    return [
        *(samples.compare(f"{kind}, {CORE_SIDE}", RAW, budget=budgets.get(kind)) for kind in threads),
        *(samples.compare(f"{kind}, {LOCAL_SOCKET}", RAW) for kind in threads),
        samples.compare(RAW_PYTHON, RAW),
    ]


def _throughput(
    core: InnerAgent,
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
        sessions = threads[kind]
        inside = Measure(tool="echo", threads=sessions, calls=CALLS_IN_FLIGHT, in_flight=IN_FLIGHT)
        contenders[f"{kind}, {CORE_SIDE}"] = partial(core.measure, inside)
        outside = partial(calls_per_second, agents, "echo", sessions, CALLS_IN_FLIGHT)
        contenders[f"{kind}, {LOCAL_SOCKET}"] = outside
    stage = f"{IN_FLIGHT} in flight"
    samples = interleave(contenders, rounds=ROUNDS, unit="calls/s", progress=progress, stage=stage)
    where = f"{stage}, throughput"
    return [
        *(
            samples.compare(f"{kind}, {CORE_SIDE}", RAW, budget=THROUGHPUT_BUDGET, where=where)
            for kind in (PYTHON, JAVASCRIPT)
        ),
        *(samples.compare(f"{kind}, {LOCAL_SOCKET}", RAW, where=where) for kind in (PYTHON, JAVASCRIPT)),
    ]


SCENARIO = Scenario("round-trip", "A call's round trip", run)
