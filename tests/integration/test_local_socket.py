"""The local socket, line by line: what is answered, and what misbehaviour brings upon itself alone."""

import asyncio
import json
import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pedelec.errors import Code
from pedelec.protocol import Limits, ToolCall, ToolProgress
from pedelec_core.agent_desk import AgentDesk
from pedelec_core.hub import Hub
from pedelec_core.ipc import LocalServer
from pedelec_core.limits import CoreLimits
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.other_users import IS_ROOT, being_somebody_else


class LocalClient:
    """A connection to the local socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def send(self, **request: Any) -> None:
        """Send one request."""
        self.send_bytes(json.dumps(request).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self._connection.sendall(data)

    def read(self) -> Any:
        """Read one line."""
        line = self._lines.readline()
        assert line.endswith(b"\n"), "Core hung up"
        return json.loads(line)

    def is_over(self) -> bool:
        """Read to the end; whether nothing more was said."""
        return self._lines.read() == b""

    def hang_up(self) -> None:
        """Close the sending side alone."""
        self._connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._lines.close()


@contextmanager
def connected(core: CoreProcess) -> Iterator[LocalClient]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(core.runtime["socket"])
        client = LocalClient(connection)
        yield client
        client.close()


def test_requests_of_one_connection_are_answered_in_order(core: CoreProcess) -> None:
    with connected(core) as client:
        client.send_bytes(
            b'{"type":"status"}\n{"type":"threads"}\n{"type":"tool_result","invocationId":"x"}\n'
        )
        assert "coreInstanceId" in client.read()["result"]
        assert client.read() == {"ok": True, "result": {"threads": []}}
        assert client.read()["error"]["code"] == Code.INVOCATION_NOT_FOUND


def test_a_line_may_come_in_pieces(core: CoreProcess) -> None:
    with connected(core) as client:
        for byte in b'{"type":"threads"}\n':
            client.send_bytes(bytes([byte]))
        assert client.read()["ok"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"type":"nope"}',
        b'{"type":5}',
        b'{"type":"tool_call"}',
        b'{"type":"tool_call","tool":1,"argsText":"{}"}',
        b'{"type":"tool_call","tool":"x","argsText":{}}',
        b'{"type":"tool_call","tool":"x","argsText":"{}","timeoutMs":0}',
        b'{"type":"tool_call","tool":"x","argsText":"{}","timeoutMs":true}',
        b'{"type":"tool_call","tool":"x","argsText":"{}","timeoutMs":"5"}',
        b'{"type":"tool_call","tool":"x","argsText":"{}","callId":""}',
        b'{"type":"tool_call","tool":"x","args_text":"{}"}',
        b'{"type":"status","extra":1}',
        b'{"type":"status"}{"type":"status"}',
        b'{"type":"tool_spec","tool":"\\ud800"}',
        b"\xff\xfe",
        b"\x00",
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_request_ends_the_connection_with_an_answer(core: CoreProcess, line: bytes) -> None:
    with connected(core) as client:
        client.send_bytes(line + b'\n{"type":"status"}\n')
        client.hang_up()
        assert client.read()["error"]["code"] == Code.SDK_PROTOCOL_ERROR
        assert client.is_over()
    assert core.cli("status").status == 0


def test_a_line_over_the_limit_ends_the_connection_with_an_answer(core: CoreProcess) -> None:
    with connected(core) as client:
        try:
            client.send_bytes(b"x" * (Limits().max_frame_bytes * 2))
            client.hang_up()
        except BrokenPipeError:
            pass
        assert client.read()["error"]["code"] == Code.MESSAGE_TOO_LARGE
    assert core.cli("status").status == 0


def test_a_connection_may_come_and_go_without_a_word(core: CoreProcess) -> None:
    for _ in range(50):
        with connected(core):
            pass
    with connected(core) as client:
        client.send_bytes(b'{"type":"sta')
    assert core.cli("status").status == 0


def test_silent_connections_keep_nobody_waiting(core: CoreProcess) -> None:
    with connected(core), connected(core) as half:
        half.send_bytes(b"{")
        assert core.cli("status").status == 0


def test_random_bytes_harm_nobody(core: CoreProcess) -> None:
    chance = random.Random(7)
    for _ in range(100):
        with connected(core) as client:
            client.send_bytes(chance.randbytes(chance.randrange(1, 2_000)) + b"\n")
            client.hang_up()
            assert client.read()["ok"] is False
    assert core.cli("status").status == 0
    assert "Traceback" not in core.log


def test_progress_comes_before_the_answer(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    with connected(core) as client:
        client.send(type="tool_call", tool="probe", argsText="{}")
        call = page.receive(ToolCall)
        progress = ToolProgress(session_id=call.session_id, tool_request_id=call.tool_request_id, done=2.5)
        page.send(replace(progress, done=1, total=3, message="one"))
        assert client.read() == {"type": "progress", "done": 1, "total": 3, "message": "one"}
        page.send(progress)
        assert client.read() == {"type": "progress", "done": 2.5}
        page.submit(call, None)
        assert client.read() == {"ok": True, "result": None, "invocationId": call.tool_request_id}


def test_an_answer_is_given_again_until_it_is_acknowledged(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    request = {"type": "tool_call", "tool": "probe", "argsText": "{}"}
    with connected(core) as client:
        client.send(**request)
        page.submit(page.receive(ToolCall), 1)
        first = client.read()
    with connected(core) as client:
        client.send(**request)
        assert client.read() == first | {"replayed": True}
        client.send(type="acknowledge")
        client.send(type="acknowledge")
        client.send(**request)
        page.submit(page.receive(ToolCall), 2)
        assert client.read()["result"] == 2


def test_a_call_outlives_the_connection_that_made_it(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    request = {"type": "tool_call", "tool": "probe", "argsText": "{}"}
    with connected(core) as client:
        client.send(**request)
        call = page.receive(ToolCall)
    page.submit(call, "kept")
    with connected(core) as client:
        client.send(**request)
        answer = client.read()
        assert (answer["result"], answer["replayed"]) == ("kept", True)


def test_a_call_id_decides_what_is_a_retry(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    with connected(core) as client:
        client.send(type="tool_call", tool="probe", argsText='{"a":1}', callId="k")
        page.submit(page.receive(ToolCall), 1)
        first = client.read()
        client.send(type="acknowledge")
        client.send(type="tool_call", tool="probe", argsText='{"a":1}', callId="k")
        assert client.read()["invocationId"] == first["invocationId"]
        client.send(type="tool_call", tool="probe", argsText='{"a":2}', callId="k")
        assert client.read()["error"]["code"] == Code.CALL_ID_CONFLICT


# --- other users ----------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_process_of_another_user_is_hung_up_on_unheard(tmp_path: Path) -> None:
    """The real check of the real peer; it is the server that takes somebody else for its owner."""

    async def no_mcp(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        raise AssertionError("nobody gets so far")

    path = tmp_path / "core.sock"
    hub = Hub()
    for owner, served in ((os.geteuid(), True), (os.geteuid() + 1, False)):
        async with LocalServer(AgentDesk(hub), path, no_mcp, CoreLimits(), owner):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(b'{"type":"threads"}\n')
            answer = b""
            with suppress(ConnectionResetError):
                answer = await asyncio.wait_for(reader.readline(), 20)
            assert (answer != b"") is served
            writer.close()
        path.unlink(missing_ok=True)
    await hub.close()


if IS_ROOT:

    def test_another_user_is_refused_even_where_the_folder_and_the_socket_were_opened_to_all(
        core: CoreProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = Path(core.runtime["socket"])
        monkeypatch.chdir(path.parent)  # the folders above stay closed
        path.parent.chmod(0o711)
        path.chmod(0o666)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            with being_somebody_else():
                connection.connect(path.name)
            assert connection.recv(1) == b""
        assert "a process of another user was refused" in core.log
        path.parent.chmod(0o700)
        path.chmod(0o600)
        assert core.cli("threads").json["ok"]
