"""The words of `lint` and `evals`, and which code runs them."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, override

from pedelec.errors import Code
from pedelec_core.cli import OK, USAGE, CliError, write_out

from . import evals, lint
from .output import Shown


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong as every command of `pedelec-cli` does."""

    @override
    def error(self, message: str) -> NoReturn:
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        sentence = f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."
        raise CliError(USAGE, Code.USAGE_ERROR, sentence, [f"Usage: {usage}"])

    @override
    def print_help(self, file: object = None) -> None:
        write_out(self.format_help().encode())


def run(words: Sequence[str]) -> int:
    """Run a command of these; returns the exit status.

    Raises:
        CliError: it could not be done.
    """
    try:
        options = _parser().parse_args(words, argparse.Namespace(state_dir=None, thread_id=None, json=False))
    except SystemExit:  # help was asked for
        return OK
    shown: Shown = options.run(options)
    shown.print(as_json=options.json)
    return shown.status


def _parser() -> argparse.ArgumentParser:
    common = _common()
    parser = _Parser(prog="pedelec-cli", parents=[common], allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lint_parser = commands.add_parser(
        "lint", parents=[common], help="check a page's tools and errors", allow_abbrev=False
    )
    lint_parser.add_argument(
        "--manifest", type=Path, metavar="FILE", help="check the tools in a JSON file; needs no Core"
    )
    lint_parser.set_defaults(run=lint.run)

    actions = commands.add_parser("evals", help="failing calls as test cases", allow_abbrev=False)
    evals_commands = actions.add_subparsers(required=True, metavar="add|run")
    add = evals_commands.add_parser(
        "add", parents=[common], help="keep a failing call as a case", allow_abbrev=False
    )
    add.add_argument(
        "invocation_id", metavar="INVOCATION_ID", help="invocationId of the failed call's answer"
    )
    add.add_argument("--yes", action="store_true", help="store without asking")
    add.set_defaults(run=evals.add)
    replay = evals_commands.add_parser(
        "run", parents=[common], help="see which cases still fail", allow_abbrev=False
    )
    replay.set_defaults(run=evals.replay)
    for each in (add, replay):
        each.add_argument(
            "--dir", type=Path, default=Path("evals"), help="the cases' folder (default: %(default)s)"
        )
    return parser


def _common() -> _Parser:
    """Options that may stand before the command or after it."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--state-dir", metavar="DIR")
    common.add_argument("--thread-id", metavar="ID")
    common.add_argument("--json", action="store_true", help="one line of JSON")
    return common
