"""The shared cases that need neither a browser nor Core's own checks, over the in-memory transport."""

import asyncio
import json
import textwrap
from pathlib import Path
from typing import Any

from pedelec import define_tool
from tests.harness.tables import each_row
from tests.unit.sdk.scripted_core import ScriptedCore, open_session

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "tool_calls.jsonl").read_text().splitlines()
]
HERE = [
    case
    for case in CASES
    if case["lang"] != "js" and "error" not in case["expect"] and "import js" not in case.get("handler", "")
]


def handler_of(case: dict[str, Any]) -> Any:
    scope: dict[str, Any] = {}
    body = textwrap.indent(case["handler"], "    ")
    exec(f"async def handler(args, ctx):\n{body}", scope)
    return scope["handler"]


def test_the_cases_are_here() -> None:
    assert len(CASES) == 47
    assert len(HERE) == 28


@each_row("case", HERE)
async def test_a_case_is_answered_as_expected(case: dict[str, Any]) -> None:
    core = ScriptedCore()
    schema = case.get("schema", {"type": "object"})
    tool = define_tool(name=case["name"], description="A case.", args_schema=schema)
    session = await open_session(core, tools=(tool,))
    heard: list[Any] = []
    session.on_error(heard.append)
    if case["lang"] == "python":
        session.on_tool(case["name"], handler_of(case))
    else:
        session._stop_holding()
    async with asyncio.timeout(1):
        result = await core.call(case["name"], case.get("args"))
    check(case["expect"], result, heard)
    if case.get("then") == "next-call-works":
        session.on_tool(case["name"], lambda: "works")
        assert await core.call(case["name"]) == "works"


def check(expect: dict[str, Any], result: Any, heard: list[Any]) -> None:
    if "result" in expect:
        assert result == expect["result"]
        assert type(result) is type(expect["result"])
    if "ok" in expect:
        assert not (isinstance(result, dict) and "error" in result)
    if "resultError" in expect:
        wanted = expect["resultError"]
        error = result["error"]
        assert error["code"] == wanted["code"]
        for name in ("path", "type"):
            if name in wanted:
                assert error["details"][name] == wanted[name]
        for mention in wanted.get("mentions", ()):
            assert mention in error["message"]
    if "onError" in expect:
        assert len(heard) == expect["onError"]
