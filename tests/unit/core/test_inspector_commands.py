"""The commands that people copy from the inspector."""

from pathlib import Path

import pytest

from pedelec_core.inspector.commands import Commands, commands_for


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """An installation's folder of programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pedelec-cli").touch(0o755)
    return folder


def test_a_program_that_the_shell_finds_needs_no_path_but_an_mcp_client_always_gets_one(
    scripts: Path,
) -> None:
    commands = commands_for(None, str(scripts), scripts)
    assert commands == Commands(("pedelec-cli",), (str(scripts / "pedelec-core"), "mcp"))


def test_a_program_that_the_shell_does_not_find_or_takes_for_another_is_named_in_full(
    scripts: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pedelec-cli").touch(0o755)
    for search_path in ("", f"{other}:{scripts}"):
        assert commands_for(None, search_path, scripts).cli == (str(scripts / "pedelec-cli"),)


def test_a_state_folder_is_named_wherever_it_is_not_the_usual_one(scripts: Path) -> None:
    commands = commands_for(Path("/state"), str(scripts), scripts)
    assert commands.cli == ("pedelec-cli", "--state-dir", "/state")
    assert commands.mcp[1:] == ("mcp", "--state-dir", "/state")
