"""What came out: the table for people, the same as JSON for programs."""

# ruff: noqa: RUF001 - the table is set with true signs

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.model import Measurement

type Results = Mapping[str, Sequence[Measurement] | str]
"""By scenario: its measurements, or why it failed."""

_HEADINGS = ("what", "measured", "budget", "", "spread", "compared with")


def table(results: Results) -> str:
    """All measurements, one a line, and below them a sentence for each failure."""
    found = [row for rows in results.values() if not isinstance(rows, str) for row in rows]
    lines = [_HEADINGS, *(_cells(row) for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    text = [_aligned(line, widths) for line in lines]
    text.insert(1, "  ".join("─" * width for width in widths))
    missed = sum(row.missed for row in found)
    if missed:
        text += ["", f"{missed} {'budget was' if missed == 1 else 'budgets were'} MISSED."]
    text += [f"\nThe scenario {name} FAILED: {why}" for name, why in failures(results)]
    return "\n".join(text)


def failures(results: Results) -> list[tuple[str, str]]:
    """The scenarios that failed, each with its reason."""
    return [(name, rows) for name, rows in results.items() if isinstance(rows, str)]


def any_missed(results: Results) -> bool:
    """Whether some measurement is over its budget."""
    return any(row.missed for rows in results.values() if not isinstance(rows, str) for row in rows)


def write_json(results: Results, path: Path) -> None:
    """Write everything, the absolute medians included, to `path`."""
    document = {
        "machine": {
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
        },
        "scenarios": {name: _scenario(rows) for name, rows in results.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


_SMALL: Final = 0.1
"""Ratios below have a digit more: of those to a budget in hundredths, two would hide whether it is met."""


def _scenario(rows: Sequence[Measurement] | str) -> dict[str, Any]:
    if isinstance(rows, str):
        return {"failed": rows}
    return {"measurements": [{**asdict(row), "missed": row.missed} for row in rows]}


def _cells(row: Measurement) -> tuple[str, ...]:
    verdict = "" if row.budget is None else "MISSED" if row.missed else "ok"
    budget = "–" if row.budget is None else str(row.budget)
    spread = f"{_shown(row.low)} – {_shown(row.high)}"
    return (row.what, f"{_shown(row.ratio)} ×", budget, verdict, spread, row.baseline)


def _shown(ratio: float) -> str:
    return f"{ratio:.3f}" if abs(ratio) < _SMALL else f"{ratio:.2f}"


def _aligned(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
