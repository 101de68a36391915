"""Every example of the page on tools answers what the page says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pedelec import ToolDefinition
from tests.literal_agent.calls import parse_call
from tests.unit.sdk.scripted_core import ScriptedCore, open_session

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"```python\n(?P<source>.*?)```\n\n`(?P<call>[^`\n]*)` is answered:\n\n```json\n(?P<answer>.*?)```",
    re.DOTALL,
)
EXAMPLES = [match.groupdict() for match in EXAMPLE.finditer(PAGE)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["call"])
async def test_an_example_answers_what_the_page_says(example: dict[str, str]) -> None:
    scope: dict[str, Any] = {"__name__": "page"}
    exec(example["source"], scope)
    call = parse_call(example["call"])
    core = ScriptedCore()
    await open_session(core, tools=tuple(each for each in scope.values() if isinstance(each, ToolDefinition)))
    assert await core.call(call.tool, call.args) == json.loads(example["answer"])


def test_each_block_of_python_is_an_example() -> None:
    assert len(EXAMPLES) == PAGE.count("```python")
