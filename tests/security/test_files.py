"""The state folder against other users and planted links, served files and `@FILE` against strange paths."""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from tests.harness import CoreProcess, PageClient, run_cli, run_core, tool
from tests.harness.core_process import clean_environment
from tests.security.raw_http import host, send

PLANTED = [
    "runtime.json",
    "token",
    "core.lock",
    "core.sock",
    "origins.json",
    "origins.lock",
    "journal.sqlite3",
]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_folder_and_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as page:
            page.create_session([tool("probe")])
            run_core("approve", "https://app.example", "--state-dir", str(core.state_dir))
            assert mode(core.state_dir) == 0o700
            assert stat.S_ISSOCK((core.state_dir / "core.sock").lstat().st_mode)
            open_to_others = {
                entry.name: oct(mode(entry)) for entry in core.state_dir.iterdir() if mode(entry) & 0o077
            }
            assert open_to_others == {}
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_link_keeps_core_from_starting_and_its_aim_is_left_alone(tmp_path: Path, name: str) -> None:
    aim = tmp_path / "aim"
    aim.write_text("precious")
    state = tmp_path / "state"
    state.mkdir()
    (state / name).symlink_to(aim)
    for args in (["serve", "--port", "0"], ["origins"], ["approve", "https://app.example"]):
        refused = run_core(*args, "--state-dir", str(state))
        assert refused.status == 1
        assert name in refused.stderr
    assert aim.read_text() == "precious"


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    refused = run_core("serve", "--port", "0", "--state-dir", str(tmp_path / "link"))
    assert (refused.status, "symbolic link" in refused.stderr) == (1, True)


def test_links_planted_while_core_writes_are_replaced_and_never_followed(tmp_path: Path) -> None:
    """A race for the moment between looking and writing: files are replaced whole, so there is none."""
    aim = tmp_path / "aim"
    aim.write_text("precious")
    with CoreProcess(tmp_path / "state") as core:
        state = core.state_dir
        done = threading.Event()

        def plant() -> None:
            while not done.is_set():
                link = state / "planted"
                link.symlink_to(aim)
                link.replace(state / "origins.json")

        attacker = threading.Thread(target=plant)
        attacker.start()
        try:
            for number in range(5):
                run_core("approve", f"https://{number}.example", "--state-dir", str(state))
        finally:
            done.set()
            attacker.join()
        assert aim.read_text() == "precious"
        with PageClient(core.url, origin="https://0.example") as page:
            assert page.welcome.core_version == ""


def test_the_command_line_does_not_trust_a_folder_that_others_can_write_in(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as impostor:
        impostor.bind(str(folder / "core.sock"))
        impostor.listen()
        impostor.settimeout(0.2)
        refused = run_cli("--state-dir", str(folder), "threads", env=clean_environment())
        assert refused.status == 3
        assert "not this user's alone" in refused.json["error"]["message"]
        with pytest.raises(TimeoutError):
            impostor.accept()


@pytest.mark.parametrize(
    "path",
    [
        "/../state/runtime.json",
        "/..%2fstate/token",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/sdk/../../../../etc/passwd",
        "/sdk/..%5c..%5cprotocol.py",
        "/sdk/%2e%2e/protocol.py",
        "/runtime/..%2f..%2fetc/passwd",
        "/wheels/%2e%2e/manifest.json",
        "/wheels//etc/passwd",
        "/index.html%00.js",
        "/.%2e/state/token",
        "//127.0.0.1/../state/token",
        "/approve/../../state/token",
    ],
)
def test_no_path_leads_out_of_what_is_served(core: CoreProcess, path: str) -> None:
    assert send(core, f"GET {path} HTTP/1.1", [host(core)]).status in {400, 404}


def test_nothing_of_the_state_folder_is_served_even_where_it_lies_in_the_site(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "state")
    (tmp_path / "page.html").write_text("<h1>home</h1>")
    with CoreProcess(tmp_path / "state", "--site", str(tmp_path)) as core:
        assert send(core, "GET /page.html HTTP/1.1", [host(core)]).status == 200
        for path in (
            "/state/token",
            "/state/runtime.json",
            "/state/",
            "/state",
            "/link/token",
            "/STATE/../state/token",
        ):
            assert send(core, f"GET {path} HTTP/1.1", [host(core)]).status == 404, path


def test_a_link_in_the_site_leads_nowhere_outside_of_it(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "secret.txt").write_text("precious")
    (site / "secret.txt").symlink_to(tmp_path / "secret.txt")
    (site / "above").symlink_to(tmp_path)
    with CoreProcess(tmp_path / "state", "--site", str(site)) as core:
        for path in ("/secret.txt", "/above/secret.txt", "/above/state/token"):
            assert send(core, f"GET {path} HTTP/1.1", [host(core)]).status == 404, path


def test_a_file_given_as_arguments_is_never_quoted_back(core: CoreProcess, tmp_path: Path) -> None:
    """An agent may be talked into `@FILE`; what is no JSON object must not come out in an error."""
    secret = tmp_path / "id_rsa"
    secret.write_text("-----BEGIN KEY-----\nplanted-secret-4711\n")
    with PageClient(core.url) as page:
        page.create_session([tool("probe")])
        for path in (secret, tmp_path / ".." / tmp_path.name / "id_rsa"):
            refused = core.cli("--thread-id", page.session_id, "tool-call", "probe", f"@{path}")
            assert refused.json["ok"] is False
            assert b"planted-secret" not in refused.stdout
            assert "planted-secret" not in refused.stderr
        page.end_session()
    assert "planted-secret" not in core.log
