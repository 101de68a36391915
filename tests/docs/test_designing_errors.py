"""Every Python example of the page on designing errors answers what the page says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pedelec.recovery
from pedelec import ToolDefinition, define_tool
from tests.literal_agent.calls import parse_call
from tests.unit.sdk.scripted_core import ScriptedCore, open_session, settle

PAGE = (Path(__file__).parents[2] / "docs" / "designing-errors.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^## (?P<title>[^\n]+)\n(?:(?!^## ).)*?"
    r"```python\n(?P<source>.*?)```\n\n[^\n]*`(?P<call>[^`\n]*)`(?P<person>[^\n]*)\n\n```json\n(?P<answer>.*?)```",
    re.MULTILINE | re.DOTALL,
)
EXAMPLES = [match.groupdict() for match in EXAMPLE.finditer(PAGE)]


async def answer_in(source: str, call_text: str, person: str) -> Any:
    """What a call comes to on a page whose tools are those, and the functions, that `source` defines.

    `person` says in words what the person at the page does, if anything.
    """
    scope: dict[str, Any] = {}
    exec(source, scope)
    call = parse_call(call_text)
    core = ScriptedCore()
    made = [value for value in scope.values() if isinstance(value, ToolDefinition)]
    tools = tuple(
        define_tool(
            name=name,
            description=f"The tool {name}.",
            args_schema={"type": "object"},
            handler=function,
            read_only=name.startswith(("get_", "list_")),
        )
        for name, function in scope.items()
        if getattr(function, "__code__", None) is not None and function.__code__.co_filename == "<string>"
    )
    await open_session(core, tools=(*made, *tools))
    call_id = core.send_call(call.tool, call.args)
    await settle()
    if "says no" in person:
        core.host.dialog.answer(accepted=False)
    elif answer := re.search("answers “(.*)”", person):
        core.host.dialog.answer(answer=answer[1])
    return await core.result_of(call_id)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
async def test_an_example_answers_what_the_page_says(example: dict[str, str]) -> None:
    assert await answer_in(example["source"], example["call"], example["person"]) == json.loads(
        example["answer"]
    )


def test_there_is_an_example_of_each_part_of_the_kit() -> None:
    sources = "\n".join(example["source"] for example in EXAMPLES)
    for name in pedelec.recovery.__all__:
        assert name in sources
    for constructor in ("retryable", "permanent", "user_input", "auth_required", "not_configured"):
        assert f"ToolError.{constructor}(" in sources
