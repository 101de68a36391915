"""Cross-site WebSockets, DNS rebinding and confusion about origins, header by header."""

import pytest
from websockets import Origin
from websockets.sync.client import connect

from pedelec.protocol import GetApprovalStatus, Response
from tests.harness import CoreProcess, PageClient
from tests.security.raw_http import host, send, upgrade

APPROVED = "https://app.example"
PATHS = ("/", "/healthz", "/pedelec.js", "/sdk/loader.mjs", "/runtime/manifest.json", "/wheels/x.whl", "/mcp")

NO_ORIGIN_OF_A_BROWSER = {
    "null": b"null",
    "empty": b"",
    "upper-case scheme": b"HTTPS://app.example",
    "upper-case host": b"https://APP.example",
    "trailing dot": b"https://app.example.",
    "default port": b"https://app.example:443",
    "leading zeros": b"http://app.example:00080",
    "port zero": b"http://app.example:0",
    "port beyond the last": b"http://app.example:65536",
    "port that is none": b"http://app.example:http",
    "no port after the colon": b"https://app.example:",
    "trailing slash": b"https://app.example/",
    "path": b"https://app.example/x",
    "user": b"https://app.example@evil.example",
    "short IPv4": b"http://127.1:8080",
    "decimal IPv4": b"http://2130706433:8080",
    "hexadecimal IPv4": b"http://0x7f.0.0.1:8080",
    "octal IPv4": b"http://0177.0.0.1:8080",
    "long IPv6": b"http://[0:0:0:0:0:0:0:1]:8080",
    "unclosed IPv6": b"http://[::1:8080",
    "IPv6 with a zone": b"http://[fe80::1%25lo]:8080",
    "raw international name": "https://äpp.example".encode(),
    "full-width letters": "https://\uff41pp.example".encode(),
    "percent escapes": b"https://%61pp.example",
    "two in one": b"https://app.example https://evil.example",
    "list": b"https://app.example, https://evil.example",
    "tab": b"https://app.example\thttps://evil.example",
    "wildcard": b"*",
    "file": b"file://",
    "extension": b"chrome-extension://abcdefghijklmnop",
    "ws": b"ws://app.example",
    "very long": b"https://" + b"a" * 5000 + b".example",
}


@pytest.mark.parametrize("kind", NO_ORIGIN_OF_A_BROWSER)
def test_a_socket_with_what_is_no_web_origin_is_refused(core: CoreProcess, kind: str) -> None:
    answer = upgrade(core, host(core), b"Origin: " + NO_ORIGIN_OF_A_BROWSER[kind])
    assert (answer.status, answer.cors) == (403, [])


def test_a_socket_without_an_origin_is_refused(core: CoreProcess) -> None:
    assert upgrade(core, host(core)).status == 403


@pytest.mark.parametrize("second", [APPROVED, "https://evil.example", "null"])
def test_a_socket_with_two_origins_is_refused(core: CoreProcess, second: str) -> None:
    assert upgrade(core, host(core), f"Origin: {APPROVED}", f"Origin: {second}").status in {400, 403}


