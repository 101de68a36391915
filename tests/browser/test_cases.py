"""`tests/cases/tool_calls.jsonl` in both browsers: page, Core and command line, each as it ships."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browser_page import BrowserPage

_CASES_FILE = Path(__file__).resolve().parents[1] / "cases" / "tool_calls.jsonl"
_CASES: list[dict[str, Any]] = [json.loads(line) for line in _CASES_FILE.read_text("utf-8").splitlines()]

_WITHIN_A_SECOND = 1_000

_PYTHON = """
import js, json
from pedelec import Pedelec, define_tool

case = json.loads({case!r})
try:
    compile("def handler(args, ctx):\\n" + case["body"], "case", "exec")
    head = "def"
except SyntaxError:
    head = "async def"
namespace = {{}}
exec(head + " handler(args, ctx):\\n" + case["body"], namespace)
schemas = {{case["name"]: case["schema"], "next_tool": {{"type": "object"}}}}
tools = [define_tool(name=name, description="A probe.", args_schema=schemas[name]) for name in schemas]
session = await Pedelec().create_session(tools=tools)
session.on_tool(case["name"], namespace["handler"])
session.on_tool("next_tool", lambda: "next")
js.__thread = session.session_id
js.__errors = js.JSON.parse("[]")
session.on_error(lambda error: js.__errors.push(error.code))
"""

_JAVASCRIPT = """
const tools = [
  { name: given.name, description: "A probe.", argsSchema: given.schema },
  { name: "next_tool", description: "Another.", argsSchema: { type: "object" } },
];
const session = await new pedelec.Pedelec().createSession({ skills: { guidance: "", tools } });
if (given.body !== null) session.onTool(given.name, new Function("args", "ctx", given.body));
session.onTool("next_tool", () => "next");
globalThis.__thread = session.sessionId;
globalThis.__errors = [];
session.onError((error) => __errors.push(error.code));
"""


def _prepare(page: BrowserPage, case: dict[str, Any]) -> str:
    setup = {
        "name": case["name"],
        "schema": case.get("schema", {"type": "object"}),
        "body": case.get("handler"),
    }
    if case["lang"] == "python":
        setup["body"] = "".join(f"    {line}\n" for line in case["handler"].splitlines())
        page.python(_PYTHON.format(case=json.dumps(setup)))
    else:
        page.run(_JAVASCRIPT, setup)
    return str(page.run("return __thread"))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_case(shared: BrowserPage, case: dict[str, Any]) -> None:
    thread = _prepare(shared, case)
    args = case.get("args_text") or json.dumps(case.get("args", {}))
    answer = shared.call(case.get("call", case["name"]), args, thread=thread, timeout_ms=_WITHIN_A_SECOND)
    _check(answer, case["expect"])
    assert shared.answers(thread) == (1 if answer["ok"] else 0)
    if "onError" in case["expect"]:
        assert len(shared.run("return __errors")) == case["expect"]["onError"]
    assert shared.call("next_tool", thread=thread)["result"] == "next"
    shared.take_errors()  # a handler that raises is logged


def _check(answer: dict[str, Any], expect: dict[str, Any]) -> None:
    if "error" in expect:
        assert answer["ok"] is False, answer
        _check_error(answer["error"], expect["error"])
        return
    assert answer["ok"] is True, answer
    if "resultError" in expect:
        _check_error(answer["result"]["error"], expect["resultError"])
    elif "result" in expect:
        assert answer["result"] == expect["result"]
    else:
        assert "error" not in answer["result"]


def _check_error(error: dict[str, Any], expect: dict[str, Any]) -> None:
    assert error["code"] == expect["code"], error
    for name in ("path", "type"):
        if name in expect:
            assert error["details"][name] == expect[name], error
    for mention in expect.get("mentions", []):
        assert mention in error["message"], error
    reported = {violation["path"] for violation in (error.get("details") or {}).get("violations", [])}
    assert set(expect.get("paths", [])) <= reported
