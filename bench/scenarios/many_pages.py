"""A thousand open pages on one Core: how calls, memory and an idle processor fare, next to ten pages.

The pages are real WebSocket clients in a process of their own (`bench.swarm`); the agent calls over the local
socket, at a steady rate that does not wait for answers. A call without an answer, or with an error, fails the
scenario.
"""

import json
import selectors
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from bench.agent import AgentConnection, calls_per_second
from bench.echo_process import ask_echo_server, echo_server
from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave, measured_once
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess

FEW, MANY = 10, 1_000
CALLS_PER_SECOND = 200
SECONDS = 30
FEW_SECONDS = 10
IDLE_SECONDS = 20
AGENTS = 32
WAIT_SECONDS = 60
ROUNDS = 9
CALLS = 640

LATENCY_BUDGET = Budget(3)
MEMORY_BUDGET = Budget(1)
IDLE_BUDGET = Budget(0.02)
KIB_PER_PAGE = 60


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure one Core with few pages, another with many."""
    few = _Load(folder / "few", FEW, FEW_SECONDS, progress)
    many = _Load(folder / "many", MANY, SECONDS, progress, idle=True)
    kib = (many.core_kib - few.core_kib) / (MANY - FEW)
    rate = f"{CALLS_PER_SECOND} calls a second, {MANY} pages, median"
    return [
        measured_once(rate, many.median_ms, f"{FEW} pages", few.median_ms, "ms", LATENCY_BUDGET),
        measured_once(
            "memory of Core per idle page", kib, f"{KIB_PER_PAGE} KiB", KIB_PER_PAGE, "KiB", MEMORY_BUDGET
        ),
        measured_once(
            f"processor at {MANY} idle pages", many.idle_cpu, "one core", 1.0, "cores", IDLE_BUDGET
        ),
        _throughput(folder / "throughput", progress),
    ]


def _throughput(state_dir: Path, progress: Progress) -> Measurement:
    """How many calls a second Core answers, next to a server of the same library that only echoes."""
    ours, bare = f"calls a second, {FEW} pages, {AGENTS} in flight", "bare echo server"
    with ExitStack() as stack:
        core = stack.enter_context(CoreProcess(state_dir, *WITHOUT_RATES))
        threads = stack.enter_context(_swarm(core.url, FEW))
        agents = [stack.enter_context(AgentConnection(core.runtime["socket"])) for _ in range(AGENTS)]
        url = stack.enter_context(echo_server())
        stack.enter_context(_swarm(url, FEW, "bare"))
        contenders = {
            ours: partial(calls_per_second, agents, "echo", threads, CALLS),
            bare: partial(ask_echo_server, f"{url}/clients/throughput", calls=CALLS, in_flight=AGENTS),
        }
        samples = interleave(
            contenders, rounds=ROUNDS, unit="calls/s", progress=progress, stage="as fast as it goes"
        )
    return samples.compare(ours, bare)


class _Load:
    """One Core, its pages and the calls made to them; measured when it is made."""

    def __init__(
        self, state_dir: Path, pages: int, seconds: int, progress: Progress, *, idle: bool = False
    ) -> None:
        self.idle_cpu = 0.0
        with ExitStack() as stack:
            core = stack.enter_context(CoreProcess(state_dir, *WITHOUT_RATES))
            progress(f"opening {pages} pages")
            threads = stack.enter_context(_swarm(core.url, pages))
            agents = [stack.enter_context(AgentConnection(core.runtime["socket"])) for _ in range(AGENTS)]
            pid = core.process.pid
            if idle:
                progress(f"{pages} pages, idle for {IDLE_SECONDS} s")
                self.idle_cpu = _idle_cpu(pid)
            self.core_kib = _resident_kib(pid)
            self.median_ms = _steady_calls(agents, threads, seconds, progress)


@contextmanager
def _swarm(url: str, pages: int, *kind: str) -> Iterator[list[str]]:
    command = [sys.executable, "-m", "bench.swarm", url, str(pages), *kind]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the pages did not connect")
        yield json.loads(line)
        if process.poll() is not None:
            raise RuntimeError("the pages did not last")
    finally:
        process.stdin.close()
        process.wait(WAIT_SECONDS)
        process.stdout.close()


def _steady_calls(
    agents: Sequence[AgentConnection], threads: Sequence[str], seconds: int, progress: Progress
) -> float:
    """The median of calls that start every 1/200 s whatever becomes of the ones before, in milliseconds.

    Reckoned from when a call was due: time that it waited for a free connection counts.
    """
    total = CALLS_PER_SECOND * seconds
    free = list(agents)
    due_of: dict[AgentConnection, float] = {}
    taken: list[float] = []
    started = 0
    begun = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for agent in agents:
            selector.register(agent.socket, selectors.EVENT_READ, agent)
        while len(taken) < total:
            now = time.perf_counter()
            while free and started < total and begun + started / CALLS_PER_SECOND <= now:
                agent = free.pop()
                due_of[agent] = begun + started / CALLS_PER_SECOND
                agent.start_call("echo", threads[started % len(threads)])
                started += 1
            next_due = begun + started / CALLS_PER_SECOND
            patience = max(0.0, next_due - now) if free and started < total else WAIT_SECONDS
            ready = selector.select(patience)
            if not ready and patience == WAIT_SECONDS:
                raise TimeoutError(f"{started - len(taken)} calls got no answer")
            for key, _ in ready:
                agent = key.data
                agent.finish_call()
                taken.append(time.perf_counter() - due_of.pop(agent))
                agent.acknowledge()
                free.append(agent)
                if len(taken) % CALLS_PER_SECOND == 0:
                    progress(f"{len(threads)} pages, calls", len(taken), total)
    return statistics.median(taken) * 1000


def _idle_cpu(pid: int) -> float:
    """The share of a core that a process uses while nobody calls."""
    before = _cpu_seconds(pid)
    time.sleep(IDLE_SECONDS)
    return (_cpu_seconds(pid) - before) / IDLE_SECONDS


def _cpu_seconds(pid: int) -> float:
    """What a process has used so far (proc(5): fields 14 and 15 of `stat`, in hundredths of a second)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _resident_kib(pid: int) -> float:
    """The resident memory of a process (proc(5): `VmRSS` of `status`)."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return float(line.split()[1])


SCENARIO = Scenario("many-pages", f"{MANY} pages on one Core", run)
