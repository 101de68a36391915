"""The dialog in which a person decides, in real browsers: its keyboard, its looks, its queue, its end.

That answers reach handlers, and what agents are told, is shown by the contract's scenarios.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator

from tests.browser.browser_page import BrowserPage
from tests.harness import CliCall

type Start = Callable[..., CliCall]

_PAGE = """
const argsSchema = { type: "object" };
globalThis.client = new pedelec.Pedelec();
globalThis.ran = [];
const erase = (args) => { ran.push(args); return "erased"; };
const paint = (args, ctx) => ctx.ask("Which colour?", args);
const tools = [
  { name: "erase", description: "E.", argsSchema, handler: erase, approval: "always" },
  { name: "paint", description: "P.", argsSchema, handler: paint, asks: true },
  { name: "trim", description: "T.", argsSchema, handler: erase,
    approval: "consequential", consequential: async ({ n }) => n > 1 },
];
globalThis.session = await client.createSession({ guidance: "", tools });
const button = Object.assign(document.createElement("button"), { id: "behind", textContent: "Behind" });
document.body.append(button);
button.focus();
return session.sessionId;
"""


@pytest.fixture
def start(shared: BrowserPage) -> Iterator[Start]:
    """Starts a call of a tool of the page's."""
    thread = shared.run(_PAGE)

    def call(tool: str, args: str = "{}") -> CliCall:
        return shared.start_call(tool, args, thread=thread)

    yield call
    shared.run("document.querySelector('#behind').remove(); await session.end()")


def dialog_of(page: BrowserPage) -> Locator:
    dialog = page.page.get_by_role("dialog")
    dialog.wait_for()
    return dialog


def focused(page: BrowserPage) -> Any:
    """What has the focus, by its text or its id: in the dialog, else on the page."""
    return page.run(
        "const inside = document.activeElement.shadowRoot?.activeElement;"
        "return inside ? inside.textContent || inside.id : document.activeElement.id;"
    )


def result_of(call: CliCall) -> Any:
    return call.finish().json["result"]


def test_a_call_is_approved_and_denied_with_the_keyboard_alone(shared: BrowserPage, start: Start) -> None:
    keyboard = shared.page.keyboard
    call = start("erase", '{"id": "<img src=x onerror=alert(1)>\\u202e"}')
    dialog = dialog_of(shared)
    assert dialog.get_attribute("aria-labelledby") == "title"
    assert shared.page.get_by_role("dialog", name="Approval needed").count() == 1
    assert dialog.get_by_role("region", name="Arguments").text_content() == (
        'id: "<img src=x onerror=alert(1)>\\u202e"'
    )
    assert "erase" in str(dialog.locator("#message").text_content())
    assert focused(shared) == "Deny"  # who was just typing does no harm
    stops = []
    for _ in range(3):
        keyboard.press("Tab")
        stops.append(focused(shared)[:5])
    assert stops == ["Allow", 'id: "', "Deny"]
    keyboard.press("Shift+Tab")
    keyboard.press("Shift+Tab")
    assert focused(shared) == "Allow"
    keyboard.press("Enter")
    assert result_of(call) == "erased"
    assert focused(shared) == "behind"

    call = start("erase", '{"id": 2}')
    dialog_of(shared)
    keyboard.press("Escape")
    assert result_of(call)["error"]["code"] == "TOOL_DENIED"
    assert shared.run("return ran.length") == 1
    assert shared.page.locator("pedelec-dialog").count() == 0


def test_the_second_of_two_calls_is_shown_when_the_first_is_decided(
    shared: BrowserPage, start: Start
) -> None:
    first = start("erase", '{"id": "first"}')
    dialog_of(shared)
    second = start("trim", '{"n": 2}')
    shared.wait_for("__sent.filter(({type}) => type === 'tool_waiting').at(-1).arguments === 'n: 2'")
    assert shared.page.get_by_role("dialog").count() == 1
    assert "first" in str(dialog_of(shared).text_content())
    shared.page.keyboard.press("Escape")
    assert result_of(first)["error"]["code"] == "TOOL_DENIED"
    shared.page.get_by_text("n: 2").wait_for()
    dialog_of(shared).get_by_role("button", name="Allow").click()
    assert result_of(second) == "erased"
    assert result_of(start("trim", '{"n": 1}')) == "erased"  # which is harmless


