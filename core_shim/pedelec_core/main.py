"""`pedelec-core`: the command line of the native half.

Owns its words, its output and its exit status (0 done · 1 it could not be done · 2 wrong command line ·
130 interrupted). What the commands do stands elsewhere.
"""

# ruff: noqa: T201

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pedelec.errors import PedelecError
from pedelec_core import __version__
from pedelec_core.command_errors import CommandError
from pedelec_core.limits import with_settings
from pedelec_core.loop_guard import LoopLimits
from pedelec_core.origins import ORIGINS_NAME, OriginStore, normalize_origin
from pedelec_core.runtime.errors import BundleError
from pedelec_core.state_dir import ENVIRONMENT_VARIABLE, StateDir

DEFAULT_PORT: Final = 7420

_HOSTS: Final = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1", "[::1]": "::1"}
_MAX_PORT: Final = 65_535
_MAX_GRACE_SECONDS: Final = 24 * 60 * 60
_MAX_COUNT: Final = 1_000_000
_LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    options = _parser().parse_args(argv)
    set_up_logging()
    try:
        status: int = options.run(options)
    except (CommandError, BundleError) as error:
        print(f"pedelec-core: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def set_up_logging() -> None:
    """Have everything logged to stderr, as cheaply as there is a line for each call."""
    # Who logs, and from where, is found out for each line, whether or not the format shows it.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # as the logging HOWTO says
    logging.basicConfig(level=logging.INFO, format=_LOG_FORMAT, stream=sys.stderr)
    logging.getLogger("mcp").setLevel(logging.WARNING)  # below that it tells the ids of its clients' sessions
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.setLevel(logging.WARNING)
    uvicorn.addFilter(_is_ours_to_know)


def _is_ours_to_know(record: logging.LogRecord) -> bool:
    """Not so text that is no UTF-8: its page is closed on, and could fill the log with tracebacks."""
    return record.exc_info is None or not isinstance(record.exc_info[1], UnicodeDecodeError)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pedelec-core", description="Pedelec for Python: the native half.")
    parser.add_argument("--version", action="version", version=f"pedelec-core {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    state = argparse.ArgumentParser(add_help=False)
    state.add_argument(
        "--state-dir",
        type=Path,
        metavar="DIR",
        help=f"where Core keeps its state (default: ${ENVIRONMENT_VARIABLE}, else the platform's folder)",
    )

    serve = commands.add_parser("serve", parents=[state], help="run Core until it is stopped")
    serve.add_argument(
        "--host", type=_host, default="127.0.0.1", help="loopback address (default: %(default)s)"
    )
    serve.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="0 takes a free one (default: %(default)s)"
    )
    serve.add_argument("--site", type=Path, metavar="DIR", help="folder to serve at /")
    serve.add_argument(
        "--allow-origin",
        type=_origin,
        action="append",
        default=[],
        metavar="ORIGIN",
        help="approve an origin for this run only; may be given several times",
    )
    serve.add_argument(
        "--no-journal",
        dest="journal",
        action="store_false",
        help="keep sessions and results in memory only: a restart forgets them",
    )
    serve.add_argument(
        "--grace-seconds",
        type=_seconds,
        metavar="N",
        help="how long a page may be away before its session ends (default: 10)",
    )
    _add_loop_limits(serve)
    serve.add_argument(
        "--inspector",
        action="store_true",
        help="let the pages of approved origins inspect their own sessions, as Core's own pages may",
    )
    serve.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a limit anew, such as calls-per-second=20; may be given several times (docs/security.md)",
    )
    serve.add_argument(
        "--log-payloads",
        action="store_true",
        help="write the arguments and results of all calls to the log (default: sizes alone)",
    )
    serve.set_defaults(run=_serve)

    mcp = commands.add_parser("mcp", parents=[state], help="serve an MCP client on stdin and stdout")
    mcp.add_argument("--start", action="store_true", help="start Core where none runs")
    mcp.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="of a Core that is started (default: %(default)s)"
    )
    mcp.set_defaults(run=_mcp)

    origins = commands.add_parser("origins", parents=[state], help="list the approved origins")
    origins.set_defaults(run=_origins)
    for name, run, purpose in (
        ("approve", _approve, "let the pages of an origin talk to Core"),
        ("revoke", _revoke, "take an approval back"),
    ):
        change = commands.add_parser(name, parents=[state], help=purpose)
        change.add_argument("origin", type=_origin, metavar="ORIGIN", help="such as https://app.example.com")
        change.set_defaults(run=run)

    _add_runtime(commands.add_parser("runtime", help="the Pyodide bundle").add_subparsers(required=True))
    return parser


def _add_loop_limits(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--calls-per-turn",
        type=_count,
        default=LoopLimits().calls_per_turn,
        metavar="N",
        help="stop an agent that calls a page more than N times without a pause; 0 never (default: never)",
    )
    serve.add_argument(
        "--failures-in-a-row",
        type=_count,
        default=LoopLimits().failures,
        metavar="N",
        help="stop an agent after N failed calls with no success between; 0 never (default: %(default)s)",
    )


