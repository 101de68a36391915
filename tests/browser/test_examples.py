"""Each page of `examples/` does what it says, for an agent and for the person who looks at it."""

import base64
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.browser_page import WAIT_MS
from tests.browser.demo_page import START_MS
from tests.browser.pyscript import CORE_JS, put_pyscript
from tests.harness import CoreProcess

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PYSCRIPT = re.compile(r"https://[^\"]+/@pyscript/core@[0-9.]+/dist/core\.js")

type Open = Callable[[str], Page]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """Serves the examples; a session ends with its page, so that none of the example before is left."""
    folder = tmp_path_factory.mktemp("examples")
    site = shutil.copytree(EXAMPLES, folder / "site")
    put_pyscript(site)
    page = site / "pyscript.html"
    page.write_text(PYSCRIPT.sub(CORE_JS, page.read_text("utf-8")), "utf-8")
    with CoreProcess(folder / "state", "--site", str(site), "--grace-seconds", "0") as running:
        yield running


@pytest.fixture(scope="module")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """One for all: what one page has fetched of Python the next one has."""
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def open_example(profile: BrowserContext, core: CoreProcess) -> Iterator[Open]:
    """Opens an example and waits until the inspector on it shows its tools; errors on its console fail."""
    wait_until_no_page_offers_tools(core)
    page = profile.new_page()
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


def wait_until_no_page_offers_tools(core: CoreProcess) -> None:
    """Core needs a moment to see that the page of the test before is gone."""
    for _ in range(200):
        if core.cli("threads").json["result"]["threads"] == []:
            return
    raise AssertionError("the page before is still there")


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


@pytest.mark.browsers("chromium")
def test_the_pandas_page_tells_what_the_bundle_lacks(profile: BrowserContext, core: CoreProcess) -> None:
    page = profile.new_page()
    page.goto(f"{core.url}/pandas.html")
    expect(page.locator("#missing")).to_contain_text(
        "pedelec-core runtime build --with pandas", timeout=START_MS
    )
    page.close()


@pytest.mark.browsers("chromium")  # test_attach.py has PyScript in all
def test_the_pyscript_page_has_a_timer_that_both_start(open_example: Open, core: CoreProcess) -> None:
    page = open_example("pyscript")
    assert call(core, "time_left") == {"seconds": 1500, "running": False}
    assert call(core, "start_timer", minutes=120)["running"] is True
    expect(page.locator("#left")).to_have_text(re.compile("^1(20:00|19:[0-9]{2})$"))
    page.get_by_role("button", name="Start", exact=True).click()
    assert 1400 < call(core, "time_left")["seconds"] <= 1500
