"""What Core's log tells of calls, and that it holds nothing that anybody said."""

import re
from pathlib import Path

import httpx

from pedelec.json_text import JsonValue
from pedelec.protocol import ToolCall
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.log_rules import PLANTED
from tests.security.raw import head, http_connection, local_connection, masked_frame, read_all, upgrade_head


def call_with_secrets(core: CoreProcess, page: PageClient) -> None:
    """A call whose arguments and result hold a secret, and one that fails with it."""
    page.create_session(
        [tool("probe", description=PLANTED)], guidance=f"The password is {PLANTED}.", app_name=PLANTED
    )
    results: list[JsonValue] = [
        {"password": PLANTED},
        {"error": {"code": "FAILED", "message": PLANTED}},
    ]
    for result in results:
        call = core.start_cli("tool-call", "probe", f'{{"token":"{PLANTED}"}}')
        page.submit(page.receive(ToolCall), result)
        assert PLANTED.encode() in call.finish().stdout


def test_each_call_is_told_in_one_line_without_what_was_said(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as page:
        call_with_secrets(core, page)
        lines = [line for line in core.log.splitlines() if "tool probe" in line]
        assert len(lines) == 2
        told = r"call inv_\S+ session ses_\S+ tool probe: (ok|FAILED), \d+\.\d ms, \d+ characters in, \d+ out"
        endings = [re.search(told, line) for line in lines]
        assert [found and found[1] for found in endings] == ["ok", "FAILED"]
        assert PLANTED not in core.log


def test_no_way_of_sending_a_secret_leads_to_the_log(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as page:
        call_with_secrets(core, page)
        for arguments in (("tool-call", PLANTED, "{}"), ("tool-call", "probe", f'{{"{PLANTED}"'), (PLANTED,)):
            core.cli(*arguments)
        core.cli("tool-result", PLANTED)
        core.cli("tool-list", "--thread-id", PLANTED)
        for frame in (PLANTED, f'{{"type":"{PLANTED}"}}', f'{{"type":"ping","id":"{PLANTED}"}}'):
            page.socket.send(frame)
        page.resume_session(PLANTED)
        for path in (f"/{PLANTED}?token={PLANTED}", f"/mcp?key={PLANTED}", f"/page?{PLANTED}"):
            for method in ("GET", "POST", "DELETE"):
                httpx.request(
                    method,
                    core.url + path,
                    content=PLANTED,
                    headers={"Authorization": f"Bearer {PLANTED}", "Cookie": PLANTED, "Referer": PLANTED},
                    timeout=20,
                    trust_env=False,
                )
        for data in (
            head(core, PLANTED, "/"),
            f"{PLANTED}\r\n\r\n".encode(),
            head(core, "GET", "/", PLANTED),
        ):
            with http_connection(core) as connection:
                connection.sendall(data)
                read_all(connection)
        with http_connection(core) as connection:
            connection.sendall(upgrade_head(core))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 101")
            connection.sendall(masked_frame(0x81, PLANTED.encode() + b"\xff"))
            read_all(connection)
        with local_connection(core) as connection:
            connection.sendall(f'{{"type":"{PLANTED}"}}\n'.encode())
            read_all(connection)
        assert core.cli("status").json["ok"]
        assert PLANTED not in core.log


def test_payloads_are_told_where_somebody_asked_for_them_and_core_says_so(tmp_path: Path) -> None:
    with (
        CoreProcess(tmp_path / "state", "--log-payloads") as core,
        PageClient(core.url) as page,
    ):
        assert "--log-payloads: arguments and results of all calls are written to this log" in core.log
        page.create_session([tool("probe")])
        call = core.start_cli("tool-call", "probe", '{"colour":"green"}')
        page.submit(page.receive(ToolCall), {"shade": "dark"})
        assert call.finish().json["ok"]
        assert 'arguments {"colour":"green"} result {"shade":"dark"}' in core.log
