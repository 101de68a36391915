"""The life of the Core process: take the folder and the port, serve, tell that it is ready, leave no trace.

Owns the order of starting and stopping: everything that is started here is stopped here. Parses no command
line.
"""

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, override
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from pedelec_core import __version__
from pedelec_core.agent_desk import AgentDesk
from pedelec_core.approval_desk import ApprovalDesk, approve_or_say_why
from pedelec_core.approvals import Approvals
from pedelec_core.call_log import CallLog
from pedelec_core.command_errors import CommandError
from pedelec_core.hub import Hub
from pedelec_core.inspector.commands import commands_for
from pedelec_core.inspector.desk import InspectorDesk
from pedelec_core.ipc import LocalServer
from pedelec_core.journal import Journal, JournalError
from pedelec_core.limits import ConnectionLimits, CoreLimits
from pedelec_core.loop_guard import LoopLimits
from pedelec_core.mcp_gateway.door import McpDoor
from pedelec_core.origins import ORIGINS_NAME, OriginStore
from pedelec_core.page_desk import PageDesk
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.locations import require_bundle
from pedelec_core.sessions import SessionTimes
from pedelec_core.state_dir import ENVIRONMENT_VARIABLE, RuntimeInfo, StateDir
from pedelec_core.terminal_asker import TerminalAsker

from .app import build_app
from .approval_page import approval_link
from .guard import LOOPBACK_NAMES, Guard
from .http_protocol import bounded
from .inspector_socket import InspectorEndpoint
from .listen import listen, listen_on_twin, url_of
from .page_protocol import PageProtocol
from .page_socket import Cork

_STOP_SECONDS: Final = 1
_OTHER_FILES: Final = 256

_READ_FOR_ITS_ID: Final = 2
"""Up to so many times the limit, a frame is read so that the request it was can be answered; larger ones end
their connection."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `pedelec-core serve` was told. `host` is a loopback address; port 0 is any free one.

    `grace_seconds` is how long a page may be away before it is taken for gone.
    """

    host: str
    port: int
    state_dir: Path | None = None
    site: Path | None = None
    allow_origins: tuple[str, ...] = ()
    journal: bool = True
    grace_seconds: float | None = None
    loop_limits: LoopLimits = field(default_factory=LoopLimits)
    inspector: bool = False
    """Whether the pages of approved origins, too, may look at their own sessions."""
    limits: CoreLimits = field(default_factory=CoreLimits)
    log_payloads: bool = False


class _Server(uvicorn.Server):
    """Uvicorn that tells when it listens, and leaves the signals to us (its own handling ends in a kill)."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @override
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def serve(options: ServeOptions, announce: Callable[[str], None]) -> None:
    """Run Core until SIGINT or SIGTERM.

    Args:
        options: where and what to serve.
        announce: told Core's URL once everything is ready.

    Raises:
        CommandError: Core cannot be started; nothing is left behind.
    """
    with prepared(options) as core:
        asyncio.run(core.run(announce))


@contextlib.contextmanager
def prepared(options: ServeOptions) -> Iterator["Core"]:
    """A Core that has its folder and its port, and runs once its holder says so.

    Raises:
        CommandError: as `serve`.
    """
    if options.site is not None and not options.site.is_dir():
        raise CommandError(f"The site {options.site} is not a folder.")
    _make_room_for(options.limits.connections)
    state_dir = StateDir(options.state_dir)
    state_dir.prepare()
    with state_dir.held(), state_dir.socket_path() as socket_path:
        origins = OriginStore(state_dir.path / ORIGINS_NAME, options.allow_origins)
        origins.approved()  # a broken file is told now, not at the first page
        with listen(options.host, options.port) as listener, _journal(options, state_dir) as journal:
            core = Core(options, state_dir, socket_path, origins, listener, journal)
            with core.twin or contextlib.nullcontext():
                yield core


def _make_room_for(limits: ConnectionLimits) -> None:
    """Have the system allow as many open files as there may be connections, as far as it lets us."""
    wanted = limits.connections + limits.local_connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _journal(options: ServeOptions, state_dir: StateDir) -> contextlib.AbstractContextManager[Journal | None]:
    if not options.journal:
        return contextlib.nullcontext()
    with _told_as_command_error():
        return Journal(state_dir.path)


@contextlib.contextmanager
def _told_as_command_error() -> Iterator[None]:
    """A journal that cannot be used is no fault of Core's: whoever starts it is told which file it is."""
    try:
        yield
    except JournalError as error:
        raise CommandError(f"{error.path}: {error.message}") from None


@dataclass(frozen=True, slots=True)
class RunningCore:
    """A Core that is ready: where it is found, the side that agents come to, and the server's life."""

    info: RuntimeInfo
    desk: AgentDesk
    serving: asyncio.Task[None]