def _add_runtime(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    build = commands.add_parser("build", help="make the bundle, or bring it up to date")
    build.add_argument("--out", type=Path, metavar="DIR", help="where to (default: where Core looks for it)")
    build.add_argument(
        "--with",
        dest="packages",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="what pages are to find in it besides, such as numpy or msgspec==0.23.0 (repeatable)",
    )
    build.set_defaults(run=_runtime_build)
    verify = commands.add_parser("verify", help="hash every file of the bundle")
    verify.add_argument("path", type=Path, nargs="?", metavar="DIR", help="(default: the one Core serves)")
    verify.set_defaults(run=_runtime_verify)
    where = commands.add_parser("where", help="print the folder of the bundle that Core serves")
    where.add_argument(
        "--integrity",
        action="store_true",
        help="print instead the loader's tag with its hash (Subresource Integrity)",
    )
    where.add_argument(
        "--core-url",
        default=f"http://127.0.0.1:{DEFAULT_PORT}",
        metavar="URL",
        help="where pages find Core, for --integrity (default: %(default)s)",
    )
    where.set_defaults(run=_runtime_where)


def _host(text: str) -> str:
    if text not in _HOSTS:
        raise argparse.ArgumentTypeError(f"Core listens on loopback only: {', '.join(_HOSTS)}")
    return _HOSTS[text]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) <= _MAX_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_MAX_PORT}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= _MAX_GRACE_SECONDS:
        raise argparse.ArgumentTypeError(f"a number of seconds from 0 to {_MAX_GRACE_SECONDS}")
    return seconds


def _count(text: str) -> int | None:
    """A limit; None for none."""
    if not (text.isascii() and text.isdigit() and int(text[:10]) <= _MAX_COUNT):
        raise argparse.ArgumentTypeError(f"a number from 0 to {_MAX_COUNT}")
    return int(text) or None


def _limit(text: str) -> str:
    try:
        with_settings([text])
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _origin(text: str) -> str:
    try:
        return normalize_origin(text)
    except PedelecError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _serve(options: argparse.Namespace) -> int:
    from pedelec_core.server.run import ServeOptions, serve

    serve(
        ServeOptions(
            host=options.host,
            port=options.port,
            state_dir=options.state_dir,
            site=options.site,
            allow_origins=tuple(options.allow_origin),
            journal=options.journal,
            grace_seconds=options.grace_seconds,
            loop_limits=LoopLimits(calls_per_turn=options.calls_per_turn, failures=options.failures_in_a_row),
            inspector=options.inspector,
            limits=with_settings(options.limit),
            log_payloads=options.log_payloads,
        ),
        _announce,
    )
    return 0


def _announce(url: str) -> None:
    """Tell whoever started us. Should nobody listen any more, we run all the same."""
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), f"ready {url}\n".encode())


def _mcp(options: argparse.Namespace) -> int:
    from pedelec_core.mcp_bridge.bridge import run_bridge

    run_bridge(StateDir(options.state_dir), start_on=options.port if options.start else None)
    return 0


def _origin_store(options: argparse.Namespace) -> OriginStore:
    state_dir = StateDir(options.state_dir)
    state_dir.prepare()
    return OriginStore(state_dir.path / ORIGINS_NAME)


def _origins(options: argparse.Namespace) -> int:
    for origin in _origin_store(options).approved():
        print(origin)
    return 0


def _approve(options: argparse.Namespace) -> int:
    added = _origin_store(options).approve(options.origin)
    print(f"{options.origin} {'is' if added else 'was already'} approved")
    return 0


def _revoke(options: argparse.Namespace) -> int:
    if not _origin_store(options).revoke(options.origin):
        print(f"pedelec-core: {options.origin} was not approved", file=sys.stderr)
        return 1
    print(f"{options.origin} is not approved any more")
    return 0


def _runtime_build(options: argparse.Namespace) -> int:
    from pedelec_core.runtime import commands

    print(commands.build(options.out, _show_progress, options.packages))
    return 0


def _show_progress(what: str, done: int = 0, total: int = 0) -> None:
    if done == 0 or done == total:
        print(what if done == 0 else f"{what}: done", file=sys.stderr)


def _runtime_verify(options: argparse.Namespace) -> int:
    from pedelec_core.runtime import commands

    bundle = options.path or commands.where()
    if bundle is None:
        raise BundleError("There is no Pyodide bundle.")
    problems = commands.verify(bundle)
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{bundle} is whole")
    return 1 if problems else 0


def _runtime_where(options: argparse.Namespace) -> int:
    from pedelec_core.runtime import commands, integrity

    if options.integrity:
        print(integrity.loader_tag(options.core_url))
        return 0
    bundle = commands.where()
    if bundle is None:
        raise BundleError("There is no Pyodide bundle.")
    print(bundle)
    return 0
