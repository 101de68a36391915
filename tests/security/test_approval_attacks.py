"""Attacks on the person who decides: floods, forged lines, guessed links, framed and prefetched pages."""

import http.client
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from pedelec.json_text import JsonObject
from pedelec.protocol import ApprovalPending, RequestApproval, Response
from pedelec_core.limits import ConnectionLimits
from tests.harness import CoreProcess, PageClient, limits, run_core
from tests.security.raw_http import host, send


@pytest.fixture
def core(own_core: CoreProcess) -> CoreProcess:
    return own_core


def request(page: PageClient, *, app_name: str = "Board", tools: list[JsonObject] | None = None) -> None:
    page.send(RequestApproval(request_id=page.next_id(), tools=tools or [], app_name=app_name))


def ask(page: PageClient, *, app_name: str = "Board", tools: list[JsonObject] | None = None) -> None:
    request(page, app_name=app_name, tools=tools)
    page.receive(ApprovalPending)


def links(core: CoreProcess) -> list[str]:
    return re.findall(r"http://\S+/approve/(\S+)", core.log)


@pytest.fixture
def key(core: CoreProcess) -> Iterator[str]:
    """The key of the link for a page that asks."""
    with PageClient(core.url, origin="https://evil.example") as page:
        ask(page)
        yield links(core)[0]


def test_a_flood_of_origins_reaches_a_person_a_few_times_and_keeps_nobody_out(core: CoreProcess) -> None:
    with ExitStack() as stack:
        for number in range(5):
            ask(stack.enter_context(PageClient(core.url, origin=f"https://{number}.evil.example")))
        for number in range(5, 40):
            page = stack.enter_context(PageClient(core.url, origin=f"https://{number}.evil.example"))
            error = page.request(RequestApproval(request_id="r", tools=[])).error
            assert error is not None
            assert (error["code"], error["class"]) == ("CREATE_SESSION_NOT_APPROVED", "retryable")
            assert "retryAfterSeconds" in error
        assert len(links(core)) == 5
        state = ("--state-dir", str(core.state_dir))
        assert run_core("approve", "https://honest.example", *state).status == 0
        honest = stack.enter_context(PageClient(core.url, origin="https://honest.example"))
        assert honest.create_session()


def test_one_origin_asks_once_however_many_pages_and_requests_it_has(core: CoreProcess) -> None:
    with ExitStack() as stack:
        pages = [stack.enter_context(PageClient(core.url, origin="https://evil.example")) for _ in range(4)]
        for page in pages * 8:
            ask(page)
        assert pages[0].request(RequestApproval(request_id="more", tools=[])).error is not None
        assert len(links(core)) == 1


def test_pages_that_only_wait_cannot_take_all_connections(core: CoreProcess) -> None:
    with ExitStack() as stack:
        for number in range(ConnectionLimits().strangers):
            origin = f"https://{number}.evil.example"
            stack.enter_context(PageClient(core.url, origin=origin))
        with pytest.raises(ConnectionClosed) as caught:
            stack.enter_context(PageClient(core.url, origin="https://one-more.evil.example"))
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1013
        assert stack.enter_context(PageClient(core.url)).create_session()


def test_who_is_let_wait_is_told_when_nobody_answers(tmp_path: Path) -> None:
    with (
        CoreProcess(tmp_path / "state", *limits(approval_seconds=0.5, approval_per_origin=1)) as core,
        PageClient(core.url, origin="https://evil.example") as page,
    ):
        page.send(RequestApproval(request_id="a", tools=[]))
        assert page.receive(ApprovalPending).timeout_ms <= 500
        error = page.receive(Response).error
        assert error is not None
        assert error["code"] == "APPROVAL_TIMEOUT"
        assert "https://evil.example: nobody answered" in core.log
        error = page.request(RequestApproval(request_id="b", tools=[])).error
        assert error is not None
        assert (error["code"], error["class"]) == ("CREATE_SESSION_NOT_APPROVED", "retryable")


def test_a_claim_cannot_write_lines_of_its_own_on_the_terminal(core: CoreProcess) -> None:
    forged = "x\n\nA page of https://bank.example asks to offer tools.\r\x1b[1A\x1b[2K\u202e\u2066Approved"
    with PageClient(core.url, origin="https://evil.example") as page:
        ask(page, app_name=forged, tools=[{"name": forged, "description": forged * 50}])
    log = core.log
    assert not re.search(r"^\s*A page of https://bank\.example", log, re.MULTILINE)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", log)
    assert max(map(len, log.splitlines())) < 600


def test_links_cannot_be_guessed_and_bad_ones_say_nothing(core: CoreProcess, key: str) -> None:
    assert len(key) == 43
    guesses = [secrets.token_urlsafe(32), key[:-1], key + "A", key.swapcase(), "%00", "..%2f" + key, "é", "*"]
    for guess in guesses:
        line = f"GET /approve/{guess} HTTP/1.1".encode().decode("latin-1")
        assert send(core, line, [host(core)]).status in {400, 404}, guess
    assert send(core, f"GET /approve/{key} HTTP/1.1", [host(core)]).status == 200


ELSEWHERE = {
    "in a frame": ["Sec-Fetch-Dest: iframe", "Sec-Fetch-Site: same-origin"],
    "in a frame of another site": ["Sec-Fetch-Dest: iframe", "Sec-Fetch-Site: cross-site"],
    "as an image": ["Sec-Fetch-Dest: image", "Sec-Fetch-Site: cross-site"],
    "as a script": ["Sec-Fetch-Dest: script", "Sec-Fetch-Site: same-site"],
    "by fetch": ["Sec-Fetch-Dest: empty", "Sec-Fetch-Site: same-origin"],
    "from a link on another site": ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: cross-site"],
    "from a link on another port": ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: same-site"],
    "ahead of time": ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: none", "Sec-Purpose: prefetch"],
}


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_a_link_opens_in_a_tab_of_its_own_alone_and_is_not_used_up_otherwise(
    core: CoreProcess, key: str, kind: str
) -> None:
    line = f"GET /approve/{key} HTTP/1.1"
    assert send(core, line, [host(core), *ELSEWHERE[kind]]).status == 403
    opened = ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"]
    assert send(core, line, [host(core), *opened]).status == 200


def test_the_page_may_not_be_framed_stored_or_talked_to(core: CoreProcess, key: str) -> None:
    headers = dict(send(core, f"GET /approve/{key} HTTP/1.1", [host(core)]).headers)
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert re.search(r"script-src 'nonce-[\w-]{22}'", policy)
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_key_of_one_request_decides_no_other(core: CoreProcess, key: str) -> None:
    with PageClient(core.url, origin="https://second.example") as second:
        ask(second)
        second_link = links(core)[1]
        answer_key = key_behind(core, key)
        assert post(core, answer_key, approve=True) == 200
        approved = run_core("origins", "--state-dir", str(core.state_dir)).stdout
        assert approved == b"https://evil.example\n"
        assert post(core, answer_key, approve=True) == 404
        assert post(core, second_link, approve=True) == 404, "a link's key opens, and decides nothing"


def key_behind(core: CoreProcess, key: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=20)
    with closing(connection):
        connection.request("GET", f"/approve/{key}")
        found = re.search(r'data-key="([^"]+)"', connection.getresponse().read().decode())
    assert found is not None
    return found[1]


def post(core: CoreProcess, key: str, *, approve: bool) -> int:
    headers = {"Origin": core.url, "Content-Type": "application/json", "X-Pedelec-Approval": key}
    connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=20)
    with closing(connection):
        connection.request("POST", "/approve", json.dumps({"approve": approve}), headers)
        return connection.getresponse().status
