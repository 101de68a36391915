"""Choose how to run each browser under test.

Order: Playwright's own build if it is there, its download, the system's browser, and, on Debian as root, the
system's after installing it. A browser counts as there when it has started.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pedelec_core.runtime.process import ProgramError
from pedelec_core.runtime.progress import Progress, silent
from scripts.browsers.machine import Machine
from scripts.browsers.model import Browser, BrowserError, BrowserSpec

_APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
_APT_DOES = {"dlstatus": "downloading", "pmstatus": "installing"}


@dataclass
class Chooser:
    """Chooses one browser after another on one machine, and does not try again what has failed or been done.

    Attributes:
        machine: where to look and install.
        progress: told what is being tried.
        download_failed: whether Playwright's download is known not to work here.
    """

    machine: Machine
    progress: Progress = silent
    download_failed: bool = False
    _package_lists_are_fresh: bool = False

    def choose(self, spec: BrowserSpec) -> Browser:
        """Return a browser that has started.

        Raises:
            BrowserError: there is none and none could be installed.
        """
        ways = (self._own, self._downloaded, self._system, self._installed)
        browser = next(filter(None, (way(spec) for way in ways)), None)
        if browser is None:
            raise BrowserError(
                f"No {spec.name} was found that Playwright can drive, and none could be installed."
                f" Install one with the system's package manager (Debian's package: {spec.debian_package})."
            )
        return browser

    def _own(self, spec: BrowserSpec) -> Browser | None:
        self.progress(f"{spec.name}: looking for Playwright's own build")
        plan = self.machine.run(_playwright("install", "--dry-run", *spec.download))
        folders = tuple(re.findall(r"Install location:\s*(\S.*)", plan))
        if not folders or not all((Path(folder) / "INSTALLATION_COMPLETE").exists() for folder in folders):
            return None
        return self._if_it_starts(spec, "playwright", {}, folders)

    def _downloaded(self, spec: BrowserSpec) -> Browser | None:
        if self.download_failed:
            return None
        what = f"{spec.name}: downloading Playwright's own build"
        self.progress(what)
        try:
            self.machine.run(
                _playwright("install", *spec.download), self._watch(r"(\d+)% of", lambda _: what)
            )
        except ProgramError:
            self.download_failed = True
            return None
        return self._own(spec) or self._with_libraries(spec)

    def _with_libraries(self, spec: BrowserSpec) -> Browser | None:
        """Playwright's own build lacks system libraries on a bare machine; Playwright knows which."""
        if not self.machine.can_install_packages():
            return None
        self.progress(f"{spec.name}: installing the libraries that it needs")
        try:
            self.machine.run(_playwright("install-deps", spec.engine))
        except ProgramError:
            return None
        return self._own(spec)

    def _system(self, spec: BrowserSpec) -> Browser | None:
        for path in filter(None, map(self.machine.which, spec.programs)):
            self.progress(f"{spec.name}: trying {path}")
            options = {"executable_path": path, **spec.system_options}
            if (browser := self._if_it_starts(spec, "system", options, (path,))) is not None:
                return browser
        return None

    def _installed(self, spec: BrowserSpec) -> Browser | None:
        if not self.machine.can_install_packages():
            return None
        package = spec.debian_package
        status = self._watch(r"^(dlstatus|pmstatus):[^:]*:(\d+)", lambda kind: f"{_APT_DOES[kind]} {package}")
        try:
            if not self._package_lists_are_fresh:
                self.progress("fetching Debian's package lists")
                self.machine.run([*_APT, "update"])
                self._package_lists_are_fresh = True
            options = ("-y", "--no-install-recommends", "-o", "APT::Status-Fd=1")
            self.machine.run([*_APT, "install", *options, package], status)
        except ProgramError as error:
            raise BrowserError(f"Debian's {package} could not be installed: {error}") from error
        return self._system(spec)

    def _if_it_starts(
        self, spec: BrowserSpec, origin: str, options: Mapping[str, Any], files: tuple[str, ...]
    ) -> Browser | None:
        launch_options = {"headless": True, "args": list(spec.arguments), **options}
        browser = Browser(spec.name, spec.engine, origin, launch_options, files)
        return browser if self.machine.starts(browser) else None

    def _watch(self, pattern: str, describe: Callable[[str], str]) -> Callable[[str], None]:
        """Return a reader of output lines that reports the percentage in the pattern's last group.

        `describe` makes the text from the pattern's first group.
        """

        def watch(line: str) -> None:
            if (match := re.search(pattern, line)) is not None:
                self.progress(describe(match[1]), int(match.groups()[-1]), 100)

        return watch


def _playwright(*arguments: str) -> list[str | Path]:
    return [sys.executable, "-m", "playwright", *arguments]
