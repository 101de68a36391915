"""The step that makes the Pyodide bundle. Run as a module, it does so inside the virtual environment."""

import sys
from pathlib import Path

from pedelec_core.runtime import build
from pedelec_core.runtime.digests import combine
from pedelec_core.runtime.errors import BundleError
from scripts.setup.relay import relayed, report_progress
from scripts.setup.steps import Step


def bundle_step(root: Path, python: Path) -> Step:
    """Return the step for the bundle of a checkout, made with the environment's `python`."""
    out, sdk = root / "build" / "runtime", root / "sdk_py"
    return Step(
        name="bundle",
        title="Pyodide bundle",
        inputs=lambda: combine([build.runtime_inputs()]),
        is_done=lambda: build.is_current(out, sdk),
        run=lambda progress: relayed([python, "-m", "scripts.setup.bundle"], root, progress),
        advice="Check the network connection, then run the same command again.",
    )


def main() -> int:
    """Make the bundle and report progress to the process that shows it; return the exit status."""
    from pedelec_core.runtime import commands

    try:
        commands.build(progress=report_progress)
    except BundleError as error:
        print(f"{error.message}\n{error.advice}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
