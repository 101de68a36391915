"""Call pip so that only the lock decides what is installed, whatever the machine's pip configuration says.

Standard library only. The machine's choice of index, proxy and certificates is respected; its constraints,
targets and build options are not, since hashes in the lock already fix every file.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pedelec_core.runtime.process import run
from pedelec_core.runtime.progress import Progress, silent

_RAW_PROGRESS = re.compile(r"^Progress (\d+) of (\d+)$")
_COLLECTING = re.compile(r"^Collecting ([\w.-]+)")
_DOWNLOADING = re.compile(r"^\s*(?:Downloading|Using cached) (\S+?)(?:\.metadata)?(?: \(.*\))?$")

_ENVIRONMENT = {
    # An empty file, not an empty value: pip ignores empty values and would fall back to its configuration.
    "PIP_CONSTRAINT": os.devnull,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_REQUIRE_VIRTUALENV": "0",
    "PIP_USER": "0",
}


def run_pip(
    arguments: Sequence[str | Path],
    *,
    python: Path = Path(sys.executable),
    progress: Progress = silent,
    on_package: Callable[[str], None] | None = None,
) -> str:
    """Run pip under `python` and return its output.

    Args:
        arguments: the pip command and its options.
        python: the interpreter whose pip is used.
        progress: told of each download, in bytes.
        on_package: told the name of each package that pip turns to, instead of the bytes, which a pip older
            than 24.1 cannot tell.

    Raises:
        ProgramError: pip is missing or reported an error.
    """
    current = "downloads"

    def watch(line: str) -> None:
        nonlocal current
        if on_package is not None and (package := _COLLECTING.match(line)) is not None:
            on_package(package[1])
        elif (download := _DOWNLOADING.match(line)) is not None:
            current = Path(download[1]).name
        elif (step := _RAW_PROGRESS.match(line)) is not None:
            progress(current, int(step[1]), int(step[2]))
        elif line.startswith("Installing collected packages:"):
            progress("installing what was downloaded")

    # -I: neither PYTHON* variables nor the user's site-packages may put another pip in front.
    command = [python, "-I", "-m", "pip", *arguments]
    bar = "raw" if on_package is None else "off"
    return run(command, env=_ENVIRONMENT | {"PIP_PROGRESS_BAR": bar}, on_line=watch)
