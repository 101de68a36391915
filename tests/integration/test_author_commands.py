"""`pedelec-cli lint` and `pedelec-cli evals`, against a running Core and without one."""

import json
import os
import pty
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pedelec.json_text import JsonValue
from pedelec.protocol import ToolCall
from tests.harness import CoreProcess, PageClient, run_cli, tool

FAILED: JsonValue = {"error": {"code": "SAVE_FAILED", "message": "Something went wrong."}}


@contextmanager
def answering(page: PageClient, *results: JsonValue) -> Iterator[None]:
    """The page gives its next calls these results."""

    def answer() -> None:
        for result in results:
            page.submit(page.receive(ToolCall), result)

    thread = threading.Thread(target=answer)
    thread.start()
    yield
    thread.join(20)
    assert not thread.is_alive()


def failed_call(core: CoreProcess, page: PageClient, args: str = "{}") -> str:
    """The invocation of a call of `save` that fails."""
    with answering(page, FAILED):
        return str(core.cli("tool-call", "save", args).json["invocationId"])


def manifest(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_a_page_that_leaves_agents_nothing_to_do_is_told_why_and_how_to_mend_it(
    core: CoreProcess, page: PageClient
) -> None:
    thread = page.create_session(
        [tool("save"), tool("list_shapes", description="Lists shapes by their ids.")]
    )
    invocation_id = failed_call(core, page)
    done = core.cli("lint", "--json")
    assert done.status == 1
    result = done.json["result"]
    assert (result["threadId"], result["tools"]) == (thread, 2)
    assert result["errors"] == [{"invocationId": invocation_id, "tool": "save"}]
    assert [(each["rule"], each["where"]) for each in result["findings"]] == [
        ("tool-description", "/tools/0/description"),
        ("read-only-hint", "/tools/1"),
        ("vague-message", "/errors/0/error/message"),
        ("missing-class", "/errors/0/error"),
    ]
    assert all(each["severity"] and each["why"] and each["fix"] for each in result["findings"])
    text = core.cli("lint", "--thread-id", thread)
    assert text.status == 1
    assert "error: vague-message: /errors/0/error/message (SAVE_FAILED)" in text.stdout.decode()
    assert "2 tools and 1 error result checked: 4 findings." in text.stdout.decode()


def test_a_page_in_order_is_told_so(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("save", description="Stores the drawing under its name.")])
    done = core.cli("lint")
    assert (done.status, done.stdout) == (0, b"1 tool and 0 error results checked: nothing to mend.\n")


def test_tools_in_a_file_are_checked_without_core(tmp_path: Path) -> None:
    tools = [{"name": "save", "description": "Stores the drawing.", "argsSchema": {"type": "object"}}]
    done = run_cli("--state-dir", "/nowhere", "lint", "--json", "--manifest", manifest(tmp_path, tools))
    (finding,) = done.json["result"]["findings"]
    assert (done.status, finding["rule"], finding["where"]) == (1, "read-only-hint", "/0")
    content = {"tools": [tools[0] | {"readOnly": False}], "errors": [{"items": [], "error": "It is locked."}]}
    done = run_cli("lint", "--manifest", manifest(tmp_path, content), "--json")
    assert [each["where"] for each in done.json["result"]["findings"]] == ["/errors/0"]
    assert run_cli("lint", "--manifest", manifest(tmp_path, content["tools"])).status == 0


@pytest.mark.parametrize("content", ["{", "3", "{}", '{"tools":3}', '{"tools":[],"errors":{}}', None])
def test_a_file_that_holds_no_tools_is_told_as_such(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "tools.json"
    if content is not None:
        path.write_text(content)
    done = run_cli("lint", "--manifest", str(path))
    assert (done.status, done.error["code"]) == (2, "USAGE_ERROR")
    assert "tools.json" in done.error["message"]


@pytest.mark.parametrize(
    "args",
    [
        ["lint", "x"],
        ["lint", "--frob"],
        ["evals"],
        ["evals", "frob"],
        ["evals", "add"],
        ["evals", "run", "x"],
    ],
)
def test_a_wrong_command_line_is_told_with_the_usage(args: list[str]) -> None:
    done = run_cli(*args)
    assert (done.status, done.error["code"]) == (2, "USAGE_ERROR")
    assert done.error["recoverySteps"][0].startswith("Usage: pedelec-cli")


def test_help_is_told(tmp_path: Path) -> None:
    assert b"--manifest" in run_cli("lint", "--help").stdout
    assert b"--yes" in run_cli("evals", "add", "--help").stdout


def test_a_core_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = run_cli("--state-dir", str(tmp_path), "lint")
    assert (done.status, done.error["code"]) == (3, "CORE_RUNTIME_UNAVAILABLE")


def test_a_tool_may_be_called_lint(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("lint")])
    with answering(page, "linted"):
        assert core.cli("tool-call", "lint", "{}").json["result"] == "linted"


