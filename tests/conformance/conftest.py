"""Core with the suite's fixture tools in a page of a real browser, and the official tools to test it with."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pedelec_core.runtime.node import Node, ensure_node
from tests.harness import CoreProcess
from tests.harness.core_process import clean_environment
from tests.harness.node_packages import INSTALL_SECONDS, install_node_packages

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
_RUN_SECONDS = 150


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            item.add_marker(pytest.mark.timeout(INSTALL_SECONDS + _RUN_SECONDS))


@dataclass(frozen=True, slots=True)
class NodeTools:
    """The packages of package.json, installed."""

    node: Node
    folder: Path

    def run(
        self, program: str, *args: str, options: Sequence[str] = (), env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the packages to its end."""
        return subprocess.run(
            self._command(program, *args, options=options),
            cwd=self.folder,
            env=clean_environment(**(env or {})),
            capture_output=True,
            text=True,
            timeout=_RUN_SECONDS,
        )

    @contextmanager
    def steps(self, program: str, *args: str) -> Iterator[Callable[[str], Any]]:
        """Hold a program that takes a step for each line, and answers each with a line of JSON."""
        with subprocess.Popen(
            self._command(program, *args),
            cwd=self.folder,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:

            def step(name: str) -> Any:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(f"{name}\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                assert answer, f"{program} ended over the step {name}"
                return json.loads(answer)

            try:
                yield step
                process.communicate()
            finally:
                process.kill()

    def _command(self, program: str, *args: str, options: Sequence[str] = ()) -> list[str]:
        return [str(self.node.executable), *options, str(self.folder / program), *args]


@pytest.fixture(scope="session")
def node_tools() -> NodeTools:
    """Installed once for each lock file, into the build folder."""
    node = ensure_node(BUILD)
    folder = install_node_packages(node, HERE, BUILD / "conformance")
    for program in HERE.glob("*.mjs"):
        if not _is_equal(program, folder / program.name):  # or it may be running now, for another process
            shutil.copy(program, folder)
    return NodeTools(node, folder)


def _is_equal(one: Path, other: Path) -> bool:
    return other.exists() and one.read_bytes() == other.read_bytes()


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """A Core whose one page offers the fixture tools."""
    state = tmp_path_factory.mktemp("conformance") / "state"
    with CoreProcess(state, "--site", str(HERE / "site")) as running:
        command = [sys.executable, str(HERE / "hold_page.py"), running.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as page:
            assert page.stdout is not None
            assert page.stdout.readline() == b"ready\n"
            yield running
            page.communicate()
        assert "Traceback" not in running.log
