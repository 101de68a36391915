"""The demo, as the person who opened it and the agent who was handed it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.harness import CoreProcess

DEMO = Path(__file__).resolve().parents[2] / "web_demo"


@pytest.fixture(scope="module")
def demo_core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    with CoreProcess(tmp_path_factory.mktemp("demo") / "state", "--site", str(DEMO)) as core:
        yield core


@pytest.fixture(scope="module")
def demo(browser: Browser, demo_core: CoreProcess) -> Iterator[Page]:
    """The demo, ready for agents; one for the module, as it takes seconds to start."""
    page = browser.new_page()
    page.set_default_timeout(30_000)
    page.goto(demo_core.url)
    page.locator('#state[data-state="ready"]').wait_for()
    yield page
    page.close()


def call(core: CoreProcess, tool: str, **args: Any) -> Any:
    answer = core.cli("tool-call", tool, json.dumps(args)).json
    assert answer["ok"], answer
    return answer["result"]


def place_of(page: Page, shape_id: str) -> tuple[int, int]:
    """Where a shape is drawn."""
    data = page.locator(f"#{shape_id}").evaluate("node => [node.dataset.x, node.dataset.y]")
    return int(data[0]), int(data[1])


def test_the_printed_line_moves_the_shape_on_the_page(demo: Page, demo_core: CoreProcess) -> None:
    assert place_of(demo, "s1") == (320, 200)
    result = call(demo_core, "move_shape", shapeId="s1", x=120, y=80)
    assert (result["id"], result["x"], result["y"]) == ("s1", 120, 80)
    assert place_of(demo, "s1") == (120, 80)
    assert "move_shape: s1 to 120, 80" in demo.locator("#calls li").first.inner_text()


def test_the_person_drags_a_shape_and_the_agent_sees_where(demo: Page, demo_core: CoreProcess) -> None:
    call(demo_core, "move_shape", shapeId="s2", x=100, y=300)
    # The drawn shape glides to its place: wait until it is there before taking hold of it.
    demo.wait_for_function("document.getAnimations().length === 0")
    box = demo.locator("#s2").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    demo.mouse.move(x, y)
    demo.mouse.down()
    demo.mouse.move(x + 60, y - 40, steps=4)
    demo.mouse.up()
    (shape,) = (each for each in call(demo_core, "list_shapes") if each["id"] == "s2")
    assert (shape["x"], shape["y"]) == place_of(demo, "s2")
    assert shape["x"] > 100
    assert shape["y"] < 300


def test_the_arrow_keys_move_the_focused_shape_and_select_it(demo: Page, demo_core: CoreProcess) -> None:
    before = place_of(demo, "s3")
    demo.locator("#s3").focus()
    demo.keyboard.press("ArrowRight")
    assert place_of(demo, "s3") == (before[0] + 10, before[1])
    assert call(demo_core, "get_selection")["id"] == "s3"


def test_a_tool_written_in_javascript_works_beside_those_in_python(
    demo: Page, demo_core: CoreProcess
) -> None:
    assert call(demo_core, "flash_shape", shapeId="s1") == {"flashed": "s1"}
    assert demo.locator("#s1.flash").count() == 1


def test_a_shape_that_does_not_exist_is_an_error_that_names_the_next_step(
    demo: Page, demo_core: CoreProcess
) -> None:
    error = call(demo_core, "move_shape", shapeId="s99", x=1, y=1)["error"]
    assert error["code"] == "SHAPE_NOT_FOUND"
    assert "list_shapes" in error["recoverySteps"][0]
    assert "s1" in error["suggestions"]


def test_a_point_off_the_board_is_refused_before_the_page_sees_it(demo: Page, demo_core: CoreProcess) -> None:
    before = place_of(demo, "s1")
    answer = demo_core.cli("tool-call", "move_shape", '{"shapeId":"s1","x":9000,"y":80}').json
    assert answer["error"]["code"] == "TOOL_ARGS_INVALID"
    assert place_of(demo, "s1") == before


def test_an_added_shape_appears_and_can_be_moved(demo: Page, demo_core: CoreProcess) -> None:
    shape = call(demo_core, "add_shape", kind="triangle")
    assert demo.locator(f"#{shape['id']}").count() == 1
    call(demo_core, "move_shape", shapeId=shape["id"], x=50, y=60)
    assert place_of(demo, shape["id"]) == (50, 60)