class Core:
    """A Core that has its folder and its port. Made by `prepared`."""

    def __init__(
        self,
        options: ServeOptions,
        state_dir: StateDir,
        socket_path: Path,
        origins: OriginStore,
        listener: socket.socket,
        journal: Journal | None,
    ) -> None:
        self._options = options
        self._state_dir = state_dir
        self._socket_path = socket_path
        self._origins = origins
        self._listener = listener
        self._journal = journal
        self._port: int = listener.getsockname()[1]
        self.twin, self._is_localhost = listen_on_twin(options.host, self._port)

    async def run(self, announce: Callable[[str], None]) -> None:
        """Run until SIGINT or SIGTERM."""
        stopping = _stop_signal()
        _warn_without_bundle()
        async with self.running() as core:
            announce(core.info.url)
            await _first_of(core.serving, stopping)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[RunningCore]:
        """Run as long as the context lasts. Raises `CommandError` where the server does not come up."""
        grace = self._options.grace_seconds
        times = None if grace is None else SessionTimes(end_grace=grace, loss_grace=grace)
        cork = Cork()
        hub = Hub(limits=self._options.limits, journal=self._journal, times=times, telling=cork)
        call_log = CallLog(time.monotonic, payloads=self._options.log_payloads)
        hub.observe(call_log)
        if self._journal is not None:
            with _told_as_command_error():
                hub.restore(self._journal)
        guard = Guard(self._port, self._origins.is_approved, self._own_names())
        desk = AgentDesk(hub, self._options.loop_limits)
        mcp = McpDoor(
            hub, desk, lambda origin: -1 if origin in guard.own_origins else self._origins.rank(origin)
        )
        token = self._state_dir.token()
        approvals = ApprovalDesk(self._origins, guard.own_origins, Approvals(self._options.limits.approvals))
        pages = PageDesk(hub, approvals)
        limits = self._options.limits
        inspector = self._inspector(hub, desk, guard)
        site, private = self._options.site, self._state_dir.path
        app = build_app(pages, approvals, inspector, mcp, token, guard, site, private, limits, cork)
        server = _Server(_uvicorn_config(app, limits))
        approvals.watch(pages.origins_revoked)
        pages.origins_revoked()  # what was revoked while no Core ran
        terminal = self._terminal(approvals)
        approvals.start(terminal)
        async with LocalServer(desk, self._socket_path, mcp.serve_lines, limits):
            listeners = [self._listener, *([] if self.twin is None else [self.twin])]
            serving = asyncio.create_task(server.serve(sockets=listeners))
            try:
                await _first_of(serving, server.listening)
                runtime = self._runtime_info(hub, token)
                self._state_dir.write_runtime(runtime)
                _log.info("Core %s listens on %s", __version__, runtime.url)
                gc.freeze()  # what is here now stays: no collection need look at it again
                yield RunningCore(runtime, desk, serving)
            finally:
                self._state_dir.remove_runtime()
                terminal.close()
                approvals.close()
                await mcp.close()
                await hub.close()
                call_log.flush()
                server.should_exit = True
                await serving

    def _own_names(self) -> Sequence[str]:
        if self._is_localhost:
            return LOOPBACK_NAMES
        _log.warning(
            "another program has port %d of this machine's other loopback address: pages of "
            "http://localhost:%d are not taken for Core's own",
            self._port,
            self._port,
        )
        return [urlsplit(url_of(self._options.host, self._port)).netloc.removesuffix(f":{self._port}")]

    def _terminal(self, approvals: ApprovalDesk) -> TerminalAsker:
        url = url_of(self._options.host, self._port)
        return TerminalAsker(
            link=lambda key: approval_link(url, key),
            decide=lambda origin, approve: approve_or_say_why(approvals, origin, approve=approve),
            patience=self._options.limits.approvals.seconds,
        )

    def _inspector(self, hub: Hub, desk: AgentDesk, guard: Guard) -> InspectorEndpoint:
        named = self._options.state_dir or os.environ.get(ENVIRONMENT_VARIABLE)
        commands = commands_for(Path(named) if named else None, os.environ.get("PATH"))
        own = guard.own_origins

        def may_inspect(origin: str) -> bool:
            return origin in own or (self._options.inspector and self._origins.is_approved(origin))

        return InspectorEndpoint(InspectorDesk(hub, desk, commands, own), may_inspect, self._options.limits)

    def _runtime_info(self, hub: Hub, token: str) -> RuntimeInfo:
        return RuntimeInfo(
            pid=os.getpid(),
            started_at=time.time(),
            host=self._options.host,
            port=self._port,
            url=url_of(self._options.host, self._port),
            socket=str(self._socket_path),
            core_instance_id=hub.instance_id,
            version=__version__,
            token=token,
            state_dir=str(self._state_dir.path),
        )


async def _first_of(serving: asyncio.Task[None], event: asyncio.Event) -> None:
    """Wait for an event, but no longer than the server lives."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving
        raise CommandError("The server stopped by itself.")


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    return stopping


def _warn_without_bundle() -> None:
    try:
        require_bundle()
    except BundleError as error:
        _log.warning("pages cannot start Python here: %s", error)


def _uvicorn_config(app: ASGIApp, limits: CoreLimits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=bounded(limits.connections),
        ws=PageProtocol,
        ws_max_size=_READ_FOR_ITS_ID * limits.wire.max_frame_bytes,
        ws_ping_interval=None,  # pages have heartbeats of our own
        # Loopback gains nothing from compression, and a small frame could unpack to a huge one.
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
