"""The stage in a browser: the SDK in a real page, the real Core, and the real command line as the agent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.browser.browser_page import BrowserPage
from tests.contract.stage import EPILOGUE, PRELUDE, RECONNECT_CAP_SECONDS, Call, Stage
from tests.harness import CliCall

_ONCE = f"""
import gc
import js
import pyodide_js
import pedelec.connection

pedelec.connection.RECONNECT_CAP_SECONDS = {RECONNECT_CAP_SECONDS}
pyodide_js._module.enable_pyproxy_allocation_tracing()


def count_live():
    gc.collect()
    module = pyodide_js._module
    return f"{{module._hiwire_num_refs()}} of JavaScript's, {{module.pyproxy_alloc_map.size}} of Python's"


js.__countLive = count_live
"""

_WATCH_SOCKETS = """
const sockets = new Set();
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (frame) {
  sockets.add(this);
  send.call(this, frame);
};
const Usual = globalThis.WebSocket;
globalThis.__lose = () => {
  globalThis.WebSocket = class { constructor() { throw new DOMException("There is no network.") } };
  for (const socket of sockets) socket.close();
  sockets.clear();
};
globalThis.__allClosed = () => [...sockets].every(({ readyState }) => readyState === Usual.CLOSED);
globalThis.__find = () => { globalThis.WebSocket = Usual; };
"""


_REHEARSAL = """
import js

schema = {"type": "object"}
session = await new_client().create_session(tools=[
    define_tool(name=name, description="A.", args_schema=schema, approval=approval, handler=handler)
    for name, approval, handler in [
        ("ask", "always", lambda: "played"),
        ("borrow", None, js.Function("return 'played'")),
    ]
])
"""

_COUNT_AT_REST = """
for (let left = 100, same = 0, last = null; left > 0 && same < 10; left--) {
  const now = __countLive();
  same = now === last ? same + 1 : 0;
  last = now;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
"""
"""For longer than the longest timer of a session at rest (`HANDLER_GRACE_SECONDS`): each holds something."""

_COUNT_IN_THE_END = """
for (let left = 100; left > 0 && __countLive() !== given; left--) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
return __countLive();
"""
"""A socket that was closed lets go of its proxies when the browser says that it is."""


class BrowserStage(Stage):
    """Implements `Stage` on a page with Python ready in it."""

    def __init__(self, page: BrowserPage) -> None:
        self._page = page
        self._logged = len(page.console)
        self.run(PRELUDE)

    def run(self, source: str) -> None:
        self._page.python(source)

    def read(self, expression: str) -> Any:
        self.run(f"import js, json\njs.__read = json.dumps({expression})")
        return self._page.run("return JSON.parse(__read)")

    def start_call(
        self, tool: str, args: object = None, *, session: str = "session", timeout_ms: int = 20_000
    ) -> Call:
        text = json.dumps({} if args is None else args)
        thread = self.read(f"{session}.session_id")
        return BrowserCall(self._page.start_call(tool, text, thread=thread, timeout_ms=timeout_ms))

    def lose_connection(self) -> None:
        self._page.run("__lose()")

    def find_connection(self) -> None:
        self._page.run("__find()")

    def sent(self, kind: str, *, session: str = "session") -> list[Any]:
        wanted = {"type": kind, "sessionId": self.read(f"{session}.session_id")}
        of_it = "({type, sessionId}) => type === given.type && sessionId === given.sessionId"
        frames = self._page.run(f"return __sent.filter({of_it})", wanted)
        assert isinstance(frames, list)
        return frames

    def decide(self, *, accepted: bool, **content: str) -> None:
        dialog = self._page.page.get_by_role("dialog")
        dialog.wait_for()
        for name, value in content.items():
            field = dialog.locator(f"#field-{name}")
            if field.count():
                field.fill(value)
            else:
                dialog.get_by_role("radio", name=value).check()
        shown = dialog.element_handle()
        dialog.get_by_role("button").nth(1 if accepted else 0).click()
        shown.wait_for_element_state("hidden")

    def is_asking(self) -> bool:
        return self._page.page.get_by_role("dialog").count() > 0

    def take_log(self) -> str:
        self._page.take_errors()
        lines, self._logged = self._page.console[self._logged :], len(self._page.console)
        return "\n".join(line for line in lines if line.startswith(("warning", "error")))


class BrowserCall:
    """Implements `Call`: a command that runs."""

    def __init__(self, command: CliCall) -> None:
        self._command = command

    def answer(self) -> Any:
        return self._command.finish().json


def _rehearse(stage: BrowserStage) -> None:
    """What is made once for all, at the first session, question and handler in JavaScript, is there before
    anything is counted.
    """
    stage.run(_REHEARSAL)
    call = stage.start_call("ask")
    stage.decide(accepted=True)
    assert call.answer()["result"] == stage.call("borrow") == "played"
    stage.run(EPILOGUE)


@contextmanager
def browser_stage(page: BrowserPage) -> Iterator[BrowserStage]:
    """A stage on a page that others use too. What the scenario leaves behind fails it."""
    if not page.run("return '__countLive' in globalThis"):
        page.run(_WATCH_SOCKETS)
        page.python(_ONCE)
        _rehearse(BrowserStage(page))
        page.wait_for("__allClosed()")
        page.run(_COUNT_AT_REST)
    before = page.run("return __countLive()")
    stage = BrowserStage(page)
    try:
        yield stage
    finally:
        stage.run(EPILOGUE)
    after = page.run(_COUNT_IN_THE_END, before)
    assert after == before, f"{before} before, {after} after"