def test_each_kind_of_field_can_be_filled_in(shared: BrowserPage, start: Start) -> None:
    schema = """{"schema": {"type": "object", "required": ["name", "size"], "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "age": {"type": "integer", "minimum": 0, "default": 30},
        "sure": {"type": "boolean", "description": "Really?"},
        "size": {"type": "string",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "city": {"type": "string", "enum": ["a", "b", "c", "d", "e", "f", "g", "h", "i"], "default": "b"},
        "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu", "we"]}, "default": ["tu"]},
        "left": {"type": "number"}
    }}}"""
    call = start("paint", schema)
    dialog = dialog_of(shared)
    assert focused(shared) == "field-name"
    dialog.get_by_role("button", name="Answer").click()
    assert dialog.is_visible()  # the browser says what is missing
    dialog.get_by_label("Your name").fill("Ann")
    dialog.get_by_label("sure").check()
    dialog.get_by_label("Large").check()
    dialog.get_by_label("mo").check()
    shared.page.keyboard.press("Enter")
    expected = {"name": "Ann", "age": 30, "sure": True, "size": "l", "city": "b", "days": ["mo", "tu"]}
    assert result_of(call) == expected


def test_a_page_s_own_function_asks_in_place_of_the_dialog_and_hears_of_the_end(
    shared: BrowserPage, start: Start
) -> None:
    shared.run(
        """
        globalThis.asked = [];
        globalThis.stop = client.onQuestion(async (question, ctx) => {
          asked.push(question);
          if (question.kind === "question") return "green";
          await ctx.cancelled;
          asked.push(ctx.signal.aborted);
        });
        """
    )
    assert result_of(start("paint")) == "green"
    call = start("erase", '{"id": 1}')
    shared.wait_for("asked.length === 2")
    shared.run("await session.end()")
    assert call.finish().json["ok"] is False
    shared.wait_for("asked.length === 3")
    questions = shared.run("stop(); return asked")
    assert [each["kind"] for each in questions[:2]] == ["question", "approval"]
    assert (questions[1]["arguments"], questions[2]) == ("id: 1", True)
    assert shared.run("return ran.length") == 0
    assert shared.page.get_by_role("dialog").count() == 0


def test_a_question_whose_call_is_over_leaves_the_page(shared: BrowserPage, start: Start) -> None:
    call = start("erase")
    dialog_of(shared)
    shared.run("await session.end()")
    assert call.finish().json["ok"] is False
    shared.page.locator("pedelec-dialog").wait_for(state="detached")
    assert focused(shared) == "behind"


def test_a_javascript_handler_hears_that_it_may_not_ask(shared: BrowserPage, start: Start) -> None:
    error = result_of(start("paint", '{"options": []}'))["error"]
    assert (error["code"], error["class"]) == ("INVALID_INPUT", "permanent")
    refused = shared.raised("client.onQuestion(3)")
    assert refused["code"] == "INVALID_INPUT"


def test_a_hidden_page_says_that_nobody_sees_its_question(shared: BrowserPage, start: Start) -> None:
    call = start("erase")
    dialog_of(shared)
    shared.run(
        """
        Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
        delete document.visibilityState;
        """
    )
    waiting = "__sent.filter(({type}) => type === 'tool_waiting').at(-1)"
    shared.wait_for(f"{waiting}.hidden")
    shared.page.keyboard.press("Escape")
    assert result_of(call)["error"]["code"] == "TOOL_DENIED"


def test_the_dialog_keeps_its_looks_on_a_strict_page_in_the_dark_and_without_motion(
    page: BrowserPage,
) -> None:
    policy = "default-src 'none'; script-src 'self'; img-src data:"
    page.open("", head=f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    page.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.run(
        """
        const { openDialog } = await import("/sdk/dialog.mjs");
        const question = { kind: "approval", message: "Sure?", schema: {} };
        const said = new Promise((resolve) => { openDialog(question, (accepted) => resolve(accepted)); });
        globalThis.said = said;
        """
    )
    looks = """
        const dialog = document.querySelector("pedelec-dialog").shadowRoot.querySelector("dialog");
        const { backgroundColor, borderRadius, animationName } = getComputedStyle(dialog);
        const dark = matchMedia("(prefers-color-scheme: dark)").matches;
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        return { backgroundColor, borderRadius, animationName, dark, still };
    """
    dark = page.run(looks)
    page.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    light = page.run(looks)
    # A browser that cannot be told what its user likes is held to what it says itself.
    for seen in (dark, light):
        assert seen["borderRadius"] == "12px"
        assert seen["animationName"] == ("none" if seen["still"] else "appear")
    assert (light["backgroundColor"] != dark["backgroundColor"]) is (light["dark"] != dark["dark"])
    page.page.keyboard.press("Escape")
    assert page.run("return await said") is False
