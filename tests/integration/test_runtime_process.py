"""Running a child program: its output, its failure, its end."""

import os
import signal
import sys
from pathlib import Path

import pytest

from pedelec_core.runtime.pip import run_pip
from pedelec_core.runtime.process import TAIL_LINES, ProgramError, run


def test_output_is_returned_and_each_line_is_passed_on_as_it_comes() -> None:
    lines: list[str] = []
    assert run(["/bin/sh", "-c", "echo one; echo two >&2"], on_line=lines.append) == "one\ntwo"
    assert lines == ["one", "two"]


def test_a_failure_carries_the_status_and_the_last_lines() -> None:
    with pytest.raises(ProgramError) as caught:
        run([sys.executable, "-c", "print(*range(99), sep='\\n'); exit(3)"])
    assert caught.value.status == 3
    assert caught.value.tail.splitlines() == [str(number) for number in range(99 - TAIL_LINES, 99)]


def test_a_program_that_is_not_there_is_a_failure_without_a_status(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="could not be started") as caught:
        run([tmp_path / "nothing"])
    assert caught.value.status is None


def test_variables_that_redirect_python_do_not_reach_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert run(["/bin/sh", "-c", 'echo "[$PYTHONPATH][$EXTRA]"'], env={"EXTRA": "x"}) == "[][x]"


def test_a_program_that_takes_too_long_is_killed_with_its_children() -> None:
    children: list[str] = []
    # The grandchild holds the pipe open; without its end this would wait for a minute.
    with pytest.raises(ProgramError) as caught:
        run(["/bin/sh", "-c", "sleep 60 & echo $!; wait"], on_line=children.append, seconds=0.2)
    assert caught.value.status == -signal.SIGKILL
    assert len(children) == 1


def test_an_error_while_reading_ends_the_program() -> None:
    pids: list[int] = []

    def stop(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(["/bin/sh", "-c", "echo $$; exec sleep 60"], on_line=stop)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_the_machines_pip_constraints_do_not_decide_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "a-constraint-that-is-not-there"))
    monkeypatch.setenv("PIP_USER", "1")
    listed = run_pip(["config", "debug"])
    assert "PIP_USER='0'" in listed
    assert f"PIP_CONSTRAINT='{os.devnull}'" in listed


@pytest.fixture
def talkative_pip(tmp_path: Path) -> Path:
    """A Python whose pip prints what a real one prints, and tells bytes only when asked to."""
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        "echo 'Collecting ruff==0.17.6 (from -r requirements.lock (line 3))'\n"
        "echo '  Downloading ruff-0.17.6-py3-none-any.whl (11.2 MB)'\n"
        "[ $PIP_PROGRESS_BAR = raw ] && echo 'Progress 500 of 1000'\n"
        "echo 'Installing collected packages: ruff'\n"
    )
    python.chmod(0o755)
    return python


class Shown(list[tuple[str, int, int]]):
    """A `Progress` that remembers."""

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        self.append((what, done, total))


def test_pips_downloads_are_told_in_bytes(talkative_pip: Path) -> None:
    shown = Shown()
    run_pip(["install", "ruff"], python=talkative_pip, progress=shown)
    assert shown == [("ruff-0.17.6-py3-none-any.whl", 500, 1000), ("installing what was downloaded", 0, 0)]


def test_pips_packages_are_told_by_name_which_an_old_pip_can_do_too(talkative_pip: Path) -> None:
    shown = Shown()
    packages: list[str] = []
    run_pip(["install", "ruff"], python=talkative_pip, progress=shown, on_package=packages.append)
    assert packages == ["ruff"]
    assert shown == [("installing what was downloaded", 0, 0)]
