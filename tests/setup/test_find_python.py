"""`scripts/find_python.sh`, with small shell scripts in the part of Pythons."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("cat", "dirname", "mkdir", "mv", "rm", "sed")


@dataclass
class Machine:
    """A machine on which only the Pythons that a test puts there can be found."""

    root: Path

    def put(self, path: str, script: str) -> Path:
        """Put an executable shell script at a path below the machine's root."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"#!/bin/sh\n{script}\n")
        target.chmod(0o755)
        return target

    def put_python(self, path: str, version: str = "3.13.1") -> Path:
        """Put something that answers as a good Python does."""
        return self.put(path, f'echo "{version} $0"')

    def find(self, *folders_on_path: str) -> subprocess.CompletedProcess[str]:
        folders = [self.root / folder for folder in (*folders_on_path, "tools")]
        environment = {
            "HOME": str(self.root / "home"),
            "PYENV_ROOT": str(self.root / "pyenv"),
            "PATH": os.pathsep.join(map(str, folders)),
        }
        script = self.root / "checkout" / "scripts" / "find_python.sh"
        command: list[str | Path] = ["/bin/sh", script, self.root / "prefix"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    scripts = tmp_path / "checkout" / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "find_python.sh", scripts)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in TOOLS:
        (tools / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
    return Machine(tmp_path)


def test_a_python_on_path_is_chosen_and_named(machine: Machine) -> None:
    python = machine.put_python("a/python3.13")
    answer = machine.find("a")
    assert answer.stdout == f"{python}\n"
    assert answer.stderr == f"Using Python 3.13.1 ({python}).\n"


def test_a_shim_that_refuses_to_run_is_passed_over_for_one_later_on_path(machine: Machine) -> None:
    machine.put("shims/python3.13", 'echo "python3.13: command not found" >&2; exit 127')
    python = machine.put_python("later/python3.13")
    assert machine.find("shims", "later").stdout == f"{python}\n"


def test_a_python_that_is_too_old_is_passed_over(machine: Machine) -> None:
    machine.put("a/python3", "echo 'is Python 3.11, too old' >&2; exit 1")
    python = machine.put_python("prefix/bin/python3.12")
    assert machine.find("a").stdout == f"{python}\n"


def test_versions_kept_by_pyenv_are_found_newest_first(machine: Machine) -> None:
    machine.put_python("pyenv/versions/3.12.9/bin/python3")
    newest = machine.put_python("pyenv/versions/3.14.0/bin/python3")
    machine.put_python("pyenv/versions/3.9.1/bin/python3")
    assert machine.find().stdout == f"{newest}\n"


def test_a_warning_before_the_answer_does_no_harm(machine: Machine) -> None:
    python = machine.put("a/python3", 'echo "warning: something" >&2; echo "3.12.0 $0"')
    assert machine.find("a").stdout == f"{python}\n"


def test_a_folder_with_a_space_in_its_name_does_no_harm(machine: Machine) -> None:
    python = machine.put_python("my tools/python3")
    assert machine.find("my tools").stdout == f"{python}\n"


def test_the_choice_is_remembered_while_it_works(machine: Machine) -> None:
    first = machine.put_python("a/python3.12")
    assert machine.find("a").stdout == f"{first}\n"
    better = machine.put_python("b/python3.14")
    assert machine.find("b", "a").stdout == f"{first}\n"
    first.unlink()
    assert machine.find("b", "a").stdout == f"{better}\n"


def test_uv_fetches_one_as_the_last_resort(machine: Machine) -> None:
    machine.put(
        "a/uv",
        '[ "$1" = --version ] && exit 0\n'
        'target="$4/cpython-3.13.0/bin"\n'
        'mkdir -p "$target"\n'
        'printf \'#!/bin/sh\\necho "3.13.0 $0"\\n\' >"$target/python3"\n'
        f'{shutil.which("chmod")} +x "$target/python3"',
    )
    answer = machine.find("a")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == f"{machine.root}/checkout/build/python/cpython-3.13.0/bin/python3\n"


def test_with_none_it_says_what_was_looked_at_why_not_and_what_to_install(machine: Machine) -> None:
    old = machine.put("a/python3", "echo 'is Python 3.11, too old' >&2; exit 1")
    bare = machine.put("prefix/bin/python3.13", "echo 'is Python 3.13 without ensurepip' >&2; exit 1")
    answer = machine.find("a")
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert f"{old}: is Python 3.11, too old" in answer.stderr
    assert f"{bare}: is Python 3.13 without ensurepip" in answer.stderr
    assert "python3-venv" in answer.stderr


def test_the_check_accepts_the_python_that_runs_this_test(machine: Machine) -> None:
    import sys

    python = machine.put("a/python3", f'exec {sys.executable} "$@"')
    answer = machine.find("a")
    assert answer.returncode == 0, answer.stderr
    found = Path(answer.stdout.strip())
    assert found != python
    assert found.samefile(sys._base_executable)  # type: ignore[attr-defined]
