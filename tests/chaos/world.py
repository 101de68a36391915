"""Plays the schedules of a group, side by side, against one Core; tells what must not have been."""

import asyncio
import contextlib
import json
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from tests.chaos.agents import Agent
from tests.chaos.ledger import Ledger
from tests.chaos.pages import Tab
from tests.chaos.schedules import CoreFault, Group, Schedule
from tests.harness import log_rules
from tests.harness.core_process import clean_environment, core_command

BOUND_SECONDS: Final = 40.0
"""No schedule takes longer: a call that takes this long is one that is never answered."""
START_SECONDS: Final = 20.0

_ROOT: Final = Path(__file__).parents[2]


class Core:
    """A Core that is started again on the same port and state folder whenever it dies."""

    def __init__(
        self, state_dir: Path, fault: CoreFault | None, tool: str, options: tuple[str, ...] = ()
    ) -> None:
        self.state_dir = state_dir
        self.url = ""
        self.deaths = 0
        self._log_path = state_dir.with_name("core.log")
        self._fault = fault
        self._tool = tool
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready; the fault comes with the first start alone."""
        port = self.url.rpartition(":")[2] or "0"
        words = ["serve", "--port", port, "--state-dir", str(self.state_dir), *self._options]
        if self._fault is None or self.deaths:
            command = core_command(*words)
        else:
            fault = {"tool": self._tool, "step": self._fault.step, "when": self._fault.when}
            command = [sys.executable, "-m", "tests.chaos.faulty_core", json.dumps(fault), *words]
        with self._log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                cwd=_ROOT,
                env=clean_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        line = (await asyncio.wait_for(self._process.stdout.readline(), START_SECONDS)).decode()
        assert line.startswith("ready "), f"Core did not start: {line!r}\n{self.log}"
        self.url = line.split()[1]

    @property
    def log(self) -> str:
        """What it has written to stderr."""
        return self._log_path.read_text()

    async def keep_alive(self) -> None:
        """Start it again each time it is killed."""
        while True:
            assert self._process is not None
            status = await self._process.wait()
            assert status == -signal.SIGKILL, f"Core ended by itself with status {status}\n{self.log}"
            self.deaths += 1
            await self.start()

    async def stop(self) -> None:
        """End it."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.communicate()


@contextlib.asynccontextmanager
async def running_core(
    fault: CoreFault | None, tool: str, options: tuple[str, ...] = ()
) -> AsyncIterator[Core]:
    """A Core in a folder of its own, with a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="pedelec-chaos-") as folder:
        core = Core(Path(folder) / "state", fault, tool, options)
        await core.start()
        keeping = asyncio.create_task(core.keep_alive())
        try:
            yield core
            if keeping.done():
                await keeping
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping
            await core.stop()


class AnyTab(Protocol):
    """A tab with the page in it: `pages.Tab`, or one of a real browser."""

    async def open(self, session_id: str = "") -> None:
        """Load the page, which takes the session up, or makes one."""

    async def opened(self) -> str:
        """The id of the session, once there is one."""

    async def leave(self) -> None:
        """Close it for good."""


type NewTab = Callable[[Schedule, str, Ledger], AnyTab]


async def play_group(
    group: Group,
    new_tab: NewTab = Tab,
    options: tuple[str, ...] = (),
    bound_seconds: float = BOUND_SECONDS,
) -> list[str]:
    """Play all schedules of a group. Returns what must not have been, with the schedule it happened in.

    Args:
        group: what to play.
        new_tab: opens the pages.
        options: more words for `pedelec-core serve`.
        bound_seconds: how long each schedule may take, once its page is open.
    """
    async with running_core(group.core_fault, group.schedules[0].tool, options) as core:
        told = await asyncio.gather(
            *(play(schedule, core, group.core_fault, new_tab, bound_seconds) for schedule in group.schedules)
        )
        assert "Traceback" not in core.log, core.log
        log_rules.check(core.log)
        found = [complaint for complaints in told for complaint in complaints]
        if not found and group.core_fault is not None and group.core_fault.when in {"before", "after"}:
            assert core.deaths == 1, f"the fault never came: {group.core_fault}"
    return found


async def play(
    schedule: Schedule, core: Core, core_fault: CoreFault | None, new_tab: NewTab, bound_seconds: float
) -> list[str]:
    """Play one schedule."""
    ledger = Ledger(schedule)
    tabs = [new_tab(schedule, core.url, ledger)]
    tabs += [new_tab(replace(schedule, frame_faults=()), core.url, ledger) for _ in range(schedule.tabs - 1)]
    problem = ""
    try:
        await tabs[0].open()
        session_id = await tabs[0].opened()
        async with asyncio.timeout(bound_seconds):
            for tab in tabs[1:]:
                await tab.open(session_id)
            await Agent(schedule, core.state_dir, ledger).run(session_id, steady_core=core_fault is None)
    except TimeoutError:
        problem = "out of time"
    except Exception as error:  # noqa: BLE001 - a complaint like any other, told with its schedule
        problem = repr(error)
    finally:
        for tab in tabs:
            await tab.leave()
    complaints = [problem] if problem else []
    return [f"{complaint}\n    in {schedule}" for complaint in (*complaints, *ledger.complaints())]
