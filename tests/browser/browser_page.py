"""A page under test, in a real browser, as a test sees it.

    page.open("<script src='/pedelec.js'></script>")
    page.run("await pedelec.ready")
    page.take_errors()

Whatever the page says on its console as an error, throws or leaves unhandled fails the test that did not
`take_errors()`.
"""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page

from tests.harness import CliCall, CoreProcess, error_rules

WAIT_MS = 60_000
"""How long anything in a page may take on a busy machine before a test fails."""

LOADER = '<script src="/pedelec.js"></script>'
PLAIN_LOADER = '<script src="/pedelec.js?plain"></script>'
"""The loader without the memory snapshot."""
_HEAD = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>A page under test</title>'

_BOUNDED = """async () => {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("the page took too long")), %d));
  return await Promise.race([late, (async () => { %s })()]);
}"""

_WATCH = """(() => {
  const events = globalThis.__events = [];
  for (const kind of ["progress", "ready", "failed"]) {
    addEventListener(`pedelec:${kind}`, ({ detail }) => events.push({ kind, detail }));
  }
  const sent = globalThis.__sent = [];
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (frame) {
    sent.push(...frame.split("\\n").map((message) => JSON.parse(message)));
    send.call(this, frame);
  };
  addEventListener("unhandledrejection", ({ reason }) => console.error(`unhandled rejection: ${reason}`));
})()"""


class BrowserPage:
    """One page on a site that Core serves.

    Attributes:
        core: the Core that serves it.
        page: Playwright's page, for what this class does not offer.
        console: everything on its console, as `type: text`.
    """

    def __init__(self, context: BrowserContext, core: CoreProcess, site: Path) -> None:
        self.core = core
        self.console: list[str] = []
        self._site = site
        self._errors: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.page.add_init_script(_WATCH)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self._errors.append(str(error)))

    def _on_console(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text}")
        if message.type == "error":
            self._errors.append(message.text)

    def write(self, name: str, text: str) -> None:
        """Put a file on the site."""
        (self._site / name).write_text(text, encoding="utf-8")

    def open(self, body: str, *, name: str = "index.html", head: str = "") -> None:
        """Put a page on the site and go there."""
        self.write(name, f"{_HEAD}{head}\n<body>\n{body}\n</body>\n")
        self.page.goto(f"{self.core.url}/{name}", wait_until="domcontentloaded")

    def start(self, body: str = "") -> None:
        """Open a page with the loader's tag and wait until Python is ready in it."""
        self.open(f"{LOADER}\n{body}")
        self.run("await pedelec.ready")

    def run(self, statements: str, argument: Any = None) -> Any:
        """Run JavaScript statements (`await` and `return` allowed; `argument` is `given`).

        Raises:
            playwright.sync_api.Error: they threw, or took too long.
        """
        source = _BOUNDED % (WAIT_MS, statements)
        return self.page.evaluate(f"(given) => ({source})()", argument)

    def raised(self, statements: str) -> Any:
        """What JavaScript statements threw, as the plain object that JSON makes of it."""
        caught = "return {thrown: JSON.parse(JSON.stringify(error)) ?? String(error)}"
        outcome = self.run(f"try {{ {statements} }} catch (error) {{ {caught} }}")
        assert outcome is not None, f"nothing was thrown by: {statements}"
        error_rules.record_result({"error": outcome["thrown"]})
        return outcome["thrown"]

    def python(self, source: str) -> None:
        """Run Python in the page, as one more `text/pedelec` script; its end is waited for."""
        self.run(
            """
            const finished = new Promise((resolve) => { globalThis.__finish = resolve; });
            const script = document.createElement("script");
            script.type = "text/pedelec";
            script.textContent = given + "\\nimport js\\njs.__finish()\\n";
            document.body.append(script);
            await finished;
            """,
            textwrap.dedent(source),
        )

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        self.run(f"while (!({condition})) await new Promise((resolve) => setTimeout(resolve, 10));")

    def events(self, kind: str) -> list[Any]:
        """The details of the `pedelec:` events of a kind so far."""
        seen = self.run(
            "return globalThis.__events.map(({kind, detail}) => ({kind, detail: detail ?? null}))"
        )
        return [event["detail"] for event in seen if event["kind"] == kind]

    def call(self, tool: str, args: str = "{}", *, thread: str, timeout_ms: int = 20_000) -> Any:
        """Call a tool as an agent does, from the command line; its answer."""
        return self.start_call(tool, args, thread=thread, timeout_ms=timeout_ms).finish().json

    def start_call(self, tool: str, args: str = "{}", *, thread: str, timeout_ms: int = 20_000) -> CliCall:
        """As `call`, without waiting for the answer."""
        return self.core.start_cli(
            "--thread-id",
            thread,
            "tool-call",
            tool,
            "-",
            "--timeout-ms",
            str(timeout_ms),
            stdin=args.encode(),
        )

    def answers(self, thread: str) -> int:
        """How many results the page has sent to Core for the calls of a session."""
        of_session = "({type, sessionId}) => type === 'submit_tool_result' && sessionId === given"
        return int(self.run(f"return __sent.filter({of_session}).length", thread))

    def take_errors(self) -> list[str]:
        """The errors so far: they were expected."""
        self._flush()
        errors, self._errors = self._errors, []
        return errors

    def assert_quiet(self) -> None:
        """Fail for every error that nobody took, and have those that the page sent held to the rules."""
        assert self.take_errors() == []
        if not self.page.is_closed():
            for frame in self.page.evaluate("() => globalThis.__sent ?? []"):
                error_rules.record_result(frame.get("result"))

    def _flush(self) -> None:
        """Let Playwright hand over what the browser has said by now."""
        if not self.page.is_closed():
            try:
                self.page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 0))")
            except Error:
                return  # the page is on its way elsewhere


type OpenPage = Callable[[], BrowserPage]
