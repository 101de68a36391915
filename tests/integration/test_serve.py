"""The life of `pedelec-core serve`: its start, its end, and what keeps it from starting."""

import http.server
import os
import signal
import socket
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from pedelec.protocol import ToolCall
from tests.harness import CoreProcess, PageClient, core_command, run_cli, run_core, tool


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_ready_core_has_told_where_it_is(own_core: CoreProcess) -> None:
    runtime = own_core.runtime
    assert runtime["pid"] == own_core.process.pid
    assert (runtime["host"], runtime["port"]) == ("127.0.0.1", own_core.port)
    assert runtime["url"] == own_core.url
    assert runtime["stateDir"] == str(own_core.state_dir)
    assert runtime["socket"] == str(own_core.state_dir / "core.sock")
    assert len(runtime["token"]) >= 32


def test_what_core_keeps_is_its_owners_alone(own_core: CoreProcess) -> None:
    assert mode(own_core.state_dir) == 0o700
    for path in own_core.state_dir.iterdir():
        assert mode(path) == 0o600, path
    assert stat.S_ISSOCK((own_core.state_dir / "core.sock").stat().st_mode)


def test_core_says_ready_and_nothing_else_on_stdout(own_core: CoreProcess) -> None:
    own_core.cli("status")
    assert own_core.stop().stdout == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_core_leaves_nothing_behind(own_core: CoreProcess, number: int) -> None:
    done = own_core.stop(number)
    assert done.status == 0
    assert "Traceback" not in done.stderr
    kept = ["core.lock", "journal.db", "token"]
    assert sorted(path.name for path in own_core.state_dir.iterdir()) == kept


def test_core_stops_with_pages_connected_and_calls_running(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page, PageClient(own_core.url) as other:
        page.create_session([tool("probe")])
        running = own_core.start_cli("tool-call", "probe", "{}")
        page.receive(ToolCall)
        done = own_core.stop()
        assert (done.status, "Traceback" in done.stderr) == (0, False)
        assert running.finish().status == 3
        for client in (page, other):
            with pytest.raises(ConnectionClosed) as caught:
                client.receive(ToolCall)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1001


def test_core_can_be_started_again_on_the_same_port(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / "state") as core:
        port = core.port
        with PageClient(core.url):
            core.kill()
    with CoreProcess(tmp_path / "state", port=port) as again:
        assert again.port == port
        assert again.cli("status").status == 0


def test_a_killed_cores_leftovers_are_replaced(own_core: CoreProcess) -> None:
    before = own_core.runtime
    own_core.kill()
    assert (own_core.state_dir / "runtime.json").exists()
    own_core.start()
    assert own_core.runtime["coreInstanceId"] != before["coreInstanceId"]
    assert own_core.cli("status").status == 0


def test_a_second_core_on_one_state_folder_refuses_and_says_who_holds_it(own_core: CoreProcess) -> None:
    done = run_core("serve", "--port", "0", "--state-dir", str(own_core.state_dir))
    assert done.status == 1
    assert done.stdout == b""
    assert f"process {own_core.process.pid}, {own_core.url}" in done.stderr
    assert "Traceback" not in done.stderr
    assert own_core.cli("status").status == 0


def test_a_port_that_another_core_has_is_told_as_such(own_core: CoreProcess, tmp_path: Path) -> None:
    args = ("serve", "--port", str(own_core.port), "--state-dir", str(tmp_path / "other"))
    done = run_core(*args)
    assert done.status == 1
    assert "in use by another Pedelec Core" in done.stderr
    assert "Traceback" not in done.stderr
    env = os.environ | {"PEDELEC_STATE_DIR": str(own_core.state_dir)}
    done = run_core(*args, env=env)
    assert f"process {own_core.process.pid}, state folder {own_core.state_dir}" in done.stderr
    assert not list((tmp_path / "other").glob("core.sock"))


class _OtherServer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"name":"something else"}')

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


def test_a_port_that_something_else_has_is_told_as_such(tmp_path: Path) -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), _OtherServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        port = server.server_address[1]
        done = run_core("serve", "--port", str(port), "--state-dir", str(tmp_path))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert done.status == 1
    assert f"cannot listen on http://127.0.0.1:{port}: Address already in use" in done.stderr
    assert "--port" in done.stderr


def test_a_port_whose_holder_says_nothing_is_told_as_such(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        done = run_core("serve", "--port", str(silent.getsockname()[1]), "--state-dir", str(tmp_path))
    assert done.status == 1
    assert "Address already in use" in done.stderr


@pytest.mark.parametrize("host", ["localhost", "::1"])
def test_core_listens_on_the_loopback_address_of_choice(tmp_path: Path, host: str) -> None:
    if host == "::1":
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    with CoreProcess(tmp_path / "state", "--host", host) as core:
        assert core.url.startswith("http://127.0.0.1:" if host == "localhost" else "http://[::1]:")
        with PageClient(core.url) as page:
            page.create_session()
        assert core.cli("status").json["ok"]


def test_a_state_folder_with_a_long_name_works_all_the_same(tmp_path: Path) -> None:
    with CoreProcess(tmp_path / ("x" * 100), env={"XDG_RUNTIME_DIR": ""}) as core:
        assert core.cli("status").status == 0
        elsewhere = Path(core.runtime["socket"])
        assert elsewhere.parent.parent != core.state_dir
        assert (mode(elsewhere), mode(elsewhere.parent)) == (0o600, 0o700)
        core.stop()
        assert not elsewhere.parent.exists()


def test_nothing_of_a_call_is_logged(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        page.create_session([tool("probe")])
        running = own_core.start_cli("tool-call", "probe", '{"planted":"secret-args"}')
        page.submit(page.receive(ToolCall), "secret-result")
        running.finish()
        own_core.cli("tool-call", "probe", '{"planted":"secret-args"')
        page.socket.send('{"type":"secret-frame"}')
    token = own_core.runtime["token"]
    own_core.stop()
    assert not [
        word for word in ("secret-args", "secret-result", "secret-frame", token) if word in own_core.log
    ]


def test_core_runs_though_nobody_listens_to_its_stdout(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = core_command("serve", "--port", "0", "--state-dir", str(tmp_path / "state"))
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert process.stderr is not None
    said = iter(process.stderr.readline, b"")
    assert any(b"listens on" in line for line in said)
    assert run_cli("status", "--state-dir", str(tmp_path / "state")).status == 0
    process.terminate()
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (0, b"")


def test_core_stops_agents_at_the_limits_it_was_given(tmp_path: Path) -> None:
    limits = ("--calls-per-turn", "2", "--failures-in-a-row", "0")
    with CoreProcess(tmp_path / "state", *limits) as core, PageClient(core.url) as page:
        page.create_session([tool("probe")])
        codes = [core.cli("tool-call", "probe", f"[{number}]").error["code"] for number in range(3)]
    assert codes == ["TOOL_ARGS_INVALID", "TOOL_ARGS_INVALID", "TOOL_LOOP_STOPPED"]
