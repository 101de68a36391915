"""The command line of `pedelec-core`, apart from a Core that runs."""

import json
import re
from pathlib import Path

import pytest

from pedelec_core.main import main
from tests.harness.tables import each_row


class Run:
    """Runs a command in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *args: object) -> tuple[int, str, str]:
        try:
            status = main([str(arg) for arg in args])
        except SystemExit as end:  # argparse
            status = int(str(end.code))
        out, err = self._capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    return Run(capfd)


def test_version_is_told(run: Run) -> None:
    assert run("--version") == (0, "pedelec-core 0.1.0\n", "")


@each_row(
    ("args", "mentions"),
    [
        (["--host", "0.0.0.0"], "loopback"),
        (["--host", "192.168.0.1"], "loopback"),
        (["--host", "::"], "loopback"),
        (["--host", "example.com"], "loopback"),
        (["--port", "65536"], "port"),
        (["--port", "9" * 5_000], "port"),
        (["--port", "-1"], "port"),
        (["--port", "http"], "port"),
        (["--port", "٣"], "port"),
        (["--calls-per-turn", "-1"], "number"),
        (["--calls-per-turn", "many"], "number"),
        (["--failures-in-a-row", "1000001"], "number"),
        (["--allow-origin", "*"], "origin"),
        (["--allow-origin", "null"], "origin"),
        (["--allow-origin", "https://a.example/path"], "path"),
        (["extra"], "extra"),
    ],
)
def test_a_wrong_command_line_is_told(run: Run, tmp_path: Path, args: list[str], mentions: str) -> None:
    status, out, err = run("serve", "--state-dir", tmp_path, *args)
    assert (status, out) == (2, "")
    assert mentions in err


def test_a_state_folder_that_cannot_be_used_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below", "/proc/nope"):
        status, out, err = run("serve", "--port", 0, "--state-dir", path)
        assert (status, out) == (1, "")
        assert str(path) in err
        assert "--state-dir" in err


def test_a_site_that_is_no_folder_is_told(run: Run, tmp_path: Path) -> None:
    status, _, err = run("serve", "--state-dir", tmp_path, "--site", tmp_path / "nope")
    assert (status, "is not a folder" in err) == (1, True)


def test_a_broken_list_of_origins_keeps_core_from_starting(run: Run, tmp_path: Path) -> None:
    (tmp_path / "origins.json").write_text("{")
    for args in (("serve", "--port", 0), ("origins",), ("approve", "https://a.example")):
        status, _, err = run(*args, "--state-dir", tmp_path)
        assert (status, "origins.json" in err) == (1, True)
    assert (tmp_path / "origins.json").read_text() == "{"


def test_origins_are_listed_approved_and_revoked(run: Run, tmp_path: Path) -> None:
    state = ("--state-dir", tmp_path)
    assert run("origins", *state) == (0, "", "")
    assert run("approve", "HTTPS://B.example:443", *state)[1] == "https://b.example is approved\n"
    assert run("approve", "https://a.example", *state)[0] == 0
    assert "was already" in run("approve", "https://a.example", *state)[1]
    assert run("origins", *state)[1] == "https://a.example\nhttps://b.example\n"
    assert run("revoke", "https://b.example", *state)[0] == 0
    assert run("revoke", "https://b.example", *state)[0] == 1
    assert run("origins", *state)[1] == "https://a.example\n"
    assert run("approve", "nonsense", *state)[0] == 2


def test_the_bundle_can_be_asked_for_and_verified(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle"
    monkeypatch.setenv("PEDELEC_RUNTIME_DIR", str(bundle))
    for command in ("where", "verify"):
        status, _, err = run("runtime", command)
        assert (status, "pedelec-core runtime build" in err) == (1, True)
    bundle.mkdir()
    (bundle / "manifest.json").write_text(json.dumps({"formatVersion": 0}))
    assert run("runtime", "where")[:2] == (0, f"{bundle}\n")
    assert run("runtime", "verify")[0] == 1


def test_the_loaders_tag_is_printed_with_its_hash(run: Run) -> None:
    status, out, err = run("runtime", "where", "--integrity", "--core-url", "http://127.0.0.1:9/")
    assert (status, err) == (0, "")
    assert re.fullmatch(
        r'<script src="http://127\.0\.0\.1:9/pedelec\.js" integrity="sha384-[A-Za-z0-9+/]{64}" '
        r'crossorigin="anonymous"></script>\n',
        out,
    )
