"""Interleaved rounds, and the ratios that come out of them.

The machine's speed changes from second to second, so a contender is compared only with its baseline of the
same round, and the order within a round rotates, so that nobody always runs after the same neighbour.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.model import Budget, Measurement
from pedelec_core.runtime.progress import Progress

type Contender = Callable[[], float]
"""Runs once and returns one sample. All contenders that are compared use the same unit."""

WARM_UPS = 1
"""Rounds before the first that counts."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of all contenders, in the order of their rounds."""

    of: Mapping[str, Sequence[float]]
    unit: str

    def median_difference(self, subject: str, baseline: str) -> float:
        """The median over the rounds of what one contender has more than another."""
        return statistics.median(
            mine - other for mine, other in zip(self.of[subject], self.of[baseline], strict=True)
        )

    def compare(
        self, subject: str, baseline: str, *, budget: Budget | None = None, where: str = ""
    ) -> Measurement:
        """The ratio of two contenders; `where` is added to what the subject is called."""
        ours, theirs = self.of[subject], self.of[baseline]
        ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return Measurement(
            what=f"{subject}, {where}" if where else subject,
            baseline=baseline,
            ratio=middle,
            low=low,
            high=high,
            rounds=len(ratios),
            unit=self.unit,
            subject_median=statistics.median(ours),
            baseline_median=statistics.median(theirs),
            budget=budget,
        )


def measured_once(
    what: str, subject: float, baseline: str, compared: float, unit: str, budget: Budget | None
) -> Measurement:
    """The ratio of two figures that no rounds stand behind."""
    ratio = subject / compared
    return Measurement(
        what=what,
        baseline=baseline,
        ratio=ratio,
        low=ratio,
        high=ratio,
        rounds=1,
        unit=unit,
        subject_median=subject,
        baseline_median=compared,
        budget=budget,
    )


def interleave(
    contenders: Mapping[str, Contender],
    *,
    rounds: int,
    unit: str,
    progress: Progress,
    stage: str = "rounds",
) -> Samples:
    """Run every contender once in each round.

    Args:
        contenders: by the name that they have in the table.
        rounds: how many rounds count, at least two.
        unit: of the samples.
        progress: told of each round under the name `stage`.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(-WARM_UPS, rounds):
        if number < 0:
            progress(f"{stage}, warming up")
        else:
            progress(stage, number, rounds)
        for name in names:
            sample = contenders[name]()
            if number >= 0:
                taken[name].append(sample)
        names.append(names.pop(0))
    return Samples(taken, unit)
