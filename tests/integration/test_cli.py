"""What `pedelec-cli` makes of its command line, and what it says before Core has the request."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import platformdirs.macos
import platformdirs.unix
import pytest

from pedelec.errors import Code
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS, Limits
from pedelec_core import cli, state_dir
from pedelec_core.page_text import MAX_ID_CHARS
from tests.harness.tables import each_row

NOBODY = 2**31 - 1  # a process number that no system gives


@pytest.fixture(autouse=True)
def _own_state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEDELEC_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("PEDELEC_THREAD_ID", raising=False)


class Run:
    """Runs the command in this process, with a Core that is not there."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *args: str) -> tuple[int, str]:
        handler = signal.getsignal(signal.SIGINT)
        try:
            status = cli.main(list(args))
        finally:
            signal.signal(signal.SIGINT, handler)
        out, err = self._capfd.readouterr()
        assert err == ""
        return status, out

    def error(self, status: int, *args: str) -> dict[str, Any]:
        """The error of a command that ends with that status."""
        actual, out = self(*args)
        assert actual == status, out
        assert out.count("\n") == 1
        answer = json.loads(out)
        assert answer["ok"] is False
        error: dict[str, Any] = answer["error"]
        assert error["message"]
        assert error["recoverySteps"]
        return error


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(capfd)


@each_row(
    ("args", "mentions"),
    [
        ([], "No command"),
        (["--state-dir", "x"], "No command"),
        (["tool-cal", "x", "{}"], "tool-call"),
        (["frobnicate"], "frobnicate"),
        (["tool-call"], "NAME"),
        (["tool-call", "move"], "JSON"),
        (["tool-call", "move", "{a", "b}"], "Quote"),
        (["tool-spec"], "NAME"),
        (["tool-list", "x"], "'x'"),
        (["threads", "x"], "'x'"),
        (["tool-result"], "INVOCATION_ID"),
        (["status", "--call-id", "k"], "--call-id"),
        (["tool-call", "move", "{}", "--call-id", "k" * 201], "200"),
        (["tool-list", "--timeout-ms", "5"], "--timeout-ms"),
        (["status", "--frob"], "--frob"),
        (["status", "-x"], "-x"),
        (["status", "--state-dir"], "--state-dir DIR"),
        (["status", "--state-dir="], "--state-dir DIR"),
        (["tool-call", "move", "{}", "--timeout-ms", "0"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "-1"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "1.5"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "1e3"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "٣"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "86400001"], "milliseconds"),
        (["tool-call", "move", "{}", "--timeout-ms", "9" * 5_000], "milliseconds"),
        (["tool-call", "move", "@/no/such/file"], "No such file"),
        (["tool-call", "move", "@"], "No such file"),
        (["tool-call", "move", "@/"], "directory"),
        (["tool-call", "move", "@a\x00b"], "null"),
    ],
)
def test_a_wrong_command_line_is_told_with_the_usage(run: Run, args: list[str], mentions: str) -> None:
    error = run.error(cli.USAGE, *args)
    assert error["code"] == Code.USAGE_ERROR
    assert mentions in error["message"]
    assert "pedelec-cli" in error["recoverySteps"][0]


def test_the_usage_told_is_that_of_the_command(run: Run) -> None:
    steps = run.error(cli.USAGE, "tool-call")["recoverySteps"]
    options = "[--state-dir DIR] [--thread-id ID] [--timeout-ms N] [--call-id KEY]"
    assert steps == [f"Usage: pedelec-cli tool-call NAME JSON|@FILE|- {options}"]
    steps = run.error(cli.USAGE, "tool-spec")["recoverySteps"]
    assert steps == ["Usage: pedelec-cli tool-spec NAME [--state-dir DIR] [--thread-id ID]"]


def test_words_that_are_not_utf8_are_told(run: Run) -> None:
    assert "UTF-8" in run.error(cli.USAGE, "tool-call", "move", os.fsdecode(b'{"a":"\xff"}'))["message"]


def test_help_tells_every_command_and_option(run: Run) -> None:
    for args in (["--help"], ["-h"], ["tool-call", "--help"]):
        status, out = run(*args)
        assert status == cli.OK
        for word in ("tool-call", "tool-spec", "tool-list", "threads", "tool-result", "status"):
            assert word in out
        for word in ("--state-dir", "--thread-id", "--timeout-ms", "--call-id"):
            assert word in out


