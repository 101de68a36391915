"""`python -m scripts.setup demo|test`: what `make demo` or `make test` needs, and nothing twice."""

import sys
from pathlib import Path

from scripts.setup.browsers import browsers_step
from scripts.setup.bundle import bundle_step
from scripts.setup.environment import Environment
from scripts.setup.lock import only_one
from scripts.setup.steps import SetupError, Stamps, run_steps

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str]) -> int:
    """Prepare the checkout for the goal named in `arguments`; return the exit status."""
    if arguments not in (["demo"], ["test"]):
        print("usage: scripts/setup.sh demo|test", file=sys.stderr)
        return 2
    state = ROOT / "build" / "setup"
    environment = Environment(ROOT, Stamps(state))
    steps = [*environment.steps(), bundle_step(ROOT, environment.python)]
    if arguments == ["test"]:
        steps.append(browsers_step(ROOT, environment.python))
    try:
        with only_one(state / "lock", sys.stdout):
            run_steps(steps, environment.stamps)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
