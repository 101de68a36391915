"""What a scenario is and what it finds. Measures nothing and prints nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pedelec_core.runtime.progress import Progress


@dataclass(frozen=True, slots=True)
class Budget:
    """What a ratio may be: at most `limit`, or at least."""

    limit: float
    at_least: bool = False

    def allows(self, ratio: float) -> bool:
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One ratio between something of ours and its baseline.

    Attributes:
        what: what was measured, and where.
        baseline: what it is compared with.
        ratio: the median over the rounds of subject / baseline within a round.
        low, high: the quartiles of the same, a measure of how steady the machine was.
        rounds: how many rounds stand behind them.
        unit: of the two absolute medians, which are for orientation alone.
        budget: what the ratio has to be, or None where it is told for information.
    """

    what: str
    baseline: str
    ratio: float
    low: float
    high: float
    rounds: int
    unit: str
    subject_median: float
    baseline_median: float
    budget: Budget | None

    @property
    def missed(self) -> bool:
        return self.budget is not None and not self.budget.allows(self.ratio)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: everything in it is measured side by side.

    Attributes:
        name: chooses it on the command line.
        title: what is shown while it runs.
        run: measures, with an empty folder of its own; tells how far it is.
    """

    name: str
    title: str
    run: Callable[[Path, Progress], Sequence[Measurement]]
