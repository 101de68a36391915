"""How origins are written, and how approvals are kept."""

import json
import stat
import threading
from pathlib import Path

import pytest

from pedelec.errors import Code, PedelecError
from pedelec_core.command_errors import CommandError
from pedelec_core.origins import OriginStore, normalize_origin
from tests.harness.tables import each_row


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://app.example.com", "https://app.example.com"),
        ("HTTPS://App.Example.COM", "https://app.example.com"),
        ("https://app.example.com:443", "https://app.example.com"),
        ("http://app.example.com:80", "http://app.example.com"),
        ("http://app.example.com:443", "http://app.example.com:443"),
        ("http://localhost:08080", "http://localhost:8080"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("http://[0:0:0:0:0:0:0:1]:3000", "http://[::1]:3000"),
        ("http://[::FFFF:127.0.0.1]:3000", "http://[::ffff:7f00:1]:3000"),
        ("https://xn--exmple-cua.com", "https://xn--exmple-cua.com"),
        ("https://my_app.example.com", "https://my_app.example.com"),
    ],
)
def test_an_origin_is_written_as_a_browser_sends_it(text: str, origin: str) -> None:
    assert normalize_origin(text) == origin
    assert normalize_origin(origin) == origin


@each_row(
    ("text", "reason"),
    [
        ("", "begin with"),
        ("null", "named origin"),
        ("*", "named origin"),
        ("https://*.example.com", "named origin"),
        ("app.example.com", "begin with"),
        ("ftp://app.example.com", "begin with"),
        ("file:///tmp", "begin with"),
        ("https://app.example.com/", "no path"),
        ("https://app.example.com/index.html", "no path"),
        ("https://app.example.com?x", "no path"),
        ("https://user:pw@app.example.com", "scheme://host"),
        ("https://app.exämple.com", "xn--"),
        ("https://app.example.com.", "host"),
        ("https://-app.example.com", "host"),
        ("https://app..example.com", "host"),
        ("https://app.example.com:0", "port"),
        ("https://app.example.com:65536", "port"),
        ("https://app.example.com:", "scheme://host"),
        ("https://", "scheme://host"),
        (" https://app.example.com", "begin with"),
        ("https://app.example.com\n", "scheme://host"),
        ("http://2130706433", "IPv4"),
        ("http://0x7f.1", "IPv4"),
        ("http://127.1", "IPv4"),
        ("http://[::1", "scheme://host"),
        ("http://[12345::]", "IPv6"),
    ],
)
def test_what_is_no_origin_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(PedelecError, match=reason) as caught:
        normalize_origin(text)
    assert caught.value.code == Code.INVALID_INPUT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "origins.json"


def test_nothing_is_approved_at_first(path: Path) -> None:
    store = OriginStore(path)
    assert store.approved() == []
    assert not store.is_approved("https://a.example")
    assert not path.exists()


def test_an_approval_outlives_the_process_and_is_private(path: Path) -> None:
    assert OriginStore(path).approve("https://a.example")
    assert OriginStore(path).is_approved("https://a.example")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_approving_twice_and_revoking_the_unapproved_change_nothing(path: Path) -> None:
    store = OriginStore(path)
    assert store.approve("https://a.example")
    before = path.stat().st_ino
    assert not store.approve("https://a.example")
    assert not store.revoke("https://b.example")
    assert path.stat().st_ino == before


def test_a_running_store_sees_what_another_process_changes(path: Path) -> None:
    running = OriginStore(path)
    for _ in range(3):
        assert not running.is_approved("https://a.example")
        OriginStore(path).approve("https://a.example")
        assert running.is_approved("https://a.example")
        OriginStore(path).revoke("https://a.example")
    path.unlink()
    assert not running.is_approved("https://a.example")


def test_given_origins_are_approved_and_not_written_down(path: Path) -> None:
    store = OriginStore(path, always=["https://a.example"])
    assert store.is_approved("https://a.example")
    assert store.approved() == []


def test_approvals_made_at_once_are_all_kept(path: Path) -> None:
    origins = [f"https://a{number}.example" for number in range(20)]
    threads = [threading.Thread(target=OriginStore(path).approve, args=(origin,)) for origin in origins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert OriginStore(path).approved() == sorted(origins)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format":1}', '{"format":1,"origins":[{}]}', '{"format":2,"origins":[]}'],
)
def test_a_broken_file_approves_nothing_and_is_named(path: Path, text: str) -> None:
    path.write_text(text)
    store = OriginStore(path, always=["https://given.example"])
    assert not store.is_approved("https://a.example")
    assert store.is_approved("https://given.example")
    with pytest.raises(CommandError, match=r"origins\.json"):
        store.approved()
    with pytest.raises(CommandError):
        store.approve("https://a.example")
    assert path.read_text() == text


def test_a_change_that_cannot_be_written_leaves_the_file_as_it_was(path: Path) -> None:
    store = OriginStore(path)
    store.approve("https://a.example")
    before = path.read_text()
    path.with_name("origins.lock").unlink()
    path.with_name("origins.lock").mkdir()
    with pytest.raises(CommandError, match="cannot be changed"):
        store.approve("https://b.example")
    assert path.read_text() == before
    assert json.loads(before)["format"] == 1
    assert [file.name for file in path.parent.iterdir()].count("origins.json") == 1
