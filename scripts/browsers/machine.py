"""What choosing a browser asks of the machine, behind an interface, and this machine."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from pedelec_core.runtime.process import ProgramError, run
from scripts.browsers.model import Browser

ROOT = Path(__file__).resolve().parents[2]

_START_SECONDS = 120
_COMMAND_SECONDS = 1200


class Machine(Protocol):
    """What choosing a browser needs to ask of a machine, or to do to it."""

    def run(self, command: Sequence[str | Path], on_line: Callable[[str], None] | None = None) -> str:
        """Run a command within a bounded time and return its output. Raises `ProgramError`."""

    def which(self, program: str) -> str | None:
        """Return the path of a program that is there, or None."""

    def starts(self, browser: Browser) -> bool:
        """Tell whether a browser starts headless and runs a script."""

    def can_install_packages(self) -> bool:
        """Tell whether this is Debian or a relative of it, and we are root."""


class ThisMachine:
    """The machine that this runs on."""

    def run(self, command: Sequence[str | Path], on_line: Callable[[str], None] | None = None) -> str:
        return run(command, on_line=on_line, seconds=_COMMAND_SECONDS)

    def which(self, program: str) -> str | None:
        return shutil.which(program)

    def starts(self, browser: Browser) -> bool:
        command = [sys.executable, "-m", "scripts.browsers.start", browser.engine]
        try:
            run([*command, json.dumps(dict(browser.launch_options))], cwd=ROOT, seconds=_START_SECONDS)
        except ProgramError:
            return False
        return True

    def can_install_packages(self) -> bool:
        try:
            release = Path("/etc/os-release").read_text(encoding="utf-8")
        except OSError:
            return False
        kin = re.findall(r"^ID(?:_LIKE)?=\"?([^\"\n]*)", release, re.MULTILINE)
        is_debian = "debian" in " ".join(kin).split()
        return is_debian and os.geteuid() == 0 and shutil.which("apt-get") is not None
