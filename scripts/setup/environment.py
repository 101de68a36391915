"""The virtual environment in `.venv`: made, filled with what the lock names, our two packages on top."""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from pedelec_core.runtime.digests import combine
from pedelec_core.runtime.pip import run_pip
from pedelec_core.runtime.process import ProgramError, run
from pedelec_core.runtime.progress import Progress
from scripts.setup.steps import Stamps, Step

ENVIRONMENT = "environment"
DEPENDENCIES = "dependencies"
PACKAGES = "packages"

_NETWORK_ADVICE = "Check the network connection (pip's own settings apply), then run the same command again."


@dataclass(frozen=True)
class Environment:
    """The virtual environment of a checkout.

    Attributes:
        root: the checkout.
        stamps: what is done so far; making the environment anew forgets what was installed into it.
    """

    root: Path
    stamps: Stamps

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def lock(self) -> Path:
        return self.root / "requirements.lock"

    def steps(self) -> list[Step]:
        """Return the three steps that make it."""
        version = ".".join(map(str, sys.version_info[:3]))
        return [
            Step(
                name=ENVIRONMENT,
                title="Virtual environment",
                inputs=lambda: combine([sys.executable, version, str(self.root)]),
                is_done=self._is_sound,
                run=self._create,
                advice="Choose another Python by putting it first on PATH, then run the same command again.",
            ),
            Step(
                name=DEPENDENCIES,
                title="Locked dependencies",
                inputs=lambda: combine([self.lock.read_bytes()]),
                is_done=lambda: self._runs("import pip, platformdirs, pytest"),
                run=self._install_dependencies,
                advice=_NETWORK_ADVICE,
            ),
            Step(
                name=PACKAGES,
                title="Pedelec's two packages",
                inputs=lambda: combine([path.read_bytes() for path in self._projects()]),
                is_done=lambda: self._runs("import pedelec, pedelec_core"),
                run=self._install_packages,
                advice="Mend the pyproject.toml that pip names, then run the same command again.",
            ),
        ]

    def _projects(self) -> list[Path]:
        return [self.root / name / "pyproject.toml" for name in ("sdk_py", "core_shim")]

    def _is_sound(self) -> bool:
        """Tell whether it runs and no installation into it was cut short, which may leave half a package."""
        cut_short = self.stamps.was_interrupted(DEPENDENCIES) or self.stamps.was_interrupted(PACKAGES)
        return not cut_short and self._runs("import pip")

    def _runs(self, code: str) -> bool:
        try:
            run([self.python, "-I", "-c", code])
        except ProgramError:
            return False
        return True

    def _create(self, progress: Progress) -> None:
        for name in (DEPENDENCIES, PACKAGES):
            self.stamps.forget(name)
        if self.folder.exists():
            progress("removing the old one")
            shutil.rmtree(self.folder)
        progress(f"creating with {sys.executable}")
        run([sys.executable, "-I", "-m", "venv", self.folder])

    def _install_dependencies(self, progress: Progress) -> None:
        names = re.findall(r"^([\w.-]+)==", self.lock.read_text(encoding="utf-8"), re.MULTILINE)
        seen: set[str] = set()

        def count(name: str) -> None:
            seen.add(name)
            progress(name, len(seen), len(names))

        options: list[str | Path] = ["--require-hashes", "--no-deps", "-r", self.lock]
        run_pip(["install", *options], python=self.python, progress=progress, on_package=count)

    def _install_packages(self, progress: Progress) -> None:
        progress("installing in place")
        sources: list[str | Path] = []
        for project in self._projects():
            sources += ["-e", project.parent]
        run_pip(["install", "--no-deps", "--no-build-isolation", *sources], python=self.python)
