"""Each page of `examples/` does what it says, for an agent and for the person who looks at it."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.browser_page import WAIT_MS
from tests.browser.demo_page import START_MS
from tests.harness import CoreProcess

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

type Open = Callable[[str], Page]


@pytest.fixture
def core(tmp_path: Path) -> Iterator[CoreProcess]:
    """One for each test: no session of the example before is left."""
    with CoreProcess(tmp_path / "state", "--site", str(EXAMPLES)) as running:
        yield running


@pytest.fixture
def open_example(browser: Browser, core: CoreProcess) -> Iterator[Open]:
    """Opens an example and waits until the inspector on it shows its tools; errors on its console fail."""
    page = browser.new_page()
    page.set_default_timeout(WAIT_MS)
    problems: list[str] = []
    page.on("console", lambda told: problems.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))

    def opened(name: str) -> Page:
        page.goto(f"{core.url}/{name}.html")
        page.locator("pedelec-inspector .verdict").wait_for(timeout=START_MS)
        return page

    yield opened
    page.evaluate("() => globalThis.pedelec.ready")
    page.close()
    assert problems == []


def call(core: CoreProcess, tool: str, **args: Any) -> Any:
    answer = core.cli("tool-call", tool, json.dumps(args)).json
    assert answer["ok"], answer
    return answer["result"]


def test_the_form_is_filled_in_by_the_agent_and_sent_by_the_person(
    open_example: Open, core: CoreProcess
) -> None:
    page = open_example("form")
    assert call(core, "read_form")["complete"] is False
    filled = call(core, "fill_form", purpose="Visit", amount=59.9, kind="hotel")
    assert filled == {"values": {"purpose": "Visit", "amount": "59.9", "kind": "hotel"}, "complete": True}
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#sent")).to_have_text("Sent: Visit, 59.9, hotel")


def test_the_table_answers_from_rows_that_only_python_has(open_example: Open, core: CoreProcess) -> None:
    page = open_example("table")
    assert call(core, "summarise", by="fruit").keys() == {"apples", "pears"}
    rows = call(core, "find_rows", orchard="river bank", since=2024)
    assert {row["orchard"] for row in rows} == {"River bank"}
    assert page.locator("#rows tr").count() == len(rows) == 4
    assert call(core, "find_rows", orchard="slope")["error"]["code"] == "AMBIGUOUS_CHOICE"


def test_the_canvas_is_drawn_on_and_seen_as_a_picture(open_example: Open, core: CoreProcess) -> None:
    open_example("canvas")
    blank = call(core, "look")["content"][0]
    assert call(core, "draw_line", points=[{"x": 0, "y": 0}, {"x": 480, "y": 300}]) == 2
    drawn = call(core, "look")["content"][0]
    assert (drawn["type"], drawn["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(drawn["data"]).startswith(b"\x89PNG")
    assert drawn["data"] != blank["data"]


def test_the_page_without_python_of_its_own_keeps_a_list(open_example: Open, core: CoreProcess) -> None:
    page = open_example("javascript")
    call(core, "add_item", text="Buy milk")
    assert call(core, "finish_item", text="Buy milk") == [{"text": "Buy milk", "done": True}]
    expect(page.locator("#list li")).to_have_text("☑ Buy milk")
    error = call(core, "finish_item", text="Buy mlk")["error"]
    assert (error["code"], error["suggestions"]) == ("NO_SUCH_ITEM", ["Buy milk"])


def test_the_page_that_runs_python_itself_is_attached_to(open_example: Open, core: CoreProcess) -> None:
    page = open_example("attach")
    assert call(core, "learn", text="the quick fox")["known"] == ["fox", "quick", "the"]
    expect(page.locator("#count")).to_have_text("3")