STRANGERS = {
    "another site": "https://evil.example",
    "the approved name without TLS": "http://app.example",
    "the approved name on another port": "https://app.example:8443",
    "below the approved name": "https://sub.app.example",
    "the approved name as a prefix": "https://app.example.evil.example",
    "the approved name as a suffix": "https://evilapp.example",
    "this machine on another port": "http://127.0.0.1:1",
    "this machine without a port": "http://127.0.0.1",
    "this machine with TLS": "https://127.0.0.1:{port}",
    "this machine by another address": "http://127.0.0.2:{port}",
    "a mapped address": "http://[::ffff:7f00:1]:{port}",
    "below localhost": "http://evil.localhost:{port}",
    "localhost as a prefix": "http://localhost.evil.example:{port}",
    "an international name": "https://xn--pp-fja.example",
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_page_of_an_origin_that_only_looks_like_one_of_ours_is_a_stranger(
    core: CoreProcess, kind: str
) -> None:
    origin = STRANGERS[kind].format(port=core.port)
    with PageClient(core.url, origin=origin) as page:
        assert (page.welcome.core_instance_id, page.welcome.core_version) == ("", "")
        status = page.request(GetApprovalStatus(request_id="s")).result
        assert status is not None
        assert (status["approved"], status["origin"]) == (False, origin)
    for path in PATHS:
        answer = send(core, f"GET {path} HTTP/1.1", [host(core), f"Origin: {origin}"])
        assert (answer.status, answer.cors) == (403, []), path


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_cores_own_pages_are_those_of_the_loopback_names_with_its_port(core: CoreProcess, name: str) -> None:
    with PageClient(core.url, origin=f"http://{name}:{core.port}") as page:
        status = page.request(GetApprovalStatus(request_id="s")).result
        assert status is not None
        assert status["approved"] is True


def test_core_answers_on_both_loopback_addresses_so_that_nobody_else_is_localhost(core: CoreProcess) -> None:
    """Browsers try `::1` first for `localhost`: whoever listened there would be Core's own origin to it."""
    url = f"ws://[::1]:{core.port}/page"
    with connect(url, origin=Origin(f"http://localhost:{core.port}"), compression=None, proxy=None) as socket:
        socket.send('{"type":"hello","protocol":1,"pageInstanceId":"p","sdkVersion":"0"}')
        assert '"welcome"' in str(socket.recv(20))


MISDIRECTED = {
    "another name": "evil.example:{port}",
    "another name for this machine": "evil.localhost:{port}",
    "another port": "127.0.0.1:1",
    "no port": "127.0.0.1",
    "port and nothing": "127.0.0.1:",
    "trailing dot": "localhost.:{port}",
    "short IPv4": "127.1:{port}",
    "decimal IPv4": "2130706433:{port}",
    "hexadecimal IPv4": "0x7f000001:{port}",
    "octal IPv4": "0177.0.0.1:{port}",
    "another loopback address": "127.0.0.2:{port}",
    "every address": "0.0.0.0:{port}",
    "mapped IPv4": "[::ffff:127.0.0.1]:{port}",
    "user": "127.0.0.1:{port}@evil.example",
    "list": "127.0.0.1:{port}, evil.example",
    "long port": "127.0.0.1:0000{port}",
}


@pytest.mark.parametrize("kind", MISDIRECTED)
def test_another_host_is_misdirected_whatever_is_asked_and_before_any_body(
    core: CoreProcess, kind: str
) -> None:
    lines = [f"Host: {MISDIRECTED[kind].format(port=core.port)}", f"Origin: {core.url}"]
    assert upgrade(core, *lines).status == 421
    assert send(core, "GET / HTTP/1.1", lines).status == 421
    promised = [*lines, "Content-Type: application/json", "Content-Length: 1000000000"]
    for path in ("/mcp", "/approve"):
        assert send(core, f"POST {path} HTTP/1.1", promised).status == 421


def test_an_absolute_address_does_not_stand_in_for_the_host(core: CoreProcess) -> None:
    line = f"GET http://127.0.0.1:{core.port}/healthz HTTP/1.1"
    assert send(core, line, ["Host: evil.example"]).status in {400, 421}


@pytest.mark.parametrize("path", [*PATHS, "/approve", "/approve/x", "/page", "/nothing"])
def test_a_stranger_is_refused_before_its_body_is_read_and_without_cors(core: CoreProcess, path: str) -> None:
    lines = [host(core), "Origin: https://evil.example"]
    promised = [*lines, "Content-Type: application/json", "Content-Length: 1000000000"]
    for method in ("POST", "PUT", "DELETE"):
        answer = send(core, f"{method} {path} HTTP/1.1", promised)
        assert (answer.status, answer.cors) == (403, [])
    preflight = [
        *lines,
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization, x-pedelec-approval",
        "Access-Control-Request-Private-Network: true",
        "Access-Control-Request-Local-Network: true",
    ]
    answer = send(core, f"OPTIONS {path} HTTP/1.1", preflight)
    assert (answer.status, answer.cors) == (403, [])


def test_the_other_sockets_are_closed_to_strangers(core: CoreProcess) -> None:
    for path in ("/inspector", "/inspect", "/mcp", "/", "/healthz"):
        answer = upgrade(core, host(core), "Origin: https://evil.example", path=path)
        assert answer.status == 403, path


def test_what_a_stranger_sends_besides_asking_is_refused_and_does_nothing(core: CoreProcess) -> None:
    with PageClient(core.url) as own, PageClient(core.url, origin="https://evil.example") as stranger:
        session_id = own.create_session([])
        frames = {
            "resume_session": f'"sessionId":"{session_id}","lastSeq":0',
            "end_session": f'"sessionId":"{session_id}"',
            "submit_tool_result": f'"sessionId":"{session_id}","toolRequestId":"x","result":1',
        }
        for kind, fields in frames.items():
            stranger.socket.send(f'{{"type":"{kind}","requestId":"r-{kind}",{fields}}}')
            response = stranger.receive(Response)
            assert response.error is not None
            assert response.error["code"] == "CREATE_SESSION_NOT_APPROVED"
            assert session_id not in str(response.error)
        assert [each["threadId"] for each in core.cli("threads").json["result"]["threads"]] == [session_id]
        own.end_session()
