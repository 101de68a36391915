"""The demo, as the person who opened it and the agent who was handed it."""

import json

from playwright.sync_api import expect

from tests.browser.demo_page import DemoPage


def test_the_printed_line_moves_the_shape_on_the_page(demo: DemoPage) -> None:
    demo.call("move_shape", shapeId="s1", x=320, y=200)
    result = demo.call("move_shape", shapeId="s1", x=120, y=80)
    assert result == {"id": "s1", "kind": "circle", "color": "#c2410c", "x": 120, "y": 80}
    assert demo.place_of("s1") == (120, 80)
    assert "move_shape: s1 to 120, 80" in demo.page.locator("#calls li").first.inner_text()


def test_the_person_drags_a_shape_and_the_agent_sees_where_until_it_is_undone(demo: DemoPage) -> None:
    demo.call("move_shape", shapeId="s2", x=100, y=300)
    # The drawn shape glides to its place: wait until it is there before taking hold of it.
    demo.page.evaluate("() => Promise.all(document.getAnimations().map(({ finished }) => finished))")
    box = demo.page.locator("#s2").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    demo.page.mouse.move(x, y)
    demo.page.mouse.down()
    demo.page.mouse.move(x + 60, y - 40, steps=4)
    demo.page.mouse.up()
    (shape,) = (each for each in demo.call("list_shapes") if each["id"] == "s2")
    assert (shape["x"], shape["y"]) == demo.place_of("s2")
    assert shape["x"] > 100
    assert shape["y"] < 300
    demo.page.get_by_role("button", name="Undo").click()
    assert demo.place_of("s2") == (100, 300)
    demo.page.get_by_role("button", name="Redo").click()
    assert demo.place_of("s2") == (shape["x"], shape["y"])


def test_the_keyboard_alone_selects_moves_deletes_and_takes_back(demo: DemoPage) -> None:
    before = demo.place_of("s3")
    demo.page.locator("#s3").focus()
    demo.page.keyboard.press("ArrowRight")
    assert demo.place_of("s3") == (before[0] + 10, before[1])
    assert demo.call("get_selection")["shapeId"] == "s3"
    demo.page.keyboard.press("Delete")
    assert "s3" not in [shape["id"] for shape in demo.call("list_shapes")]
    demo.page.keyboard.press("Control+z")
    demo.page.keyboard.press("Control+z")
    assert demo.place_of("s3") == before


def test_the_agent_reads_and_replaces_what_the_person_selected_in_the_text(demo: DemoPage) -> None:
    error = demo.call("replace_selection", text="x")["error"]
    assert (error["code"], error["class"]) == ("NOTHING_SELECTED", "userInput")
    notes = demo.page.get_by_role("textbox", name="Notes")
    notes.evaluate("area => { area.focus(); area.setSelectionRange(4, 14); }")
    expect(demo.page.locator("#selected-text")).to_have_text("Selected: “copper sun”")
    assert demo.call("get_selection")["text"] == "copper sun"
    assert demo.call("replace_selection", text="old moon")["end"] == 12
    assert notes.input_value().startswith("The old moon belongs")


def test_a_shape_that_does_not_exist_is_an_error_that_names_the_next_step(demo: DemoPage) -> None:
    error = demo.call("move_shape", shapeId="s99", x=1, y=1)["error"]
    assert error["code"] == "SHAPE_NOT_FOUND"
    assert "list_shapes" in error["recoverySteps"][0]
    assert "s1" in error["suggestions"]


def test_a_point_off_the_board_is_refused_before_the_page_sees_it(demo: DemoPage) -> None:
    before = demo.place_of("s1")
    answer = demo.core.cli("tool-call", "move_shape", '{"shapeId":"s1","x":9000,"y":80}').json
    assert answer["error"]["code"] == "TOOL_ARGS_INVALID"
    assert demo.place_of("s1") == before


def test_an_added_shape_appears_and_can_be_moved_and_the_person_decides_on_its_deletion(
    demo: DemoPage,
) -> None:
    shape = demo.call("add_shape", kind="triangle")["id"]
    demo.call("move_shape", shapeId=shape, x=50, y=60)
    assert demo.place_of(shape) == (50, 60)
    command = demo.core.start_cli("tool-call", "delete_shape", json.dumps({"shapeId": shape}))
    dialog = demo.page.get_by_role("dialog")
    dialog.wait_for()
    dialog.get_by_role("button", name="Allow").click()
    assert shape not in command.finish().json["result"]
    assert demo.page.locator(f"#{shape}").count() == 0


def test_what_only_python_holds_is_found_by_name_and_summed_up(demo: DemoPage) -> None:
    assert demo.call("find_shape", name="violet moon")["material"] == "glass"
    figures = demo.call("dashboard")
    assert figures["completeness"] == "complete"
    assert figures["parts"]["prices"]["currency"] == "EUR"


def test_a_slow_export_tells_how_far_it_is_and_stops_when_it_is_cancelled(demo: DemoPage) -> None:
    demo.choose("export_board")
    demo.enter("pauseMs", "400")
    demo.inspector.get_by_role("button", name="Run", exact=True).click()
    expect(demo.inspector.get_by_label("How far the call is")).to_be_visible()
    demo.inspector.get_by_role("button", name="Cancel").click()
    expect(demo.verdict).to_contain_text("TOOL_CANCELLED")
    exported = demo.call("export_board", pauseMs=0)
    assert exported["svg"].startswith("<svg")
    assert exported["shapes"] == len(demo.call("list_shapes"))
