"""`python -m bench [NAME…]`: run scenarios, print the table, write `build/bench.json`.

Exit status: 0 · 1 a scenario failed or, with `--strict`, a budget was missed · 2 wrong command line ·
130 interrupted.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.model import Measurement, Scenario
from bench.report import Results, any_missed, failures, table, write_json
from bench.scenarios import SCENARIOS
from scripts.setup.console import StepDisplay

JSON_PATH = Path(__file__).resolve().parents[1] / "build" / "bench.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name:16}{scenario.title}")
        return 0
    known = {scenario.name for scenario in SCENARIOS}
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"there is no scenario {unknown[0]}; there are {', '.join(sorted(known))}")
    chosen = [scenario for scenario in SCENARIOS if not options.names or scenario.name in options.names]
    try:
        results: Results = {
            scenario.name: _run(scenario, f"[{number}/{len(chosen)}]")
            for number, scenario in enumerate(chosen, 1)
        }
    except KeyboardInterrupt:
        return 130
    write_json(results, JSON_PATH)
    print(f"\n{table(results)}")
    return 1 if failures(results) or (options.strict and any_missed(results)) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these alone (see --list)")
    parser.add_argument("--list", action="store_true", help="list the scenarios")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a budget is missed")
    return parser


def _run(scenario: Scenario, number: str) -> Sequence[Measurement] | str:
    """What a scenario measures, or why it could not."""
    display = StepDisplay(f"{number} {scenario.title}", sys.stderr)
    display.begin()
    try:
        with tempfile.TemporaryDirectory(prefix="pedelec-bench-") as folder:
            measurements = scenario.run(Path(folder), display)
    except Exception as error:  # noqa: BLE001 - the other scenarios are still worth their time
        display.finish("failed")
        return f"{type(error).__name__}: {error}"
    display.finish("done")
    return measurements


if __name__ == "__main__":
    sys.exit(main())
