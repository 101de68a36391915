"""The memory of a page that is ready and idle, over that of a page with Pyodide alone, in Chromium.

Chromium is looked at from outside (`bench.chromium`). A sample is what the process that draws the page has of
its own, files not reckoned (proc(5): `Anonymous` of `smaps_rollup`); Linux alone tells it. It is taken when
that process has come to rest: for seconds after a start the browser compiles the busiest functions anew, with
20 MiB at hand.
"""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.browsers import READY_SECONDS, SITE
from bench.chromium import open_chromium
from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave, measured_once
from pedelec_core.runtime.progress import Progress
from tests.harness import CoreProcess

ROUNDS = 3
MIB_OVER_BARE = {"typed": 24, "schema": 8}
BUDGET = Budget(1)

_WHAT = {"typed": "typed tools", "schema": "schema-given tools"}
_CALM_SECONDS = 3
_CALM_LOAD = 0.03
"""The share of one core that a page at rest may use: a heartbeat now and then."""


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure one page at a time, each in a browser of its own."""
    with CoreProcess(folder / "state", "--site", str(SITE)) as core:
        contenders = {
            kind: partial(_page_mib, f"{core.url}/rest_{kind}.html") for kind in ("bare", *MIB_OVER_BARE)
        }
        samples = interleave(contenders, rounds=ROUNDS, unit="MiB", progress=progress)
    return [
        measured_once(
            f"memory of an idle page with {_WHAT[kind]}, over Pyodide alone",
            samples.median_difference(kind, "bare"),
            f"{limit} MiB",
            limit,
            "MiB",
            BUDGET,
        )
        for kind, limit in MIB_OVER_BARE.items()
    ]


def _page_mib(url: str) -> float:
    with open_chromium("--js-flags=--expose-gc") as chromium, chromium.tab(url) as tab:
        chromium.wait_for_title(tab, "at rest")
        return max(map(_mib_at_rest, filter(_draws_pages, _children(chromium.pid))))


def _children(pid: int) -> list[int]:
    """The processes below one (proc(5): field 4 of `stat`)."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    found, below = [], {pid}
    while below:
        below = {child for child, parent in parents.items() if parent in below}
        found += below
    return found


def _draws_pages(pid: int) -> bool:
    return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _mib_at_rest(pid: int) -> float:
    deadline = time.monotonic() + READY_SECONDS
    used = _processor_seconds(pid)
    while time.monotonic() < deadline:
        time.sleep(_CALM_SECONDS)
        before, used = used, _processor_seconds(pid)
        if used - before <= _CALM_LOAD * _CALM_SECONDS:
            return _anonymous_mib(pid)
    raise TimeoutError(f"The page was still busy after {READY_SECONDS:g} s.")


def _processor_seconds(pid: int) -> float:
    """What a process has used so far (proc(5): fields 14 and 15 of `stat`)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _anonymous_mib(pid: int) -> float:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    (line,) = (line for line in rollup.splitlines() if line.startswith("Anonymous:"))
    return int(line.split()[1]) / 1024


SCENARIO = Scenario("page-memory", "The memory of an idle page", run)
