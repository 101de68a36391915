"""Whose requests Core serves, by their `Host` and `Origin` alone."""

import pytest

from pedelec_core.server.guard import Admission, Guard, Refusal
from tests.harness.tables import each_row

APPROVED = "https://app.example.com"


def guard(port: int = 7420) -> Guard:
    return Guard(port, {APPROVED, "http://other.example.com:8080"}.__contains__)


def status(hosts: list[str], origins: list[str], *, page: bool = False, port: int = 7420) -> int:
    verdict = guard(port).check(hosts, origins, origin_required=page)
    return int(verdict.status) if isinstance(verdict, Refusal) else 200


@pytest.mark.parametrize("host", ["127.0.0.1:7420", "localhost:7420", "[::1]:7420", "LocalHost:7420"])
def test_core_answers_to_the_loopback_names_with_its_port(host: str) -> None:
    assert status([host], []) == 200


@each_row(
    "host",
    [
        "",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:7421",
        "127.0.0.1:07420x",
        "127.0.0.1:",
        "localhost.:7420",
        "evil.example:7420",
        "localhost.evil.example:7420",
        "127.0.0.1.evil.example:7420",
        "127.1:7420",
        "2130706433:7420",
        "0x7f000001:7420",
        "0177.0.0.1:7420",
        "0.0.0.0:7420",
        "127.0.0.2:7420",
        "[::]:7420",
        "[::ffff:127.0.0.1]:7420",
        "::1:7420",
        "user@127.0.0.1:7420",
        "127.0.0.1:7420, evil.example",
        "127.0.0.1:7420\u0660",
        " 127.0.0.1:7420",
    ],
)
def test_any_other_host_is_misdirected(host: str) -> None:
    assert status([host], []) == 421


def test_no_host_or_several_are_misdirected() -> None:
    assert status([], []) == 421
    assert status(["127.0.0.1:7420", "127.0.0.1:7420"], []) == 421


def test_on_port_80_the_port_may_be_left_out() -> None:
    assert status(["127.0.0.1"], ["http://127.0.0.1"], port=80) == 200
    assert status(["127.0.0.1:80"], [], port=80) == 200


@pytest.mark.parametrize("origin", ["http://127.0.0.1:7420", "http://localhost:7420", "http://[::1]:7420"])
def test_cores_own_pages_are_let_in_and_need_no_cors(origin: str) -> None:
    assert guard().check(["127.0.0.1:7420"], [origin], origin_required=True) == Admission()


def test_where_another_program_is_localhost_its_pages_are_not_cores_own() -> None:
    alone = Guard(7420, set[str]().__contains__, ["127.0.0.1"])
    verdicts = [
        alone.check(["127.0.0.1:7420"], [f"http://{name}:7420"], origin_required=False)
        for name in ("127.0.0.1", "localhost", "[::1]")
    ]
    assert [isinstance(verdict, Admission) for verdict in verdicts] == [True, False, False]


def test_an_approved_origin_is_let_in_and_named_for_cors() -> None:
    verdict = guard().check(["127.0.0.1:7420"], [APPROVED], origin_required=True)
    assert verdict == Admission(cors_origin=APPROVED)


@each_row(
    "origin",
    [
        "",
        "null",
        "*",
        "https://127.0.0.1:7420",
        "http://127.0.0.1",
        "http://127.0.0.1:7421",
        "HTTP://127.0.0.1:7420",
        "http://LOCALHOST:7420",
        "http://localhost.:7420",
        "http://127.0.0.1:7420/",
        "http://127.0.0.1:7420.evil.example",
        "http://2130706433:7420",
        "https://app.example.com.",
        "https://APP.example.com",
        "https://app.example.com:443",
        "http://app.example.com",
        "https://sub.app.example.com",
        "https://app.example.com https://app.example.com",
        "https://app.exämple.com",
        "file://",
        "chrome-extension://abcdef",
    ],
)
@pytest.mark.parametrize("page", [False, True])
def test_any_other_origin_is_forbidden(origin: str, *, page: bool) -> None:
    assert status(["127.0.0.1:7420"], [origin], page=page) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://evil.example:8080",
        "http://127.0.0.1:7421",
        "http://127.0.0.1",
        "https://127.0.0.1:7420",
        "http://[::1]:7421",
        "https://xn--exmple-cua.com",
        "http://app.example.com",
    ],
)
def test_an_unknown_web_origin_may_open_the_page_socket_only_to_ask(origin: str) -> None:
    verdict = guard().check(["127.0.0.1:7420"], [origin], origin_required=True, may_ask=True)
    assert verdict == Admission(only_to_ask=True)
    assert status(["127.0.0.1:7420"], [origin]) == 403
    assert status(["evil.example:7420"], [origin]) == 421


@each_row(
    "origin",
    [
        "",
        "null",
        "*",
        "HTTP://evil.example",
        "https://EVIL.example",
        "https://evil.example.",
        "https://evil.example:443",
        "https://evil.example:0443",
        "https://evil.example:0",
        "https://evil.example:65536",
        "https://evil.example:",
        "https://evil.example/",
        "https://user@evil.example",
        "https://ev\u00efl.example",
        "http://127.1:8080",
        "http://2130706433:8080",
        "http://0x7f000001:8080",
        "http://0177.0.0.1:8080",
        "http://[0:0:0:0:0:0:0:1]:8080",
        "http://[::ffff:127.0.0.1",
        "https://evil.example https://app.example.com",
        "https://evil.example, https://app.example.com",
        "file://",
        "ftp://evil.example",
        "chrome-extension://abcdef",
    ],
)
def test_what_no_browser_writes_may_not_even_ask(origin: str) -> None:
    verdict = guard().check(["127.0.0.1:7420"], [origin], origin_required=True, may_ask=True)
    assert isinstance(verdict, Refusal)
    assert verdict.status == 403


def test_several_origins_are_forbidden_even_if_each_is_approved() -> None:
    assert status(["127.0.0.1:7420"], [APPROVED, APPROVED]) == 403


def test_several_origins_may_not_ask_either() -> None:
    verdict = guard().check(["127.0.0.1:7420"], [APPROVED, APPROVED], origin_required=True, may_ask=True)
    assert isinstance(verdict, Refusal)


def test_without_an_origin_only_the_page_socket_is_closed() -> None:
    assert status(["127.0.0.1:7420"], []) == 200
    assert status(["127.0.0.1:7420"], [], page=True) == 403


def test_the_host_is_looked_at_before_the_origin() -> None:
    assert status(["evil.example"], ["https://evil.example"]) == 421
