"""The demo, as the person at it and the agent that it was handed to see it: board, inspector, each failure.

All in one file, so that they share one start of the page in each browser.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import expect

from pedelec.errors import Code
from pedelec_core.runtime.node import ensure_node
from tests.browser.demo_page import DEMO, DemoPage, error_of
from tests.harness.node_packages import install_node_packages

BUILD = DEMO.parent / "build"
RESULTS = DEMO.parent / "test-results" / "demo"
WIDTHS = (390, 820, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def test_the_bar_of_the_start_only_goes_forward_until_the_page_is_ready(demo: DemoPage) -> None:
    values = demo.progress()
    assert values == sorted(values)
    assert len(set(values)) > 3
    assert 0.9 < values[-1] <= 1
    expect(demo.page.locator("#progress")).to_be_hidden()


# --- the board ----------------------------------------------------------------------------------------------


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


# --- the console --------------------------------------------------------------------------------------------


def test_a_tool_is_chosen_from_cores_list_filled_in_and_run_as_an_agent_would(demo: DemoPage) -> None:
    listed = demo.core.cli("tool-list").json["result"]["tools"]
    offered = demo.inspector.get_by_label("Tool", exact=True).locator("option").all_inner_texts()
    assert offered == [tool["name"] for tool in listed]
    demo.choose("move_shape")
    assert json.loads(demo.inspector.get_by_label("Arguments as JSON").input_value()) == {
        "shapeId": "s1",
        "x": 120,
        "y": 80,
    }
    demo.enter("x", "200")
    answer = demo.run()
    assert (answer["ok"], answer["result"]["x"]) == (True, 200)
    assert demo.place_of("s1") == (200, 80)
    expect(demo.verdict).to_have_attribute("data-state", "ok")


def test_what_is_shown_is_the_line_that_the_command_line_prints(demo: DemoPage) -> None:
    demo.choose("find_shape")
    demo.inspector.get_by_label("Arguments as JSON").fill('{"name": "copper sun"}')
    shown = demo.run()
    line = demo.inspector.get_by_label("The exact answer").inner_text()
    printed = demo.core.cli("tool-call", "find_shape", '{"name": "copper sun"}').stdout.decode()
    assert re.sub(r"inv_[\w-]+", "inv", line) == re.sub(r"inv_[\w-]+", "inv", printed.strip())
    assert shown["result"]["grams"] == 412


def test_arguments_that_are_no_json_may_be_sent_to_see_what_an_agent_is_told(demo: DemoPage) -> None:
    demo.choose("move_shape")
    demo.inspector.get_by_label("Arguments as JSON").fill("{")
    expect(demo.inspector.locator(".problem")).to_contain_text("no JSON")
    assert demo.run()["error"]["code"] == Code.TOOL_ARGS_INVALID


def test_the_commands_to_copy_reach_this_core(demo: DemoPage) -> None:
    command = demo.inspector.evaluate(
        "element => { element.console.prepare('list_shapes', {}); return element.console.command(); }"
    )
    assert re.search(r"pedelec-cli --state-dir \S+ tool-call list_shapes '\{\}'$", command)
    shown = demo.page.locator("#command").inner_text()
    assert shown.startswith(command.partition(" tool-call ")[0])
    demo.page.locator("#copy").click()
    expect(demo.page.locator("#copy")).to_have_text("Copied")
    demo.inspector.get_by_label("Filter").focus()
    demo.page.keyboard.press("ControlOrMeta+v")
    expect(demo.inspector.get_by_label("Filter")).to_have_value(shown)
    demo.inspector.get_by_label("Filter").fill("")
    demo.page.get_by_role("button", name="Show its configuration").click()
    configuration = demo.inspector.get_by_label("Configuration")
    expect(configuration).to_have_text(re.compile(r"^claude mcp add .*pedelec-core mcp --state-dir "))
    demo.inspector.get_by_label("Client").select_option("Cursor")
    server = json.loads(configuration.inner_text())["mcpServers"]["pedelec"]
    assert server["args"][0] == "mcp"
    assert Path(server["command"]).exists()


# --- the timeline -------------------------------------------------------------------------------------------


def test_each_call_has_a_bar_with_its_life_behind_it(demo: DemoPage) -> None:
    called = demo.core.cli("tool-call", "add_shape", '{"kind": "circle"}').json["invocationId"]
    row = demo.inspector.locator(f'[data-invocation="{called}"]')
    bar = row.get_by_role("button", name=re.compile("^add_shape, ok"))
    bar.click()
    details = row.locator(".details")
    for stage in ("accepted", "delivered", "settled", "acknowledged"):
        expect(details.locator("dt", has_text=re.compile(f"^{stage}$"))).to_be_visible()
    assert "arguments" not in details.inner_text()
    details.get_by_role("button", name="Read the answer").click()
    expect(details.get_by_label("Its answer")).to_contain_text('"kind":"circle"')
    bar.click()


def test_calls_are_filtered_and_exported_without_arguments_unless_those_are_asked_for(demo: DemoPage) -> None:
    demo.call("find_shape", name="violet moon")
    demo.inspector.get_by_label("Filter").fill("find_shape")
    assert demo.exported()[0].keys().isdisjoint({"args"})
    assert {call["tool"] for call in demo.exported()} == {"find_shape"}
    demo.inspector.get_by_label("arguments", exact=True).check()
    demo.call("find_shape", name="green sail")
    expect(demo.inspector.locator(".call").first).to_contain_text("find_shape")
    demo.page.wait_for_function(
        "[...document.querySelector('pedelec-inspector').timeline.calls.values()].some(({ args }) => args)"
    )
    assert json.loads(demo.exported()[0]["args"]) == {"name": "green sail"}
    demo.inspector.get_by_label("arguments", exact=True).uncheck()
    demo.inspector.get_by_label("Filter").fill("")


# --- failures -----------------------------------------------------------------------------------------------

_PLAIN = {
    "no-handler": Code.TOOL_HANDLER_NOT_FOUND,
    "raise": Code.TOOL_HANDLER_ERROR,
    "bad-arguments": Code.TOOL_ARGS_INVALID,
    "ambiguous": Code.AMBIGUOUS_CHOICE,
    "save-fails-now": "SAVE_FAILED",
}


def test_each_failure_of_a_handler_is_one_answer_with_the_next_step(demo: DemoPage) -> None:
    for failure, code in _PLAIN.items():
        (answer,) = demo.fail(failure)
        error = error_of(answer)
        assert error["code"] == code, failure
        assert error["recoverySteps"], failure
        assert demo.heard() == "Nothing."


def test_a_partial_result_names_what_is_missing(demo: DemoPage) -> None:
    (answer,) = demo.fail("partial")
    assert answer["result"]["completeness"] == "partial"
    assert answer["result"]["errors"]["prices"]["code"] == "PRICES_AWAY"


def test_every_value_that_json_cannot_hold_is_named_and_the_page_hears_of_it(demo: DemoPage) -> None:
    kinds = demo.page.get_by_label("A value that JSON cannot hold")
    (shown,) = demo.fail("value")
    assert error_of(shown)["code"] == Code.TOOL_RESULT_NOT_SERIALIZABLE
    assert Code.SUBMIT_TOOL_RESULT_FAILED in demo.heard()
    for kind in kinds.locator("option").all_inner_texts():
        error = error_of(demo.call_in_console("return_value", kind=kind))
        expected = Code.TOOL_RESULT_TOO_LARGE if kind == "too large" else Code.TOOL_RESULT_NOT_SERIALIZABLE
        assert error["code"] == expected, kind


def test_a_call_that_is_too_slow_is_answered_in_time_and_its_late_result_is_kept(demo: DemoPage) -> None:
    told, late = demo.fail("timeout")
    assert told["error"]["code"] == Code.TOOL_TIMEOUT
    assert (late["result"], late["late"]) == ({"finishedAfterMs": 1500}, True)
    assert Code.SUBMIT_TOOL_RESULT_FAILED in demo.heard()
    assert demo.inspector.locator(".call").first.locator(".after").count() == 1


def test_a_cut_socket_loses_nothing(demo: DemoPage) -> None:
    (answer,) = demo.fail("cut")
    assert answer["result"] == {"finishedAfterMs": 1500}
    assert demo.heard() == "Nothing."


def test_the_same_failure_again_and_again_is_stopped(demo: DemoPage) -> None:
    *earlier, last = demo.fail("loop")
    assert [error_of(answer)["code"] for answer in earlier] == [Code.TOOL_HANDLER_ERROR] * 4
    assert last["error"]["code"] == Code.TOOL_LOOP_STOPPED


def test_a_deletion_that_the_person_does_not_allow_is_denied(demo: DemoPage) -> None:
    demo.page.locator('[data-failure="denied"]').click()
    demo.page.get_by_role("dialog").wait_for()
    expect(demo.verdict).to_contain_text("Waits for the person")
    demo.page.keyboard.press("Escape")
    (answer,) = demo.outcome()
    assert error_of(answer)["code"] == Code.TOOL_DENIED
    assert demo.page.locator("#s3").count() == 1


def test_a_reload_in_mid_call_is_told_and_the_board_is_as_it_was(demo: DemoPage) -> None:
    demo.call("move_shape", shapeId="s4", x=99, y=111)
    (answer,) = demo.fail("reload")
    assert answer["error"]["code"] == Code.TOOL_INTERRUPTED
    demo.wait_until_ready()
    assert demo.place_of("s4") == (99, 111)
    assert demo.call("get_selection")["shapeId"] is None


def test_a_second_tab_watches_and_is_seen_to(demo: DemoPage) -> None:
    with demo.page.expect_popup() as popup:
        demo.page.locator('[data-failure="tabs"]').click()
    second = DemoPage(popup.value, demo.core)
    second.wait_until_ready()
    expect(second.inspector.locator(".state")).to_contain_text("this tab watches")
    expect(demo.inspector.locator(".state")).to_contain_text("this tab runs calls")
    expect(demo.inspector.locator(".state")).to_contain_text("2 tabs")
    demo.call("move_shape", shapeId="s4", x=77, y=88)
    assert demo.place_of("s4") == (77, 88)
    assert second.place_of("s4") != (77, 88)
    second.page.close()


# --- an agent at work ---------------------------------------------------------------------------------------


def test_an_agent_is_watched_at_work_and_what_it_did_is_taken_back(demo: DemoPage) -> None:
    before = demo.call("list_shapes")
    demo.note_answers()
    button = demo.watch(reading_ms=0)
    expect(demo.page.locator("#caption")).to_contain_text("Every call had its one answer")
    expect(button).to_have_text("Watch an agent work")
    answers = demo.take_answers()
    codes = [
        error_of(answer)["code"] for answer in answers if not answer["ok"] or "error" in answer["result"]
    ]
    assert (len(answers), codes) == (7, [Code.AMBIGUOUS_CHOICE, Code.TOOL_ARGS_INVALID])
    assert [demo.place_of(shape) for shape in ("s4", "s2", "s3")] == [(420, 150), (90, 110), (560, 90)]
    for _ in range(3):
        demo.page.get_by_role("button", name="Undo").click()
    assert demo.call("list_shapes") == before


def test_an_agent_that_is_watched_is_stopped(demo: DemoPage) -> None:
    button = demo.watch(reading_ms=60_000)
    expect(demo.page.locator("#caption")).to_contain_text("violet moon")
    button.click()
    expect(demo.page.locator("#caption")).to_contain_text("Stopped")
    expect(button).to_have_text("Watch an agent work")


# --- for everybody ------------------------------------------------------------------------------------------


@pytest.mark.browsers("chromium")
def test_it_meets_wcag_22_aa_at_every_width_light_and_dark(demo: DemoPage, browser_name: str) -> None:
    """Colours are those of the scheme and the layout is that of the width: two checks meet all of both.

    Also leaves pictures of each, with a question and without, to be looked at.
    """
    axe = install_node_packages(ensure_node(BUILD), Path(__file__).parent / "axe", BUILD / "axe")
    demo.page.evaluate((axe / "node_modules/axe-core/axe.min.js").read_text("utf-8"))
    demo.fail("timeout")
    demo.inspector.get_by_label("Filter").fill("take_long")  # one row is as good as a hundred
    for width, scheme in each_look(demo):
        demo.page.screenshot(path=RESULTS / f"{browser_name}-{width}-{scheme}.png", full_page=True)
        if (width, scheme) in {(WIDTHS[0], SCHEMES[0]), (WIDTHS[-1], SCHEMES[-1])}:
            assert violations(demo) == [], (scheme, width)
    demo.inspector.get_by_label("Filter").fill("")
    demo.page.locator('[data-failure="denied"]').click()
    demo.page.get_by_role("dialog").wait_for()
    for width, scheme in each_look(demo):
        demo.page.screenshot(path=RESULTS / f"{browser_name}-{width}-{scheme}-asks.png")
    demo.page.keyboard.press("Escape")
    demo.outcome()


def each_look(demo: DemoPage) -> Iterator[tuple[int, str]]:
    """The page at each width, light and dark."""
    for scheme in SCHEMES:
        demo.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for width in WIDTHS:
            demo.page.set_viewport_size({"width": width, "height": 900})
            yield width, scheme


def violations(demo: DemoPage) -> list[str]:
    options = {
        "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
        "resultTypes": ["violations"],
    }
    found = demo.page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]


def test_nothing_is_wider_than_the_page(demo: DemoPage) -> None:
    for width in (320, *WIDTHS):  # the first is what WCAG's reflow asks for
        demo.page.set_viewport_size({"width": width, "height": 900})
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert demo.page.evaluate(overflow) == 0, width
