"""A page of another origin asks to be let in, and a person answers: by command, on a page, at a terminal."""

import asyncio
import contextlib
import http.client
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject
from pedelec.protocol import (
    ApprovalPending,
    CreateSession,
    Ended,
    GetApprovalStatus,
    RequestApproval,
    Response,
    ToolCall,
)
from pedelec_core.approval_desk import ApprovalDesk
from pedelec_core.approvals import Claim
from pedelec_core.origins import OriginStore
from tests.harness import CoreProcess, PageClient, run_core, tool
from tests.harness.core_process import WAIT_SECONDS, clean_environment, core_command

KEY_HEADER = "X-Pedelec-Approval"


@pytest.fixture
def core(own_core: CoreProcess) -> CoreProcess:
    return own_core


@pytest.fixture
def stranger(core: CoreProcess) -> Iterator[PageClient]:
    with PageClient(core.url, origin="https://xn--exmple-cua.com") as page:
        yield page


def ask(page: PageClient, *tools: JsonObject, app_name: str | None = "Board") -> str:
    """Ask for a session; the request's id. A person is asked once this has returned."""
    request_id = page.next_id()
    page.send(
        CreateSession(
            request_id=request_id,
            guidance="",
            tools=list(tools),
            auto_end_on_disconnect=True,
            app_name=app_name,
        )
    )
    pending = page.receive(ApprovalPending)
    assert pending.request_id == request_id
    assert 0 < pending.timeout_ms <= 120_000
    return request_id


def command(core: CoreProcess, *args: str) -> None:
    assert run_core(*args, "--state-dir", str(core.state_dir)).status == 0


def link_in(text: str) -> str:
    (link,) = re.findall(r"http://\S+/approve/\S+", text)
    return str(link)


