"""A real Core and the real commands, as processes of their own.

    with CoreProcess(tmp_path / "state") as core, PageClient(core.url) as page:
        page.create_session([...])
        call = core.start_cli("tool-call", "move", "{}")
        page.submit(page.receive(ToolCall), {"moved": True})
        assert call.finish().json["ok"]

Every wait is bounded. Nothing outlives its context.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.harness import error_rules, log_rules

WAIT_SECONDS = 20.0
"""How long anything may take on a busy machine before a test fails."""

_BIN = Path(sys.executable).parent


def limits(**values: float) -> list[str]:
    """The words that set limits of a Core: `limits(calls_per_second=5)`."""
    words = [f"{name.replace('_', '-')}={value}" for name, value in values.items()]
    return [word for setting in words for word in ("--limit", setting)]


WITHOUT_RATES = limits(
    calls_per_second=1_000_000,
    calls_burst=1_000_000,
    frames_per_second=1_000_000,
    frames_at_once=1_000_000,
    sessions_at_once=1_000_000,
    sessions_per_origin=1_000_000,
    connections=1_000_000,
    connections_per_origin=1_000_000,
)
"""For tests and measurements that do more in a second than people's agents and pages."""


@dataclass(frozen=True, slots=True)
class CliResult:
    """What a command did: its exit status and its output."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def json(self) -> Any:
        """The one line of JSON on stdout."""
        assert self.stdout.endswith(b"\n"), self
        assert self.stdout.count(b"\n") == 1, self
        answer = json.loads(self.stdout)
        error_rules.record(answer)
        return answer

    @property
    def error(self) -> Any:
        """The error envelope of an answer that is not ok."""
        answer = self.json
        assert answer["ok"] is False, answer
        return answer["error"]


class CliCall:
    """A command that runs; `finish` waits for it."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], stdin: bytes = b"") -> None:
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            self.process = subprocess.Popen(
                command, env=env, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )

    def finish(self) -> CliResult:
        """Wait for the end of the command."""
        try:
            stdout, stderr = self.process.communicate(timeout=WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        return CliResult(self.process.returncode, stdout, stderr.decode())

    def signal(self, number: int) -> None:
        """Send the command a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the command at once, and throw its output away."""
        self.process.kill()
        self.process.communicate()


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without what would change how Core behaves, or how fast it starts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PEDELEC_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | more


def core_command(*args: str) -> list[str]:
    """The words of a `pedelec-core` command."""
    return [str(_BIN / "pedelec-core"), *args]


def run_cli(*args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> CliResult:
    """Run `pedelec-cli` to its end, with no state folder but the one that `args` or `env` names."""
    return CliCall([str(_BIN / "pedelec-cli"), *args], env or clean_environment(), stdin).finish()


def run_core(*args: str, env: Mapping[str, str] | None = None) -> CliResult:
    """Run a `pedelec-core` command that ends by itself."""
    return CliCall(core_command(*args), env or clean_environment()).finish()


class CoreProcess:
    """`pedelec-core serve` on a free port, ready when the context is entered, gone when it is left.

    Args:
        state_dir: its state folder; made if it is not there.
        args: more arguments for `serve`.
        port: a fixed port, for a Core that takes the place of another.
        env: more environment variables.
        programs: the folder of the commands, for another installation than this one.
    """

    def __init__(
        self,
        state_dir: Path,
        *args: str,
        port: int = 0,
        env: Mapping[str, str] | None = None,
        programs: Path = _BIN,
    ) -> None:
        self.state_dir = state_dir
        self._programs = programs
        serve = ["serve", "--port", str(port), "--state-dir", str(state_dir), *args]
        self._command = [str(programs / "pedelec-core"), *serve]
        self._env = clean_environment(**(env or {}))
        self._log_path = state_dir.with_name(f"{state_dir.name}.log")
        self._process: subprocess.Popen[bytes] | None = None
        self._calls: list[CliCall] = []
        self._secrets: list[str] = []
        self.url = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for call in self._calls:
            if call.process.returncode is None:
                call.kill()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()
        if self._process is not None:
            self.kill()
        if error is None and "--log-payloads" not in self._command:
            log_rules.check(self.log, self._secrets)

    def start(self) -> None:
        """Start Core and wait until it says that it is ready."""
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=self._env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        line = self._first_line()
        assert line.startswith("ready http://"), f"{line!r}\n{self.log}"
        self.url = line.removeprefix("ready ")
        self._secrets = log_rules.secrets_of(self.state_dir)

    def _first_line(self) -> str:
        stdout = self.process.stdout
        assert stdout is not None
        data = b""
        deadline = time.monotonic() + WAIT_SECONDS
        while not data.endswith(b"\n"):
            readable, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(stdout.fileno(), 4096) if readable else b""
            if not chunk:
                self.kill()
                raise AssertionError(f"Core did not become ready:\n{self.log}")
            data += chunk
        return data.decode().rstrip("\n")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running process."""
        assert self._process is not None, "Core does not run"
        return self._process

    @property
    def port(self) -> int:
        """The port that Core listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def runtime(self) -> Any:
        """What `runtime.json` says."""
        return json.loads((self.state_dir / "runtime.json").read_bytes())

    @property
    def log(self) -> str:
        """All that Core has written to stderr."""
        return self._log_path.read_text()

    def stop(self, number: int = signal.SIGTERM) -> CliResult:
        """Ask Core to stop, wait until it has, and return its exit status and what else it said on stdout."""
        process = self.process
        process.send_signal(number)
        stdout, _ = process.communicate(timeout=WAIT_SECONDS)
        self._process = None
        return CliResult(process.returncode, stdout, self.log)

    def kill(self) -> None:
        """End Core as a crash would (SIGKILL)."""
        self.process.kill()
        self.process.communicate()
        self._process = None

    def start_cli(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> CliCall:
        """Start `pedelec-cli` against this Core. It is killed with the context, should it still run."""
        environment = clean_environment(PEDELEC_STATE_DIR=str(self.state_dir), **(env or {}))
        call = CliCall([str(self._programs / "pedelec-cli"), *args], environment, stdin)
        self._calls.append(call)
        return call

    def cli(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> CliResult:
        """Run `pedelec-cli` against this Core to its end."""
        return self.start_cli(*args, stdin=stdin, env=env).finish()
