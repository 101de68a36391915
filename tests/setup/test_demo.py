"""What `make demo` prints and when it opens a browser."""

import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.demo import MCP_CLIENTS, ROOT, example_line, may_open_browser, mcp_line
from tests.harness.core_process import WAIT_SECONDS, clean_environment


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A folder whose name has a space, with a `pedelec-cli` in it."""
    folder = tmp_path / "my checkout" / "bin"
    folder.mkdir(parents=True)
    (folder / "pedelec-cli").touch(mode=0o755)
    return folder


def test_the_example_names_the_program_by_its_full_path_quoted_for_a_shell(scripts: Path) -> None:
    line = example_line(scripts, {"PATH": "/nowhere"})
    assert line == f'\'{scripts}/pedelec-cli\' tool-call move_shape \'{{"shapeId":"s1","x":120,"y":80}}\''


def test_the_example_is_short_where_path_finds_the_same_program(scripts: Path) -> None:
    assert shlex.split(example_line(scripts, {"PATH": str(scripts)}))[0] == "pedelec-cli"


def test_another_pedelec_cli_on_path_is_not_mistaken_for_ours(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "pedelec-cli").touch(mode=0o755)
    assert shlex.split(example_line(scripts, {"PATH": str(tmp_path)}))[0] == f"{scripts}/pedelec-cli"


def test_the_example_names_a_state_folder_that_only_this_terminal_knows(scripts: Path) -> None:
    line = example_line(scripts, {"PATH": str(scripts), "PEDELEC_STATE_DIR": "/tmp/my state"})
    assert shlex.split(line)[1:4] == ["--state-dir", "/tmp/my state", "tool-call"]


@pytest.mark.parametrize("client", MCP_CLIENTS)
def test_the_mcp_client_that_is_here_is_told_where_the_bridge_is(
    scripts: Path, tmp_path: Path, client: str
) -> None:
    (tmp_path / client).touch(mode=0o755)
    line = mcp_line(scripts, {"PATH": str(tmp_path), "PEDELEC_STATE_DIR": "/tmp/my state"})
    words = shlex.split(line)
    assert words[0] == client
    assert words[-4:] == [f"{scripts}/pedelec-core", "mcp", "--state-dir", "/tmp/my state"]


def test_without_an_mcp_client_the_bridge_itself_is_named(scripts: Path) -> None:
    bridge, _, where = mcp_line(scripts, {"PATH": "/nowhere"}).partition("   ")
    assert shlex.split(bridge) == [f"{scripts}/pedelec-core", "mcp"]
    assert "docs/agents.md" in where


@pytest.mark.parametrize(
    ("environment", "platform", "opens"),
    [
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({}, "linux", False),
        ({}, "darwin", True),
        ({"DISPLAY": ":0", "OPEN": "0"}, "linux", False),
        ({"DISPLAY": ":0", "CI": "true"}, "linux", False),
    ],
)
def test_a_browser_is_opened_only_for_somebody_at_a_screen(
    environment: dict[str, str], platform: str, opens: bool
) -> None:
    assert may_open_browser(environment, platform) is opens


def test_core_does_not_outlive_a_demo_that_is_told_to_end(tmp_path: Path) -> None:
    environment = clean_environment(PORT="0", OPEN="0", PEDELEC_STATE_DIR=str(tmp_path / "state"))
    command = [sys.executable, "-m", "scripts.demo"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        ready = next(line for line in demo.stdout if line.startswith("ready "))
        (port,) = re.findall(r":(\d+)$", ready.strip())
        demo.terminate()
        demo.stdout.read()  # to its end: Core has it, too
        assert demo.wait(WAIT_SECONDS) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(port)), WAIT_SECONDS)
