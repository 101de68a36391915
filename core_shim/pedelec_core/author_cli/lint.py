"""`pedelec-cli lint`: the findings on a session, or on the tools in a file."""

import argparse
import json
from pathlib import Path
from typing import Any

from pedelec.errors import Code
from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.cli import NOT_OK, OK, USAGE, CliError
from pedelec_core.lint import lint

from .asking import Asker
from .output import Shown, printable


def run(options: argparse.Namespace) -> Shown:
    """Check what the options name; status 1 where there is something to mend."""
    if options.manifest is not None:
        result = _of_file(options.manifest)
    else:
        with Asker(options.state_dir) as core:
            request: JsonObject = {"type": "lint"}
            if options.thread_id:
                request["threadId"] = options.thread_id
            result = core.result(request)
    return Shown(NOT_OK if result["findings"] else OK, result, _text(result))


def _of_file(path: Path) -> JsonObject:
    tools, errors, at_root = _read(path)
    findings: list[JsonValue] = []
    for finding in lint(tools, errors, hints_stated=True):
        told = finding.to_wire()
        if at_root:
            told["where"] = str(told["where"]).removeprefix("/tools")
        findings.append(told)
    return {"file": path.name, "tools": len(tools), "errors": len(errors), "findings": findings}


def _read(path: Path) -> tuple[list[JsonValue], list[JsonValue], bool]:
    """The tools and error results of a file, and whether the tools are all of it.

    It holds a list of manifests, or an object with `tools` and, if wanted, `errors`.
    """
    try:
        content: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"is no JSON: {error}") from None
    if isinstance(content, list):
        return content, [], True
    tools, errors = (
        (content.get(key, []) for key in ("tools", "errors")) if isinstance(content, dict) else (0, 0)
    )
    if not (isinstance(tools, list) and isinstance(errors, list) and "tools" in content):
        raise _unusable(path, 'must hold a list of manifests, or an object with "tools"')
    return tools, errors, False


def _unusable(path: Path, problem: str) -> CliError:
    steps = ["Usage: pedelec-cli lint --manifest FILE"]
    return CliError(USAGE, Code.USAGE_ERROR, f"The file {path.name} {problem}.", steps)


def _text(result: JsonObject) -> str:
    findings: Any = result["findings"]
    errors: Any = result["errors"]
    count = errors if isinstance(errors, int) else len(errors)
    checked = f"{_counted(result['tools'], 'tool')} and {_counted(count, 'error result')} checked"
    if not findings:
        return f"{checked}: nothing to mend."
    paragraphs = [_paragraph(finding) for finding in findings]
    return "\n\n".join([*paragraphs, f"{checked}: {_counted(len(findings), 'finding')}."])


def _paragraph(finding: JsonObject) -> str:
    place = f"{finding['where']} ({finding['about']})" if finding["about"] else str(finding["where"])
    lines = (
        f"{finding['severity']}: {finding['rule']}: {place}: {finding['note']}",
        f"  why: {finding['why']}",
        f"  fix: {finding['fix']}",
    )
    return "\n".join(printable(line) for line in lines)


def _counted(count: object, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
