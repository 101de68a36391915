"""The state folder: whose it is, who holds it, what is found in it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pedelec_core.command_errors import CommandError
from pedelec_core.state_dir import (
    LOCK_NAME,
    MAX_SOCKET_PATH_BYTES,
    RUNTIME_NAME,
    RuntimeInfo,
    StateDir,
    default_path,
    write_privately,
)

HOLD_AND_DIE = """\
import os, sys
from pathlib import Path
from pedelec_core.state_dir import RuntimeInfo, StateDir

state = StateDir(Path(sys.argv[1]))
held = state.held()
held.__enter__()
(state.path / "core.sock").touch()
state.write_runtime(
    RuntimeInfo(
        pid=os.getpid(),
        started_at=1.5,
        host="127.0.0.1",
        port=7420,
        url="http://127.0.0.1:7420",
        socket="/run/core.sock",
        core_instance_id="c",
        version="1",
        token="t",
        state_dir="/run",
    )
)
os._exit(1)
"""


def runtime(**changes: Any) -> RuntimeInfo:
    values: dict[str, Any] = {
        "pid": 5,
        "started_at": 1.5,
        "host": "127.0.0.1",
        "port": 7420,
        "url": "http://127.0.0.1:7420",
        "socket": "/run/core.sock",
        "core_instance_id": "c",
        "version": "1",
        "token": "t",
        "state_dir": "/run",
    }
    return RuntimeInfo(**(values | changes))


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    state = StateDir(tmp_path / "deep" / "state")
    state.prepare()
    return state


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_environment_names_the_folder_and_else_the_platform_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEDELEC_STATE_DIR", "/named")
    assert StateDir().path == Path("/named")
    assert StateDir(Path("/given")).path == Path("/given")
    monkeypatch.setenv("PEDELEC_STATE_DIR", "")
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert default_path() == Path("/xdg/pedelec")


def test_a_new_folder_is_its_owners_alone(state: StateDir) -> None:
    assert mode(state.path) == 0o700


def test_an_open_folder_of_ours_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    StateDir(folder).prepare()
    assert mode(folder) == 0o700


def test_a_file_is_no_state_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="is not a folder"):
        StateDir(tmp_path / "file").prepare()
    with pytest.raises(CommandError, match="cannot be used"):
        StateDir(tmp_path / "file" / "below").prepare()


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(CommandError, match="symbolic link"):
        StateDir(tmp_path / "link").prepare()
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["runtime.json", "token", "core.lock", "core.sock", "origins.json", "origins.lock", "journal.db"]
)
def test_a_link_in_the_folder_is_refused_and_its_aim_left_alone(state: StateDir, name: str) -> None:
    aim = state.path.parent / "aim"
    aim.write_text("precious")
    (state.path / name).symlink_to(aim)
    with pytest.raises(CommandError, match=name):
        state.prepare()
    assert aim.read_text() == "precious"


def test_what_another_user_left_in_the_folder_is_refused(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state.path / "token").touch()
    own = os.geteuid()
    seen = iter([own])  # the folder is ours
    monkeypatch.setattr(os, "geteuid", lambda: next(seen, own + 1))
    with pytest.raises(CommandError, match=r"token belongs to another user"):
        state.prepare()


def test_a_link_that_comes_between_is_not_followed(state: StateDir) -> None:
    aim = state.path.parent / "aim"
    aim.write_text("x" * 43)
    aim.chmod(0o600)
    for name in (LOCK_NAME, RUNTIME_NAME, "token"):
        (state.path / name).symlink_to(aim)
    with pytest.raises(CommandError, match="cannot be opened"), state.held():
        pass
    assert state.read_runtime() is None
    assert state.token() != "x" * 43
    state.write_runtime(runtime())
    assert aim.read_text() == "x" * 43


def test_a_runtime_json_that_others_could_have_written_is_as_good_as_none(state: StateDir) -> None:
    state.write_runtime(runtime())
    (state.path / RUNTIME_NAME).chmod(0o622)
    assert state.read_runtime() is None


def test_another_users_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(CommandError, match="belongs to another user"):
        StateDir(tmp_path).prepare()


def test_runtime_json_is_private_and_in_camel_case(state: StateDir) -> None:
    state.write_runtime(runtime())
    path = state.path / RUNTIME_NAME
    assert mode(path) == 0o600
    assert set(json.loads(path.read_text())) == {
        "pid", "startedAt", "host", "port", "url", "socket", "coreInstanceId", "version", "token", "stateDir",
    }  # fmt: skip
    assert state.read_runtime() == runtime()
    state.remove_runtime()
    state.remove_runtime()
    assert state.read_runtime() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid":1}', "\xff"])
def test_a_runtime_json_that_is_none_is_as_good_as_no_file(state: StateDir, text: str) -> None:
    (state.path / RUNTIME_NAME).write_text(text, encoding="latin-1")
    assert state.read_runtime() is None


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_privately(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_privately(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_second_holder_is_refused_and_told_who_holds_it(state: StateDir) -> None:
    with state.held():
        with pytest.raises(CommandError, match="just starting or stopping"), StateDir(state.path).held():
            pass
        state.write_runtime(runtime(pid=4711))
        with pytest.raises(CommandError, match=r"process 4711, http://127\.0\.0\.1:7420"), state.held():
            pass
    with state.held():
        pass


def test_what_a_killed_holder_left_behind_is_cleared(state: StateDir) -> None:
    holder = subprocess.run([sys.executable, "-c", HOLD_AND_DIE, str(state.path)], timeout=60)
    assert holder.returncode == 1
    assert (state.path / "core.sock").exists()
    assert (state.path / RUNTIME_NAME).exists()
    with state.held():
        assert [file.name for file in state.path.iterdir()] == [LOCK_NAME]


def test_the_socket_lies_in_the_state_folder(state: StateDir) -> None:
    with state.socket_path() as path:
        assert path == state.path / "core.sock"
        path.touch()
    assert not path.exists()


def test_a_folder_with_a_long_name_has_its_socket_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    state = StateDir(tmp_path / ("x" * 120))
    state.prepare()
    with state.socket_path() as path:
        assert path.parent.parent == tmp_path
        assert len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES
        assert mode(path.parent) == 0o700
        path.touch()
    assert not path.parent.exists()


def test_where_no_short_path_can_be_had_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with pytest.raises(CommandError, match="too long"), StateDir(long).socket_path():
        pass
    assert list(long.iterdir()) == []


def test_a_socket_that_a_killed_holder_kept_elsewhere_is_cleared(state: StateDir, tmp_path: Path) -> None:
    folder = tmp_path / "pedelec-abc"
    folder.mkdir()
    (folder / "core.sock").touch()
    state.write_runtime(runtime(socket=str(folder / "core.sock")))
    with state.held():
        assert not folder.exists()
