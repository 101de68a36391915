"""Cross-site request forgery: what a form, an image or a simple request of another page can and cannot do."""

import pytest

from tests.harness import CoreProcess
from tests.security.raw_http import host, send

SIMPLE_TYPES = [
    "text/plain",
    "text/plain; charset=application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
]
"""What a page may send to another origin without asking (the Fetch standard, CORS-safelisted headers)."""

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def approve(core: CoreProcess, *headers: str, method: str = "POST", body: bytes = b'{"approve":true}') -> int:
    lines = [host(core), *headers, f"Content-Length: {len(body)}"]
    return send(core, f"{method} /approve HTTP/1.1", lines, body).status


@pytest.mark.parametrize("kind", SIMPLE_TYPES)
def test_an_answer_in_a_form_or_plain_text_is_no_answer(core: CoreProcess, kind: str) -> None:
    own = (f"Origin: {core.url}", "X-Pedelec-Approval: x")
    assert approve(core, *own, f"Content-Type: {kind}") == 415


def test_an_answer_comes_from_cores_own_page_or_from_nowhere(core: CoreProcess) -> None:
    rest = ("Content-Type: application/json", "X-Pedelec-Approval: x")
    for origin in ("https://evil.example", "null", "https://app.example"):
        assert approve(core, f"Origin: {origin}", *rest) == 403, origin
    assert approve(core, *rest) == 403
    assert approve(core, f"Origin: {core.url}", *rest) == 404, "the right origin, and no such request"


def test_an_answer_needs_its_header_and_its_method(core: CoreProcess) -> None:
    rest = (f"Origin: {core.url}", "Content-Type: application/json")
    assert approve(core, *rest) == 400
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert approve(core, *rest, "X-Pedelec-Approval: x", method=method) in {404, 405}
    for body in (b"", b"[]", b"{}", b'{"approve":"yes"}', b"[" * 1000, b'{"approve":true}' + b" " * 2000):
        assert approve(core, *rest, "X-Pedelec-Approval: x", body=body) == 400


@pytest.mark.parametrize("kind", SIMPLE_TYPES)
def test_an_mcp_request_is_json_whoever_sends_it(core: CoreProcess, kind: str) -> None:
    token = core.runtime["token"]
    lines = [
        host(core),
        f"Authorization: Bearer {token}",
        "Accept: application/json, text/event-stream",
        f"Content-Type: {kind}",
        f"Content-Length: {len(INITIALIZE)}",
    ]
    assert send(core, "POST /mcp HTTP/1.1", lines, INITIALIZE).status == 415


def test_an_mcp_request_needs_the_token_in_its_header(core: CoreProcess) -> None:
    token = core.runtime["token"]
    wrong = [
        "X-Nothing: x",
        "Authorization: Bearer wrong",
        f"Authorization: Basic {token}",
        f"Authorization: {token}",
        f"Cookie: token={token}; Authorization=Bearer {token}",
        f"X-Authorization: Bearer {token}",
    ]
    lines = [host(core), "Content-Type: application/json", "Content-Length: 1000000000"]
    for header in wrong:
        assert send(core, "POST /mcp HTTP/1.1", [*lines, header]).status == 401, header
    assert send(core, f"POST /mcp?access_token={token} HTTP/1.1", lines).status == 401
    both = [f"Authorization: Bearer {token}"] * 2
    assert send(core, "POST /mcp HTTP/1.1", [*lines, *both]).status == 401


def test_an_approved_page_cannot_use_mcp_without_the_token_nor_ask_to_send_it(core: CoreProcess) -> None:
    lines = [host(core), "Origin: https://app.example"]
    promised = [*lines, "Content-Type: application/json", "Content-Length: 1000000000"]
    assert send(core, "POST /mcp HTTP/1.1", promised).status == 401
    preflight = [
        *lines,
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization",
    ]
    answer = send(core, "OPTIONS /mcp HTTP/1.1", preflight)
    allowed = dict(answer.headers)
    assert "POST" not in allowed.get("access-control-allow-methods", "")
    assert "authorization" not in allowed.get("access-control-allow-headers", "").lower()
    assert "access-control-allow-credentials" not in allowed
