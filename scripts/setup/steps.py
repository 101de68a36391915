"""Run steps in order, each only when needed, and remember what is done.

A step's stamp holds the hash of its inputs and is written after its result was checked. A mark is set before
a step starts and taken away after its stamp is written: one that is there already tells of an interruption.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.process import ProgramError
from pedelec_core.runtime.progress import Progress
from scripts.setup.console import StepDisplay


class SetupError(Exception):
    """A step cannot be done.

    Attributes:
        message: what went wrong.
        advice: what the person at the terminal should do.
    """

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message, advice)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message}\n{self.advice}"


@dataclass(frozen=True)
class Step:
    """One step of the set-up.

    Attributes:
        name: the name of its stamp.
        title: what it is called on the screen.
        inputs: the hash over everything that decides its result.
        is_done: whether the result is there and works; must be quick.
        run: makes the result; safe to run over the remains of an interrupted run.
        advice: what to do when it fails and the failure itself does not say.
    """

    name: str
    title: str
    inputs: Callable[[], str]
    is_done: Callable[[], bool]
    run: Callable[[Progress], None]
    advice: str


class Stamps:
    """What is done, in a folder: `NAME.stamp` and `NAME.started`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def holds(self, name: str, inputs: str) -> bool:
        """Tell whether the step was finished, with these inputs, and not begun again since."""
        try:
            return not self.was_interrupted(name) and self._stamp(name).read_text() == inputs
        except OSError:
            return False

    def was_interrupted(self, name: str) -> bool:
        """Tell whether the step was begun and not finished."""
        return self._mark(name).exists()

    def begin(self, name: str) -> None:
        """Note that the step is being done."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._mark(name).touch()

    def finish(self, name: str, inputs: str) -> None:
        """Note that the step is done with these inputs."""
        fresh = self._stamp(name).with_suffix(".new")
        fresh.write_text(inputs)
        fresh.replace(self._stamp(name))
        self._mark(name).unlink()

    def forget(self, name: str) -> None:
        """Forget the step altogether, because what it made was removed."""
        self._stamp(name).unlink(missing_ok=True)
        self._mark(name).unlink(missing_ok=True)

    def _stamp(self, name: str) -> Path:
        return self._folder / f"{name}.stamp"

    def _mark(self, name: str) -> Path:
        return self._folder / f"{name}.started"


def run_steps(steps: Sequence[Step], stamps: Stamps, out: TextIO = sys.stdout) -> None:
    """Do the steps that are not done yet, in order, and show each.

    Raises:
        SetupError: a step failed; those before it stay done, and the next run goes on from it.
    """
    for number, step in enumerate(steps, 1):
        display = StepDisplay(f"[{number}/{len(steps)}] {step.title}", out)
        inputs = step.inputs()
        if stamps.holds(step.name, inputs) and step.is_done():
            display.finish("up to date")
            continue
        display.begin()
        stamps.begin(step.name)
        try:
            _do(step, display)
        except SetupError:
            display.finish("failed")
            raise
        stamps.finish(step.name, inputs)
        display.finish("done")


def _do(step: Step, display: Progress) -> None:
    try:
        step.run(display)
    except BundleError as error:
        raise SetupError(error.message, error.advice) from error
    except ProgramError as error:
        raise SetupError(f"{step.title}: {error}", step.advice) from error
    except OSError as error:
        raise SetupError(
            f"{step.title}: {error}", "Check the free space and the rights of this folder."
        ) from error
    if not step.is_done():
        raise SetupError(f"{step.title}: ended well, but the result does not work.", step.advice)
