"""`pedelec-cli evals`: failing calls become cases in a folder, and are replayed against a live page."""

import argparse
import json
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pedelec.errors import Code
from pedelec.json_text import JsonObject, JsonValue, encode_value
from pedelec_core.cli import NOT_OK, OK, USAGE, CliError
from pedelec_core.evals.case import Case, Verdict

from .asking import Asker, RefusedError
from .output import Shown, printable

FILE_NAME: Final = "failures.jsonl"

_NO_SESSION: Final = frozenset({Code.PEDELEC_THREAD_ID_NOT_FOUND, Code.THREAD_NOT_FOUND})


def add(options: argparse.Namespace) -> Shown:
    """Store a failing call, once a person has seen what is stored."""
    with Asker(options.state_dir) as core:
        wire = core.result({"type": "failing_case", "invocationId": options.invocation_id})
    case = Case.from_wire(wire)
    path: Path = options.dir / FILE_NAME
    result: JsonObject = {"case": wire, "file": str(path)}
    if any(known.id == case.id for _, known in _cases(options.dir)):
        return Shown(OK, result | {"stored": False})
    if not (options.yes or _is_wanted(case, path)):
        return Shown(NOT_OK, result | {"stored": False})
    _append(path, case.to_line())
    return Shown(OK, result | {"stored": True})


def _is_wanted(case: Case, path: Path) -> bool:
    """Whether a person who has seen what is about to be stored wants it.

    Raises:
        CliError: nobody is there to look.
    """
    shown = json.dumps(case.to_wire(), ensure_ascii=False, indent=2)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        command = f"pedelec-cli evals add {case.id} --yes"
        steps = [f"If the user agrees to store details.case, add --yes to the same command: {command}"]
        problem = "Nothing was stored: nobody at a terminal could be shown what would be."
        raise CliError(USAGE, Code.USAGE_ERROR, problem, steps, details={"case": case.to_wire()})
    question = "\n".join(map(printable, shown.splitlines()))
    sys.stderr.write(f"{question}\nStore this in {path}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _append(path: Path, line: str) -> None:
    data = line.encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        problem = f"{path.name} cannot be written: {error.strerror}."
        raise CliError(NOT_OK, Code.USAGE_ERROR, problem, ["Name another folder: --dir DIR"]) from None


def replay(options: argparse.Namespace) -> Shown:
    """Make the calls of all cases again; status 1 where some still fail."""
    cases = list(_cases(options.dir))
    outcomes: list[JsonObject] = []
    if cases:
        with Asker(options.state_dir) as core:
            outcomes = [_outcome(core, case, options.thread_id) for _, case in cases]
    failing = sum(outcome["verdict"] != Verdict.WORKS for outcome in outcomes)
    listed: list[JsonValue] = [*outcomes]
    result: JsonObject = {"cases": listed, "failing": failing}
    return Shown(NOT_OK if failing else OK, result, _text(outcomes, failing, options.dir))


def _outcome(core: Asker, case: Case, thread_id: str | None) -> JsonObject:
    """Make a call again and judge it.

    Raises:
        RefusedError: there is no session to make it in.
    """
    request: JsonObject = {
        "type": "tool_call",
        "tool": case.tool,
        "argsText": encode_value(case.args),
        "callId": f"eval_{secrets.token_urlsafe(16)}",  # a call of its own, never an answer from before
        "replay": True,
    }
    answer = core.answer(request | ({"threadId": thread_id} if thread_id else {}))
    core.acknowledge()
    error = answer.get("error")
    if isinstance(error, dict) and error.get("code") in _NO_SESSION:
        raise RefusedError(error)
    verdict, code, message = case.judge(answer)
    outcome: JsonObject = {"id": case.id, "tool": case.tool, "verdict": verdict.value, "was": case.code}
    if verdict is not Verdict.WORKS:
        outcome |= {"code": code, "message": message}
    return outcome | ({"redacted": [*case.redacted]} if case.redacted else {})


def _cases(folder: Path) -> Iterator[tuple[Path, Case]]:
    """All cases in a folder's `.jsonl` files, and where each stands.

    Raises:
        CliError: a line is no case.
    """
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield path, Case.from_wire(json.loads(line))
            except (ValueError, RecursionError) as error:
                problem = f"Line {number} of {path.name} is no case: {error}."
                raise CliError(USAGE, Code.USAGE_ERROR, problem, ["Mend that line, or remove it."]) from None


def _text(outcomes: list[JsonObject], failing: int, folder: Path) -> str:
    if not outcomes:
        return f"There are no cases in {folder}. Keep one: pedelec-cli evals add INVOCATION_ID"
    lines = [printable(_line(outcome)) for outcome in outcomes]
    return "\n".join([*lines, f"{failing} of {len(outcomes)} still fail."])


def _line(outcome: JsonObject) -> str:
    line = f"{outcome['verdict']}: {outcome['tool']} ({outcome['id']})"
    if outcome["verdict"] != Verdict.WORKS:
        was = f"was {outcome['was'] or 'an error without a code'}, " if _changed(outcome) else ""
        line += f": {was}{outcome['code'] or 'an error without a code'}: {outcome['message']}"
    if "redacted" in outcome:
        line += " [its arguments were redacted: put usable ones into the file]"
    return line


def _changed(outcome: JsonObject) -> bool:
    return outcome["verdict"] == Verdict.FAILS_OTHERWISE
