"""The page's own Python at build time: Pyodide, run under Node by the programs in `page_side/`.

Owns how these are called. What they make (bytecode, a memory snapshot) no other Python can make.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.node import Node, ensure_node
from pedelec_core.runtime.process import ProgramError, run
from pedelec_core.runtime.progress import Progress

PAGE_SIDE: Final = Path(__file__).with_name("page_side")
_SECONDS: Final = 600.0


class PagePython(Protocol):
    """Makes the parts of a bundle that need the page's Python. Each raises `BundleError` when it cannot."""

    def compile_wheels(self, pyodide: Path, wheels: Sequence[Path], out: Path, progress: Progress) -> None:
        """Write each of `wheels` into `out` with its modules compiled; one of pure Python gets another tag.

        Args:
            pyodide: the folder that Pyodide is unpacked in.
            wheels: the wheels as they were published.
            out: an existing folder.
            progress: told of each wheel.
        """

    def make_snapshots(
        self, pyodide: Path, sdk: Path, loader: Path, wheels: Sequence[Path], out: Path, progress: Progress
    ) -> None:
        """Write into `out` the compiled SDK, and the memories of a Python with and without `wheels`.

        Sees that they wake up.

        Args:
            pyodide: the folder that Pyodide is unpacked in.
            sdk: the SDK's wheel.
            loader: the folder of the loader's modules, which wake it up in a page.
            wheels: compiled wheels: what typed tools need.
            out: an existing folder.
            progress: told of each step.
        """

    def fetch_own(
        self, pyodide: Path, lock: Path, folder: Path, names: Sequence[str], progress: Progress
    ) -> None:
        """Fetch packages of Pyodide's own distribution into `folder`, but those that are there.

        Pyodide knows where they are; whether they are as its lock file has them is not looked at.

        Args:
            pyodide: the folder that Pyodide is unpacked in.
            lock: Pyodide's own lock file.
            folder: where they are kept; may not exist yet.
            names: normalized, as in the lock file.
            progress: told of each package.
        """

    def compress(self, files: Sequence[Path], level: int, progress: Progress) -> None:
        """Write a `.zst` beside each file. `level` is Zstandard's: more takes longer and gives less."""


class PagePythonUnderNode:
    """Implements `PagePython`. Finds or fetches a Node when it is first needed; `work_dir` keeps that."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._node: Node | None = None

    def node(self, progress: Progress) -> Node:
        """Return the Node that is used."""
        self._node = self._node or ensure_node(self._work_dir, progress)
        return self._node

    def compile_wheels(self, pyodide: Path, wheels: Sequence[Path], out: Path, progress: Progress) -> None:
        self._run("compile.mjs", [pyodide, out, *wheels], progress)

    def make_snapshots(
        self, pyodide: Path, sdk: Path, loader: Path, wheels: Sequence[Path], out: Path, progress: Progress
    ) -> None:
        self._run("snapshot.mjs", [pyodide, loader, out, sdk, *wheels], progress)

    def fetch_own(
        self, pyodide: Path, lock: Path, folder: Path, names: Sequence[str], progress: Progress
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._run("fetch_own.mjs", [pyodide, lock, folder, *names], progress, "Check the network connection.")

    def compress(self, files: Sequence[Path], level: int, progress: Progress) -> None:
        self._run("compress.mjs", [str(level), *files], progress)

    def _run(
        self,
        program: str,
        arguments: Sequence[str | Path],
        progress: Progress,
        advice: str = "Mend what it names, then try again.",
    ) -> None:
        def watch(line: str) -> None:
            fields = line.split("\t")
            if len(fields) == 3 and fields[1].isdecimal() and fields[2].isdecimal():
                progress(fields[0], int(fields[1]), int(fields[2]))

        node = self.node(progress)
        try:
            run([node.executable, PAGE_SIDE / program, *arguments], on_line=watch, seconds=_SECONDS)
        except ProgramError as error:
            message = f"Pyodide under Node {node.version} failed in {program}: {error}"
            raise BundleError(message, advice) from error


def page_side_files() -> list[Path]:
    """Return the files that decide what is made here."""
    return sorted(path for path in PAGE_SIDE.iterdir() if path.is_file())
