"""The set-up's steps: done once, done again when needed, and resumed after a kill at any moment."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.process import ProgramError
from pedelec_core.runtime.progress import Progress
from scripts.setup.console import StepDisplay
from scripts.setup.environment import DEPENDENCIES, Environment
from scripts.setup.lock import only_one
from scripts.setup.steps import SetupError, Stamps, Step, run_steps

ROOT = Path(__file__).resolve().parents[2]


class Workshop:
    """Steps that each write one file, and how often each was run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stamps = Stamps(folder / "stamps")
        self.runs: list[str] = []
        self.out = io.StringIO()

    def step(self, name: str, inputs: str = "1", action: Callable[[], None] | None = None) -> Step:
        result = self.folder / name

        def run(progress: Progress) -> None:
            self.runs.append(name)
            if action is not None:
                action()
            result.touch()

        return Step(name, name.title(), lambda: inputs, result.exists, run, f"Mend {name}.")

    def do(self, *steps: Step) -> None:
        run_steps(steps, self.stamps, self.out)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def test_a_step_that_is_done_is_not_done_again(workshop: Workshop) -> None:
    workshop.do(workshop.step("a"))
    workshop.do(workshop.step("a"))
    assert workshop.runs == ["a"]
    assert workshop.out.getvalue().endswith("[1/1] A … up to date\n")


def test_a_step_is_done_again_when_its_inputs_change_or_its_result_is_gone(workshop: Workshop) -> None:
    workshop.do(workshop.step("a"))
    workshop.do(workshop.step("a", inputs="2"))
    (workshop.folder / "a").unlink()
    workshop.do(workshop.step("a", inputs="2"))
    assert workshop.runs == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (ProgramError(["/bin/pip"], 1, "no such host"), "B: pip ended with status 1:\nno such host\nMend b."),
        (BundleError("The hash is wrong.", "Try again."), "The hash is wrong.\nTry again."),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_a_failure_says_what_to_do_and_the_next_run_goes_on_from_it(
    workshop: Workshop, failure: Exception, text: str
) -> None:
    def fail() -> None:
        raise failure

    with pytest.raises(SetupError) as caught:
        workshop.do(workshop.step("a"), workshop.step("b", action=fail), workshop.step("c"))
    assert text in str(caught.value)
    workshop.do(workshop.step("a"), workshop.step("b"), workshop.step("c"))
    assert workshop.runs == ["a", "b", "b", "c"]


def test_a_step_whose_result_does_not_work_gets_no_stamp(workshop: Workshop) -> None:
    def never() -> bool:
        return False

    step = Step("a", "A", lambda: "1", never, lambda _: None, "Mend a.")
    with pytest.raises(SetupError, match="result does not work"):
        workshop.do(step)
    assert workshop.stamps.was_interrupted("a")


def test_a_step_killed_half_way_is_done_again_although_its_result_seems_to_be_there(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from scripts.setup.steps import Stamps, Step, run_steps\n"
        "result = Path(sys.argv[1]) / 'a'\n"
        "def run(progress):\n"
        "    result.touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "step = Step('a', 'A', lambda: '1', result.exists, run, '')\n"
        "run_steps([step], Stamps(result.parent / 'stamps'))\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, tmp_path], cwd=ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    workshop = Workshop(tmp_path)
    assert (tmp_path / "a").exists()
    workshop.do(workshop.step("a"))
    assert workshop.runs == ["a"]


def test_an_environment_into_which_an_installation_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    environment = Environment(tmp_path, Stamps(tmp_path / "stamps"))
    environment.python.parent.mkdir(parents=True)
    environment.python.symlink_to(sys.executable)
    is_sound = environment.steps()[0].is_done
    assert is_sound()
    environment.stamps.begin(DEPENDENCIES)
    assert not is_sound()


def test_a_second_set_up_waits_for_the_first_and_says_for_whom(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from scripts.setup.lock import only_one\n"
        "with only_one(Path(sys.argv[1]), sys.stdout):\n"
        "    print('held', flush=True)\n"
    )
    with only_one(lock, io.StringIO()):
        second = subprocess.Popen(
            [sys.executable, "-c", program, lock], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert second.stdout is not None
        assert second.stdout.readline() == (
            f"Another set-up (process {os.getpid()}) is at work in this checkout; waiting for it …\n"
        )
        assert second.poll() is None
    assert second.communicate(timeout=30)[0] == "held\n"


def test_the_set_up_runs_before_anything_is_installed() -> None:
    program = "import sys; sys.path[:0] = sys.argv[1:]; import scripts.setup.__main__"
    # -S: no site-packages, as with a Python that has never seen this project.
    command: list[str | Path] = [sys.executable, "-I", "-S", "-c", program, ROOT, ROOT / "core_shim"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert outcome.returncode == 0, outcome.stderr


class Terminal(io.StringIO):
    """Text output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_progress_writes_over_one_line() -> None:
    out = Terminal()
    display = StepDisplay("[1/2] Locks", out, clock=lambda: 0.0)
    display.begin()
    display("ruff", 3, 62)
    display("node.whl", 30_500_000, 61_000_000)
    display.finish("done")
    assert out.getvalue().split("\r\x1b[K")[1:] == [
        "[1/2] Locks …",
        "[1/2] Locks … ruff 3/62",
        "[1/2] Locks … node.whl 30.5 of 61.0 MB (50 %)",
        "[1/2] Locks … done (0.0 s)\n",
    ]


def test_off_a_terminal_each_stage_gets_a_line_and_counts_get_one_now_and_then() -> None:
    out = io.StringIO()
    now = 0.0
    display = StepDisplay("[1/2] Locks", out, clock=lambda: now)
    display("resolving")
    for count in range(1, 41):
        now += 0.2
        display("package", count, 40)
    display.finish("done")
    assert out.getvalue().splitlines() == [
        "[1/2] Locks … resolving",
        "[1/2] Locks … package 25/40",
        "[1/2] Locks … done (8.0 s)",
    ]
