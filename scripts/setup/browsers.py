"""The step that makes sure of the browsers under test, which `playwright.config.py` describes."""

from pathlib import Path

from pedelec_core.runtime.digests import combine
from scripts.browsers.record import read_record
from scripts.setup.relay import relayed
from scripts.setup.steps import Step


def browsers_step(root: Path, python: Path) -> Step:
    """Return the step that finds or installs the browsers, using the environment's `python`."""
    config = root / "playwright.config.py"
    record = root / "build" / "browsers.json"
    makers = [config, *sorted((root / "scripts" / "browsers").glob("*.py")), root / "requirements.lock"]
    return Step(
        name="browsers",
        title="Browsers",
        inputs=lambda: combine([path.read_bytes() for path in makers]),
        is_done=lambda: (found := read_record(record)) is not None and found.still_holds(),
        run=lambda progress: relayed([python, config], root, progress),
        advice="Install Chromium and Firefox with the system's package manager, then run the command again.",
    )