def http_request(
    core: CoreProcess,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> tuple[int, Mapping[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=WAIT_SECONDS)
    with contextlib.closing(connection):
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()  # type: ignore[return-value]


def open_link(core: CoreProcess) -> str:
    status, _, text = http_request(core, "GET", link_in(core.log).removeprefix(core.url))
    assert status == 200
    return text


def key_in(text: str) -> str:
    found = re.search(r'data-key="([^"]+)"', text)
    assert found is not None
    return found[1]


def answer(core: CoreProcess, key: str, *, approve: bool) -> tuple[int, Any]:
    headers = {"Origin": core.url, "Content-Type": "application/json", KEY_HEADER: key}
    status, _, text = http_request(core, "POST", "/approve", headers, json.dumps({"approve": approve}))
    return status, json.loads(text)


def test_until_it_is_approved_a_page_may_ask_and_no_more(core: CoreProcess, stranger: PageClient) -> None:
    welcome = stranger.welcome
    assert (welcome.core_instance_id, welcome.core_version) == ("", "")
    assert stranger.request(GetApprovalStatus(request_id="s")).result == {
        "installed": True,
        "approved": False,
        "origin": "https://xn--exmple-cua.com",
        "appConnected": True,
    }
    with PageClient(core.url) as own:
        known = own.create_session([tool("probe")])
        for session_id in (known, "ses_unknown"):
            refused = stranger.resume_session(session_id)
            assert refused.error is not None
            assert refused.error["code"] == "CREATE_SESSION_NOT_APPROVED"
    assert core.cli("threads").json["result"]["threads"] != []


def test_a_command_lets_a_waiting_page_in(core: CoreProcess, stranger: PageClient) -> None:
    request_id = ask(stranger, tool("probe"))
    assert core.cli("threads").json["result"]["threads"] == []
    command(core, "approve", "https://xn--exmple-cua.com")
    response = stranger.receive(Response)
    assert (response.request_id, response.ok) == (request_id, True)
    running = core.start_cli("tool-call", "probe", "{}")
    stranger.submit(stranger.receive(ToolCall), "hello")
    assert running.finish().json["result"] == "hello"


def test_asking_for_approval_alone_makes_no_session(core: CoreProcess, stranger: PageClient) -> None:
    stranger.send(RequestApproval(request_id="a", tools=[], app_name="Board"))
    stranger.receive(ApprovalPending)
    command(core, "approve", "https://xn--exmple-cua.com")
    assert stranger.receive(Response).result == {"approved": True}
    assert stranger.request(RequestApproval(request_id="b", tools=[])).result == {"approved": True}
    assert core.cli("threads").json["result"]["threads"] == []


def test_revoking_ends_an_origins_sessions_at_once_and_no_others(
    core: CoreProcess, stranger: PageClient
) -> None:
    command(core, "approve", "https://xn--exmple-cua.com")
    stranger.create_session([tool("theirs")])
    with PageClient(core.url) as own:
        own.create_session([tool("ours")])
        command(core, "revoke", "https://xn--exmple-cua.com")
        assert stranger.receive(Ended).reason == "revoked"
        (left,) = core.cli("threads").json["result"]["threads"]
        assert left["threadId"] == own.session_id
    again = stranger.request(RequestApproval(request_id="again", tools=[]))
    assert again.error is not None
    assert again.error["code"] == "APPROVAL_REJECTED"


def test_an_approval_that_is_taken_back_at_once_is_missed_by_nobody(tmp_path: Path) -> None:
    origin = "https://app.example"
    path = tmp_path / "origins.json"

    async def look() -> str:
        desk, elsewhere, told = ApprovalDesk(OriginStore(path), ()), OriginStore(path), asyncio.Event()
        desk.watch(told.set)
        desk.start()
        elsewhere.approve(origin)
        assert desk.is_approved(origin)
        elsewhere.revoke(origin)
        assert not desk.is_approved(origin)
        try:
            await asyncio.wait_for(told.wait(), WAIT_SECONDS)
            with pytest.raises(PedelecError) as refused:
                desk.ask(origin, Claim(), print)
        finally:
            desk.close()
        return refused.value.code

    assert asyncio.run(look()) == "APPROVAL_REJECTED"


def test_what_was_revoked_while_no_core_ran_is_over_when_one_starts(core: CoreProcess) -> None:
    command(core, "approve", "https://app.example")
    with PageClient(core.url, origin="https://app.example") as page:
        page.create_session([tool("theirs")], auto_end_on_disconnect=False)
    core.stop()
    command(core, "revoke", "https://app.example")
    core.start()
    assert core.cli("threads").json["result"]["threads"] == []


def test_approvals_outlive_core(core: CoreProcess) -> None:
    command(core, "approve", "https://app.example")
    core.stop()
    core.start()
    with PageClient(core.url, origin="https://app.example") as page:
        assert page.create_session()


# --- Core's own page -----------------------------------------------------------------------------------


def test_the_page_shows_who_asks_and_for_what(core: CoreProcess, stranger: PageClient) -> None:
    ask(stranger, tool("pay<script>", description="Pays & <b>tells</b>."), app_name="<img src=x> Bank")
    text = open_link(core)
    assert '<code id="origin">https://xn--exmple-cua.com</code>' in text
    assert "https://exämple.com" in text
    assert "&lt;img src=x&gt; Bank" in text
    assert "<dt>pay&lt;script&gt;</dt><dd>Pays &amp; &lt;b&gt;tells&lt;/b&gt;.</dd>" in text


def test_the_page_lets_an_origin_in_for_good(core: CoreProcess, stranger: PageClient) -> None:
    ask(stranger)
    status, told = answer(core, key_in(open_link(core)), approve=True)
    assert (status, told["ok"]) == (200, True)
    assert stranger.receive(Response).ok
    listed = run_core("origins", "--state-dir", str(core.state_dir)).stdout
    assert listed == b"https://xn--exmple-cua.com\n"


def test_the_page_rejects_an_origin_which_is_not_asked_about_again(
    core: CoreProcess, stranger: PageClient
) -> None:
    ask(stranger)
    assert answer(core, key_in(open_link(core)), approve=False)[0] == 200
    error = stranger.receive(Response).error
    assert error is not None
    assert (error["code"], error["class"]) == ("APPROVAL_REJECTED", "permanent")
    error = stranger.request(RequestApproval(request_id="again", tools=[])).error
    assert error is not None
    assert error["code"] == "APPROVAL_REJECTED"
    assert core.log.count("/approve/") == 1
    command(core, "approve", "https://xn--exmple-cua.com")
    assert stranger.create_session()


def test_a_link_and_an_answer_are_good_once(core: CoreProcess, stranger: PageClient) -> None:
    ask(stranger)
    key = key_in(open_link(core))
    path = link_in(core.log).removeprefix(core.url)
    assert http_request(core, "GET", path)[0] == 404
    assert answer(core, path.rpartition("/")[2], approve=True)[0] == 404, "the link's key answers nothing"
    assert answer(core, key, approve=False)[0] == 200
    assert answer(core, key, approve=True)[0] == 404
    assert run_core("origins", "--state-dir", str(core.state_dir)).stdout == b""


# --- the terminal --------------------------------------------------------------------------------------


# As a shell does: the terminal on standard input becomes the controlling one of a session of its own.
_AT_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class TerminalCore:
    """A Core at a terminal of its own."""

    def __init__(self, state_dir: Path) -> None:
        self._screen, terminal = pty.openpty()
        self.seen = ""
        state = ("--state-dir", str(state_dir))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _AT_TERMINAL, *core_command("serve", "--port", "0", *state)],
            env=clean_environment(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        self.url = self.wait_for(r"ready (http://\S+)")[1]

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read the screen until something was on it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (found := re.search(pattern, self.seen)) is None:
            readable, _, _ = select.select([self._screen], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, f"{pattern} was never on the screen: {self.seen!r}"
            self.seen += os.read(self._screen, 4096).decode()
        return found

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(WAIT_SECONDS)
        os.close(self._screen)


@pytest.fixture
def at_terminal(tmp_path: Path) -> Iterator[TerminalCore]:
    core = TerminalCore(tmp_path / "state")
    yield core
    core.close()


def test_the_person_at_cores_terminal_is_asked_one_origin_after_the_other(at_terminal: TerminalCore) -> None:
    with (
        PageClient(at_terminal.url, origin="https://first.example") as first,
        PageClient(at_terminal.url, origin="https://second.example") as second,
    ):
        at_terminal.type("y\n")  # before any question: no answer to one
        ask(first, tool("probe"), app_name="First\x1b[2J app")
        at_terminal.wait_for(r"calls itself: First\[2J app[\s\S]*probe: The tool probe\.")
        at_terminal.wait_for(r"Let pages of https://first\.example in\? \[y/n\] ")
        ask(second)
        at_terminal.type("what?\n")
        at_terminal.wait_for(r"(in\? \[y/n\] [\s\S]*){2}")
        at_terminal.type("n\n")
        error = first.receive(Response).error
        assert error is not None
        assert error["code"] == "APPROVAL_REJECTED"
        at_terminal.wait_for(r"Let pages of https://second\.example in\? \[y/n\] ")
        at_terminal.type("y\n")
        assert second.receive(Response).ok
