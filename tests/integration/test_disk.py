"""A disk that is full: told by the file's name, nothing begun, nothing lost, and no crash."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from pedelec.protocol import ToolCall
from tests.harness import CoreProcess, PageClient, core_command, tool
from tests.harness.core_process import WAIT_SECONDS, clean_environment

_ROOT = Path(__file__).parents[2]


class CoreOnASmallDisk(CoreProcess):
    """A Core whose disk can be filled."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, env={"PYTHONPATH": str(_ROOT)})
        self._command = [sys.executable, "-m", "tests.integration.core_on_a_small_disk", str(state_dir)]

    def fill_disk(self) -> None:
        self.process.send_signal(signal.SIGUSR1)
        assert self.cli("status").json["ok"]  # the signal has been seen to

    def make_room(self) -> None:
        """Make room, and wait until Core has noticed: before that it looks at no call at all."""
        self.process.send_signal(signal.SIGUSR2)
        deadline = time.monotonic() + WAIT_SECONDS
        while self.cli("tool-call", "nothing", "{}").error["code"] != "TOOL_NOT_FOUND":
            assert time.monotonic() < deadline


def test_on_a_full_disk_results_are_delivered_and_new_calls_refused_until_there_is_room(
    tmp_path: Path,
) -> None:
    with CoreOnASmallDisk(tmp_path / "state") as core, PageClient(core.url) as page:
        page.create_session([tool("move")])
        running = core.start_cli("tool-call", "move", "{}")
        call = page.receive(ToolCall)
        core.fill_disk()
        assert page.submit(call, "ran").ok
        assert running.finish().json["result"] == "ran"
        refused = core.cli("tool-call", "move", '{"n":1}').error
        assert (refused["code"], refused["class"], refused["effects"]) == (
            "JOURNAL_UNAVAILABLE",
            "retryable",
            "none",
        )
        assert "journal.db" in refused["message"]
        assert str(core.state_dir / "journal.db") in core.log
        core.make_room()
        again = core.start_cli("tool-call", "move", '{"n":1}')
        page.submit(page.receive(ToolCall), "ran too")
        assert again.finish().json["result"] == "ran too"
        port = core.port
        core.kill()
        with CoreProcess(core.state_dir, port=port) as restarted:
            assert restarted.cli("tool-result", call.tool_request_id).json["result"] == "ran"


def test_a_core_that_finds_the_disk_full_says_so_and_ends(tmp_path: Path) -> None:
    limited = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"]
    command = core_command("serve", "--port", "0", "--state-dir", str(tmp_path / "state"))
    done = subprocess.run(
        [*limited, *command], env=clean_environment(), capture_output=True, text=True, timeout=WAIT_SECONDS
    )
    assert done.returncode == 1
    assert str(tmp_path / "state" / "journal.db") in done.stderr
    assert "Traceback" not in done.stderr
