"""What a person sees who runs `pedelec-cli` at a terminal, and that nobody else sees it."""

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from pedelec.protocol import ToolCall, ToolProgress
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.core_process import WAIT_SECONDS, clean_environment

_CLI = Path(sys.executable).parent / "pedelec-cli"


class Terminal:
    """A command whose stderr is a terminal, and whose stdout is a pipe."""

    def __init__(self, screen: int, process: subprocess.Popen[bytes]) -> None:
        self._screen = screen
        self.process = process
        self.seen = ""

    def wait_for(self, pattern: str) -> None:
        """Read the screen until something was on it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not re.search(pattern, self.seen):
            readable, _, _ = select.select([self._screen], [], [], deadline - time.monotonic())
            assert readable, f"{pattern} was never on the screen: {self.seen!r}"
            self.seen += os.read(self._screen, 4096).decode()

    def finish(self) -> bytes:
        """Wait for the end; returns what was on stdout."""
        stdout, _ = self.process.communicate(timeout=WAIT_SECONDS)
        with contextlib.suppress(OSError):  # Linux says so when nobody has the terminal open any more
            while chunk := os.read(self._screen, 4096):
                self.seen += chunk.decode()
        return stdout


@contextlib.contextmanager
def at_a_terminal(core: CoreProcess, *args: str) -> Iterator[Terminal]:
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [_CLI, *args],
        env=clean_environment(PEDELEC_STATE_DIR=str(core.state_dir)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        yield Terminal(screen, process)
    finally:
        process.kill()
        process.communicate()
        os.close(screen)


def report(page: PageClient, call: ToolCall, message: str) -> None:
    page.send(
        ToolProgress(
            session_id=call.session_id,
            tool_request_id=call.tool_request_id,
            done=1,
            total=2,
            message=message,
        )
    )


def test_a_call_that_takes_longer_than_a_second_shows_its_progress_and_leaves_nothing_on_the_screen(
    core: CoreProcess, page: PageClient
) -> None:
    page.create_session([tool("draw")])
    with at_a_terminal(core, "tool-call", "draw", "{}") as terminal:
        call = page.receive(ToolCall)
        terminal.wait_for(r"draw: \(\d+ s\)")
        report(page, call, "half")
        terminal.wait_for(r"draw: 1/2 half \(\d+ s\)")
        page.submit(call, "done")
        stdout = terminal.finish()
        assert json.loads(stdout)["result"] == "done"
        assert stdout.count(b"\n") == 1
        assert re.search(r"\r +\r$", terminal.seen)


def test_a_call_that_waits_for_a_person_says_so_while_it_does(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("erase", approval="always")])
    with at_a_terminal(core, "tool-call", "erase", "{}") as terminal:
        call = page.receive(ToolCall)
        assert call.approval == "always"
        page.ask(call, message="Erase\x1b it?")
        terminal.wait_for(r"erase: waiting for the user: Erase\\u001b it\? \(\d+ s\)")
        page.stop_asking(call)
        report(page, call, "half")
        terminal.wait_for(r"erase: 1/2 half \(\d+ s\)")
        page.submit(call, "done")
        assert json.loads(terminal.finish())["result"] == "done"


def test_who_joins_a_call_that_waits_is_told_so_too(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("erase", approval="always")])
    first = core.start_cli("tool-call", "erase", "{}")
    call = page.receive(ToolCall)
    page.ask(call, message="Erase it?")
    with at_a_terminal(core, "tool-call", "erase", "{}") as terminal:
        terminal.wait_for(r"erase: waiting for the user: Erase it\? \(\d+ s\)")
        page.submit(call, "done")
        assert json.loads(terminal.finish())["joined"] is True
    assert first.finish().json["result"] == "done"


def test_a_page_cannot_steer_the_terminal(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("draw")])
    with at_a_terminal(core, "tool-call", "draw", "{}") as terminal:
        call = page.receive(ToolCall)
        report(page, call, "\x1b[2J\nowned\x07" + "x" * 1000)
        terminal.wait_for("owned")
        page.submit(call, None)
        terminal.finish()
        assert not set(terminal.seen) & {"\x1b", "\n", "\x07"}


def test_a_quick_call_shows_nothing(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("draw")])
    with at_a_terminal(core, "tool-call", "draw", "{}") as terminal:
        page.submit(page.receive(ToolCall), 1)
        assert json.loads(terminal.finish())["ok"]
        assert terminal.seen == ""


def test_where_stderr_is_no_terminal_nothing_is_ever_shown(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("draw")])
    piped = core.start_cli("tool-call", "draw", '{"n":1}')
    call = page.receive(ToolCall)
    report(page, call, "half")
    # The other command tells when a second has passed.
    with at_a_terminal(core, "tool-call", "draw", '{"n":2}') as terminal:
        terminal.wait_for("draw: ")
        page.submit(page.receive(ToolCall), 2)
        page.submit(call, 1)
        terminal.finish()
    assert piped.finish().stderr == ""
