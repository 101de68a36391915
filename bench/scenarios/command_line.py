"""One `pedelec-cli tool-call`, from the start of its process to its end, against Python's own start.

The page that answers is a WebSocket client, so that no browser's speed is in the figure.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from bench.model import Budget, Measurement, Scenario
from bench.rounds import interleave
from pedelec.protocol import ToolCall
from pedelec_core.runtime.progress import Progress
from tests.harness import WITHOUT_RATES, CoreProcess, PageClient, tool
from tests.harness.core_process import clean_environment

ROUNDS = 60
BUDGET = Budget(2.2)

CALL, NOTHING = "pedelec-cli tool-call", "python -c pass"

_CLI = str(Path(sys.executable).with_name("pedelec-cli"))


def run(folder: Path, progress: Progress) -> Sequence[Measurement]:
    """Measure with the interpreter that runs the bench."""
    with CoreProcess(folder / "state", *WITHOUT_RATES) as core, PageClient(core.url) as page:
        page.create_session([tool("echo")])
        answering = threading.Thread(target=_answer_calls, args=[page], daemon=True)
        answering.start()
        environment = clean_environment(PEDELEC_STATE_DIR=str(core.state_dir))
        contenders = {
            CALL: partial(_wall_ms, [_CLI, "tool-call", "echo", '{"text":"hello"}'], environment),
            NOTHING: partial(_wall_ms, [sys.executable, "-c", "pass"], environment),
        }
        samples = interleave(contenders, rounds=ROUNDS, unit="ms", progress=progress)
    return [samples.compare(CALL, NOTHING, budget=BUDGET)]


def _answer_calls(page: PageClient) -> None:
    try:
        while True:
            page.send_result(page.receive(ToolCall), {"text": "hello"})
    except (ConnectionClosed, TimeoutError):
        pass  # the scenario is over


def _wall_ms(command: Sequence[str], environment: dict[str, str]) -> float:
    """The wall time of a command, its output read as an agent's shell does."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return 1000 * (time.perf_counter() - started)


SCENARIO = Scenario("command-line", "pedelec-cli tool-call", run)