def test_version_is_told(run: Run) -> None:
    assert run("--version") == (cli.OK, "pedelec-cli 0.1.0\n")


def test_arguments_that_are_not_utf8_or_too_large_go_nowhere(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "args.json"
    file.write_bytes(b'{"a":"\xff"}')
    error = run.error(cli.NOT_OK, "tool-call", "move", f"@{file}")
    assert error["code"] == Code.TOOL_ARGS_INVALID
    assert "byte 6 is 0xff" in error["message"]
    file.write_bytes(b" " * (cli.MAX_ARGS_BYTES + 1))
    error = run.error(cli.NOT_OK, "tool-call", "move", f"@{file}")
    assert error["code"] == Code.TOOL_ARGS_INVALID
    assert error["effects"] == "none"
    assert str(cli.MAX_ARGS_BYTES) in error["details"]["violations"][0]["message"]


def test_an_endless_file_is_not_read_to_its_end(run: Run) -> None:
    assert run.error(cli.NOT_OK, "tool-call", "move", "@/dev/zero")["code"] == Code.TOOL_ARGS_INVALID


def test_a_core_that_is_not_there_is_told_with_the_way_to_start_it(run: Run, tmp_path: Path) -> None:
    error = run.error(cli.UNREACHABLE, "status")
    assert error["code"] == Code.CORE_RUNTIME_UNAVAILABLE
    assert error["class"] == "userInput"
    assert error["effects"] == "none"
    assert error["recoverySteps"][0] == f"Start it: pedelec-core serve --state-dir {tmp_path}"


def test_the_way_to_start_core_is_quoted_for_the_shell(run: Run) -> None:
    error = run.error(cli.UNREACHABLE, "status", "--state-dir", "/no such; dir")
    assert error["recoverySteps"][0] == "Start it: pedelec-core serve --state-dir '/no such; dir'"


def test_the_default_state_folder_needs_no_option(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PEDELEC_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run.error(cli.UNREACHABLE, "status")["recoverySteps"][0] == "Start it: pedelec-core serve"


def test_a_core_that_died_is_told_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runtime.json").write_text(json.dumps({"pid": NOBODY, "socket": str(tmp_path / "s")}))
    error = run.error(cli.UNREACHABLE, "status")
    assert f"process {NOBODY} died" in error["message"]


def test_a_core_that_lives_and_does_not_answer_is_told_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runtime.json").write_text(json.dumps({"pid": os.getpid(), "socket": str(tmp_path / "s")}))
    error = run.error(cli.UNREACHABLE, "status")
    assert f"process {os.getpid()}" in error["message"]
    assert "does not answer" in error["message"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid":"x","socket":1}', '{"pid":1e400,"socket":""}'])
def test_a_runtime_json_that_is_none_is_told_as_such(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "runtime.json").write_text(text)
    assert "runtime.json" in run.error(cli.UNREACHABLE, "status")["message"]


def test_a_state_folder_that_is_none_is_told_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error = run.error(cli.UNREACHABLE, "status", "--state-dir", str(tmp_path / "file"))
    assert "cannot be read: Not a directory" in error["message"]


def test_its_codes_and_limits_are_those_of_the_product() -> None:
    source = Path(cli.__file__).read_text()
    codes = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', source)) - {
        "AF_UNIX",
        "XDG_STATE_HOME",
        "INVOCATION_ID",
    }
    codes -= {"PEDELEC_STATE_DIR", "PEDELEC_THREAD_ID"}
    assert codes
    assert codes <= set(Code)
    assert Limits().max_args_bytes == cli.MAX_ARGS_BYTES
    assert MAX_TOOL_TIMEOUT_MS == cli.MAX_TIMEOUT_MS
    assert MAX_ID_CHARS == cli.MAX_CALL_ID_CHARS
    assert state_dir.SOCKET_NAME in source
    assert state_dir.RUNTIME_NAME in source


@pytest.mark.parametrize("xdg", ["", "/xdg", "relative"])
def test_its_default_state_folder_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch, xdg: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", xdg)
    for platform, kind in (("linux", platformdirs.unix.Unix), ("darwin", platformdirs.macos.MacOS)):
        monkeypatch.setattr(sys, "platform", platform)
        ours = os.path.expanduser(cli._default_state_dir())  # noqa: PTH111
        assert ours == kind("pedelec", appauthor=False).user_state_dir
