"""`pedelec-core` with a fault in it: killed around one write of its journal, or its wall clock set there.

    python -m tests.chaos.faulty_core '{"tool":"act.7","step":"settled","when":"before"}' serve …

Run as a process of its own; the product has no hooks for it.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping

from pedelec_core.journal import Batch, Journal
from pedelec_core.main import main
from pedelec_core.records import InvocationRecord
from tests.chaos.schedules import CLOCK_JUMPS_SECONDS

_INVOCATION_STEPS: Mapping[str, Callable[[InvocationRecord], bool]] = {
    "queued": lambda record: record.instance_id is None,
    "delivered": lambda record: record.instance_id is not None and record.settled_at_ms is None,
    "settled": lambda record: record.settled_at_ms is not None,
    "acknowledged": lambda record: record.acknowledged,
    "cancelled": lambda record: record.cancel_seq > 0,
    "late": lambda record: record.late is not None,
}


def has_come(batch: Batch, tool: str, step: str) -> bool:
    """Whether a batch holds the step that is waited for."""
    if step == "session":
        return any(tool in record.tools for record in batch.sessions.values())
    is_there = _INVOCATION_STEPS[step]
    return any(record.tool == tool and is_there(record) for record in batch.invocations.values())


def arm(tool: str, step: str, when: str) -> None:
    """Have the fault come at the first write of that step."""
    write: Callable[[Journal, Batch], None] = Journal.write
    armed = True
    wall_clock = time.time_ns

    def write_with_fault(self: Journal, batch: Batch) -> None:
        nonlocal armed
        if not armed or not has_come(batch, tool, step):
            write(self, batch)
            return
        armed = False
        if when == "after":
            write(self, batch)
        if when in {"before", "after"}:
            os.kill(os.getpid(), signal.SIGKILL)
        jump = CLOCK_JUMPS_SECONDS[when] * 1_000_000_000
        time.time_ns = lambda: wall_clock() + jump
        write(self, batch)

    Journal.write = write_with_fault  # type: ignore[method-assign]


if __name__ == "__main__":
    arm(**json.loads(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
