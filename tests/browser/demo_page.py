"""The demo, as the person who opened it and the agent who was handed it see it."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.browser.browser_page import WAIT_MS
from tests.harness import CoreProcess

DEMO = Path(__file__).resolve().parents[2] / "web_demo"

START_MS = 180_000
"""How long the start of Python may take on a machine that does much else."""

expect.set_options(timeout=WAIT_MS)

_NOTE_ANSWERS = """(inspector) => {
  globalThis.answers = [];
  inspector.call = async (...call) => {
    const line = await Object.getPrototypeOf(inspector).call.apply(inspector, call);
    answers.push(line);
    return line;
  };
}"""

_NOTE_PROGRESS = """
globalThis.bar = [];
const note = () => bar.push(document.getElementById("progress").value);
addEventListener("pedelec:progress", () => queueMicrotask(note));
"""

_CATCH_EXPORT = """button => new Promise((resolve) => {
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    URL.createObjectURL = createObjectURL;
    resolve(blob.text());
    return createObjectURL.call(URL, blob);
  };
  button.click();
})"""


def error_of(answer: Any) -> Any:
    """The error an agent reads, whoever made it."""
    return answer["error"] if "error" in answer else answer["result"]["error"]


class DemoPage:
    """The demo in a tab, ready for agents.

    Attributes:
        page: Playwright's page. core: who serves it.
        inspector: the element beside the board.
        violations: what its Content-Security-Policy kept it from, as its console says it.
    """

    def __init__(self, page: Page, core: CoreProcess) -> None:
        self.page = page
        self.core = core
        self.inspector = page.locator("pedelec-inspector")
        self.violations: list[str] = []
        page.on("console", self._on_console)
        page.add_init_script(_NOTE_PROGRESS)
        page.set_default_timeout(WAIT_MS)

    def _on_console(self, message: ConsoleMessage) -> None:
        if "Content-Security-Policy" in message.text or "Content Security Policy" in message.text:
            self.violations.append(message.text)

    def open(self) -> None:
        """Go there and wait until agents can call."""
        self.page.goto(self.core.url)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        self.page.locator('#state[data-state="ready"]').wait_for(timeout=START_MS)
        self.verdict.wait_for()

    def progress(self) -> list[float]:
        """How far the bar of the start was, report by report."""
        values: list[float] = self.page.evaluate("bar")
        return values

    def call(self, tool: str, **args: Any) -> Any:
        """What an agent at the command line is answered; it has to be a result."""
        answer = self.core.cli("tool-call", tool, json.dumps(args)).json
        assert answer["ok"], answer
        return answer["result"]

    def place_of(self, shape_id: str) -> tuple[int, int]:
        """Where a shape is drawn."""
        data = self.page.locator(f"#{shape_id}").evaluate("node => [node.dataset.x, node.dataset.y]")
        return int(data[0]), int(data[1])

    # --- the console ----------------------------------------------------------------------------------------

    @property
    def verdict(self) -> Locator:
        """The console's word on the latest call."""
        return self.inspector.locator(".verdict")

    def choose(self, tool: str) -> None:
        self.inspector.get_by_label("Tool", exact=True).select_option(tool)

    def enter(self, label: str, text: str) -> None:
        """Type into a field of the form, in place of what it holds."""
        field = self.inspector.get_by_label(label).first
        field.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def run(self) -> Any:
        """Press Run; the exact answer, as it is shown."""
        self.inspector.get_by_role("button", name="Run", exact=True).click()
        expect(self.verdict).not_to_have_attribute("data-state", "running")
        return json.loads(self.inspector.get_by_label("The exact answer").inner_text())

    def call_in_console(self, tool: str, **args: Any) -> Any:
        """What the page's own script is answered; quicker than a command."""
        line = self.inspector.evaluate(
            "(inspector, [tool, args]) => inspector.call(tool, args)", [tool, args]
        )
        return json.loads(line)

    def exported(self) -> list[Any]:
        """What the timeline's button writes: caught on its way, as not every driver tells of downloads."""
        button = self.inspector.get_by_role("button", name="Export JSON")
        calls: list[Any] = json.loads(button.evaluate(_CATCH_EXPORT))
        return calls

    # --- an agent at work -----------------------------------------------------------------------------------

    def watch(self, *, reading_ms: int) -> Locator:
        """Press the button that shows an agent at work; it."""
        button = self.page.locator("#watch")
        button.evaluate("(button, ms) => { button.dataset.readingMs = ms; }", reading_ms)
        button.click()
        return button

    def note_answers(self) -> None:
        """Have the answers to the calls that the page makes in its inspector noted from now on."""
        self.inspector.evaluate(_NOTE_ANSWERS)

    def take_answers(self) -> list[Any]:
        """Those noted so far; no more are."""
        self.inspector.evaluate("(inspector) => { delete inspector.call; }")
        return [json.loads(line) for line in self.page.evaluate("answers")]

    # --- failures -------------------------------------------------------------------------------------------

    def fail(self, failure: str) -> list[Any]:
        """Press a button of failures; what the agent reads, answer by answer."""
        self.page.locator(f'[data-failure="{failure}"]').click()
        return self.outcome()

    def outcome(self) -> list[Any]:
        """The answers of the failure that was pressed last, once all are there."""
        state = self.page.locator("#failure-state")
        expect(state).to_have_attribute("data-state", "done", timeout=START_MS)
        return [json.loads(text) for text in self.page.locator("#agent-reads pre").all_text_contents()]

    def heard(self) -> str:
        """What `onError` heard of it."""
        return self.page.locator("#page-heard").inner_text()