def test_a_failing_call_becomes_a_case_and_is_replayed_until_it_works(
    core: CoreProcess, page: PageClient, tmp_path: Path
) -> None:
    page.create_session([tool("save")])
    folder = ("--dir", str(tmp_path / "evals"))
    invocation_id = failed_call(core, page, '{"name":"plan","password":"hunter2"}')
    added = core.cli("evals", "add", invocation_id, "--yes", *folder).json["result"]
    assert added["case"]["args"] == {"name": "plan", "password": "<redacted>"}
    assert added["case"]["redacted"] == ["/password"]
    (line,) = Path(added["file"]).read_text().splitlines()
    assert json.loads(line) == added["case"]
    assert core.cli("evals", "add", invocation_id, "--yes", *folder).json["result"]["stored"] is False

    for _ in range(6):  # no loop of an agent's: the guard lets it be
        with answering(page, FAILED):
            done = core.cli("evals", "run", "--json", *folder)
        (case,) = done.json["result"]["cases"]
        assert (done.status, case["verdict"], case["code"]) == (1, "still fails", "SAVE_FAILED")
    with answering(page, {"error": {"code": "FULL", "message": "The disk is full."}}):
        done = core.cli("evals", "run", *folder)
    assert done.status == 1
    assert f"fails otherwise: save ({invocation_id}): was SAVE_FAILED, FULL: The disk" in done.stdout.decode()
    with answering(page, {"saved": True}):
        done = core.cli("evals", "run", "--json", *folder)
    assert (done.status, done.json["result"]["failing"]) == (0, 0)


def test_what_is_stored_is_shown_first(core: CoreProcess, page: PageClient, tmp_path: Path) -> None:
    page.create_session([tool("save")])
    invocation_id = failed_call(core, page)
    command = ("evals", "add", invocation_id, "--dir", str(tmp_path / "evals"))
    unseen = core.cli(*command)
    assert unseen.status == 2
    assert unseen.error["details"]["case"]["id"] == invocation_id
    (step,) = unseen.error["recoverySteps"]
    assert step.endswith(f"pedelec-cli evals add {invocation_id} --yes")
    for answer, stored in (("n\n", False), ("y\n", True)):
        assert answer_at_terminal(core, command, answer) == (0 if stored else 1)
        assert (tmp_path / "evals").exists() is stored


def answer_at_terminal(core: CoreProcess, command: tuple[str, ...], answer: str) -> int:
    """The exit status of a command whose user types an answer, having seen the case."""
    pid, terminal = pty.fork()
    if pid == 0:
        cli = Path(sys.executable).with_name("pedelec-cli")
        os.execv(cli, [str(cli), "--state-dir", str(core.state_dir), *command])
    seen = b""
    while not seen.endswith(b"[y/N] "):
        seen += os.read(terminal, 4096)
    assert b'"tool": "save"' in seen
    os.write(terminal, answer.encode())
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status)


def test_a_call_that_did_not_fail_is_no_case(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("save")])
    with answering(page, {"saved": True}):
        invocation_id = core.cli("tool-call", "save", "{}").json["invocationId"]
    for each in (invocation_id, "inv_unknown"):
        assert core.cli("evals", "add", each, "--yes").error["code"] == "INVOCATION_NOT_FOUND"


def test_cases_need_a_page_to_be_replayed_on(core: CoreProcess, tmp_path: Path) -> None:
    assert core.cli("evals", "run", "--dir", str(tmp_path)).status == 0
    case = {"id": "inv_1", "tool": "save", "args": {}, "error": {"code": "X"}}
    (tmp_path / "mine.jsonl").write_text(json.dumps(case) + "\n\n")
    done = core.cli("evals", "run", "--dir", str(tmp_path))
    assert (done.status, done.error["code"]) == (1, "PEDELEC_THREAD_ID_NOT_FOUND")
    (tmp_path / "mine.jsonl").write_text("{}")
    broken = core.cli("evals", "run", "--dir", str(tmp_path))
    assert (broken.status, "Line 1 of mine.jsonl" in broken.error["message"]) == (2, True)
