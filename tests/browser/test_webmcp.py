"""WebMCP in a real page, both ways: Chromium's own, and in Firefox the polyfill that the page asks for.

The themes of web-platform-tests/webmcp (registration, naming, signals, events) are held to our way of
registering, in sentences of our own.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.browser_page import BrowserPage

_TOOLS = """
  const argsSchema = { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false };
  const description = "A tool under test.";
  const tool = (name, handler, more) => ({ name, description, argsSchema, handler, ...more });
"""
_AGENT = """
  globalThis.find = async (name) => (await document.modelContext.getTools()).find((one) => one.name === name);
  globalThis.execute = async (name, input = {}, options) => {
    const result = await document.modelContext.executeTool(await find(name), input, options);
    return /^[[{]/.test(result) ? JSON.parse(result) : result;
  };
  globalThis.native = (name, execute, more, options) =>
    document.modelContext.registerTool({ name, description: `Native ${name}.`, execute, ...more }, options);
  globalThis.settled = () => new Promise((resolve) => setTimeout(resolve, 20));
"""

type Run = Callable[..., Any]


@pytest.fixture
def run(shared: BrowserPage) -> Iterator[Run]:
    """Runs JavaScript with a session in the page, and an agent of the browser's beside it.

    `open(...tools)` makes a session whose tools are registered with the browser; all are ended afterwards.
    """
    setup = """
      globalThis.sessions ??= [];
      globalThis.open = async (...tools) => {
        const session = await new pedelec.Pedelec().createSession({
          skills: { guidance: "", tools }, webmcp: "polyfill",
        });
        sessions.push(session);
        return session;
      };
    """

    def call(statements: str, argument: Any = None) -> Any:
        return shared.run(f"{setup}{_AGENT}{_TOOLS}{statements}", argument)

    yield call
    shared.run("for (const session of sessions.splice(0)) await session.end();")


def test_tools_are_registered_as_they_are_declared_and_taken_back_with_the_session(run: Run) -> None:
    seen = run("""
      const session = await open(
        tool("plain", () => 1),
        tool("full", () => 1,
          { title: "Full", readOnly: true, untrustedContent: true, consequential: true }),
      );
      const facts = ({ name, title, description, inputSchema, annotations }) =>
        ({ name, title, description, inputSchema, annotations });
      const listed = (await document.modelContext.getTools()).map(facts);
      await session.end();
      await session.end();
      return [listed, await find("plain"), await find("full")];
    """)
    full, plain = seen[0]
    assert (full["name"], full["title"], full["description"]) == ("full", "Full", "A tool under test.")
    assert full["inputSchema"]["properties"] == {"n": {"type": "integer"}}
    hints = ("readOnlyHint", "untrustedContentHint", "consequentialHint")
    assert [full["annotations"][hint] for hint in hints] == [True, True, True]
    assert [plain["annotations"][hint] for hint in hints] == [False, False, False]
    assert seen[1:] == [None, None]


def test_the_browser_s_own_api_is_used_where_there_is_one(run: Run, browser_name: str) -> None:
    source = run("await open(); return document.modelContext.registerTool.toString()")
    assert ("[native code]" in source) is (browser_name == "chromium")


def test_a_call_of_the_browser_s_agent_goes_through_the_session_s_dispatch(
    shared: BrowserPage, run: Run
) -> None:
    seen = run("""
      const session = await open(
        tool("probe", (args, { tool, signal }) => ({ args, tool, aborted: signal.aborted })),
        tool("text", () => "plain text"),
        tool("nothing", () => undefined),
      );
      const first = await execute("probe", { n: 1 });
      session.onTool("probe", () => ({ by: "named" }));
      const second = await execute("probe");
      return [first, second, await execute("text"), await execute("nothing")];
    """)
    assert seen == [
        {"args": {"n": 1}, "tool": "probe", "aborted": False},
        {"by": "named"},
        "plain text",
        "null",
    ]
    shared.python("""
        from pedelec import Pedelec, define_tool
        async def double(args, ctx):
            return {"double": 2 * args["n"], "source": ctx.source}
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        tools = [define_tool(name="double", description="Doubles.", args_schema=schema, handler=double)]
        python_session = await Pedelec().create_session(tools=tools, webmcp="polyfill")
    """)
    assert run("return await execute('double', { n: 4 })") == {"double": 8, "source": "sdk"}
    shared.python("await python_session.end()")


_BROKEN = {
    "an error": ("() => { throw new Error('why') }", "TOOL_HANDLER_ERROR", "why"),
    "a domain error": ("() => { throw pedelec.ToolError.permanent('MINE', 'No.') }", "MINE", "No."),
    "a DOM node": ("() => document.body", "TOOL_RESULT_NOT_SERIALIZABLE", "HTMLBodyElement"),
    "a BigInt": ("() => 10n", "TOOL_RESULT_NOT_SERIALIZABLE", "bigint"),
    "a symbol": ("() => Symbol('s')", "TOOL_RESULT_NOT_SERIALIZABLE", "symbol"),
    "a cycle": ("() => { const a = {}; a.a = a; return a }", "TOOL_RESULT_NOT_SERIALIZABLE", "$.a"),
    "no handler's result": ("undefined", "TOOL_HANDLER_NOT_FOUND", "probe"),
}


@pytest.mark.parametrize("case", _BROKEN.values(), ids=list(_BROKEN))
def test_whatever_goes_wrong_is_an_envelope_and_never_a_lost_error(
    shared: BrowserPage, run: Run, case: tuple[str, str, str]
) -> None:
    handler, code, words = case
    error = run(f"await open(tool('probe', {handler})); return await execute('probe')")["error"]
    assert error["code"] == code
    assert words in error["message"]
    shared.take_errors()


@pytest.mark.parametrize("given", ["{ n: 'x' }", "{ n: 1, m: 2 }", "[]"])
def test_arguments_are_checked_though_the_browser_does_not(run: Run, given: str) -> None:
    seen = run(f"""
      let ran = 0;
      await open(tool("probe", () => {{ ran += 1; return 1; }}));
      return [await execute("probe", {given}), ran];
    """)
    assert (seen[0]["error"]["code"], seen[0]["error"]["effects"], seen[1]) == (
        "TOOL_ARGS_INVALID",
        "none",
        0,
    )


def test_the_caller_s_abort_reaches_the_handler_and_no_other_call(run: Run) -> None:
    seen = run("""
      const ended = [];
      await open(tool("wait", async ({ n }, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        ended.push([n, signal.aborted]);
      }), tool("stay", () => "stayed"));
      const abort = new AbortController();
      const waiting = execute("wait", { n: 1 }, { signal: abort.signal }).catch((error) => error.message);
      while (sessions[0].getStatus() === "idle") await settled();
      abort.abort(new Error("my reason"));
      const reason = await waiting;
      while (ended.length === 0) await settled();
      const signal = AbortSignal.abort("early");
      const early = await execute("stay", {}, { signal }).catch((thrown) => thrown);
      return [reason, ended, await execute("stay"), early];
    """)
    assert seen == ["my reason", [[1, True]], "stayed", "early"]


def test_the_end_of_the_session_answers_the_calls_that_run(run: Run) -> None:
    seen = run("""
      const session = await open(tool("wait", async (_, { cancelled }) => { await cancelled; }));
      const waiting = execute("wait");
      while (session.getStatus() === "idle") await settled();
      await session.end();
      return await waiting;
    """)
    assert (seen["error"]["code"], seen["error"]["effects"]) == ("SESSION_ENDED", "unknown")


def test_names_are_taken_over_and_given_back_without_a_duplicate(shared: BrowserPage, run: Run) -> None:
    seen = run("""
      const first = await open(tool("probe", () => "first"));
      const second = await open(tool("probe", () => "second"));
      const seen = [await execute("probe")];
      await first.end();
      seen.push(await execute("probe"));
      const third = await open(tool("probe", () => "third"));
      await third.end();
      while (!(await find("probe"))) await settled();
      seen.push(await execute("probe"));
      await second.end();
      return [...seen, await find("probe")];
    """)
    assert seen == ["second", "second", "second", None]
    assert not [line for line in shared.console if "did not register" in line]


def test_a_name_that_another_script_holds_stays_its_own(shared: BrowserPage, run: Run) -> None:
    seen = run("""
      const taken = new AbortController();
      await native("probe", () => "theirs", {}, { signal: taken.signal });
      const session = await open(tool("probe", () => "ours"), tool("other", () => "ours"));
      const seen = [await execute("probe"), await execute("other")];
      await session.end();
      seen.push(await execute("probe"));
      taken.abort();
      return seen;
    """)
    assert seen == ["theirs", "ours", "theirs"]
    assert any("did not register the tool probe" in line for line in shared.console)
    shared.take_errors()


def test_every_name_that_a_tool_may_have_can_be_registered(run: Run) -> None:
    names = ["a", "A9_.-", "constructor", "toString", "x" * 128]
    assert (
        run(
            "await open(...given.map((name) => tool(name, () => name)));"
            "return await Promise.all(given.map((name) => execute(name)))",
            names,
        )
        == names
    )


def test_registering_and_taking_back_are_told_by_toolchange(run: Run) -> None:
    seen = run("""
      const events = [];
      const listener = ({ type, target }) => events.push([type, target === document.modelContext]);
      document.modelContext.addEventListener("toolchange", listener);
      const session = await open(tool("one", () => 1), tool("two", () => 2));
      while (events.length < 2) await settled();
      const registered = events.length;
      await session.end();
      while (events.length < 4) await settled();
      document.modelContext.removeEventListener("toolchange", listener);
      return [registered, events];
    """)
    assert seen == [2, [["toolchange", True]] * 4]


def test_what_the_browser_refuses_to_register_is_refused_by_the_same_name(run: Run) -> None:
    """The polyfill's errors are the browser's own: its callers cannot tell one from the other by them."""
    refused = run("""
      await open();
      const register = (more, options) =>
        native("probe", () => 1, more, options).then(() => "", ({ name }) => name);
      const cycle = {};
      cycle.cycle = cycle;
      const held = new AbortController();
      await native("held", () => 1, {}, held);
      const seen = [
        await register({ name: "held" }),
        await register({ name: "" }),
        await register({ name: "x".repeat(129) }),
        await register({ name: "no blanks" }),
        await register({ description: "" }),
        await register({ execute: undefined }),
        await register({ execute: "text" }),
        await register({ inputSchema: "text" }),
        await register({ inputSchema: cycle }),
        await register({ inputSchema: { toJSON: () => undefined } }),
        await register({}, { signal: AbortSignal.abort() }),
        await register({}, { signal: AbortSignal.abort(new RangeError("mine")) }),
        await register({}, { signal: "text" }),
        await register({}, { exposedTo: ["http://example.com"] }),
        await register({}, { exposedTo: ["not a URL"] }),
      ];
      held.abort();
      await settled();
      const again = new AbortController();
      seen.push(await native("held", () => 2, {}, again).then(() => ""));
      again.abort();
      return seen;
    """)
    assert refused == [
        *["InvalidStateError"] * 5,
        *["TypeError"] * 5,
        "AbortError",
        "RangeError",
        "TypeError",
        *["SecurityError"] * 2,
        "",
    ]


def test_the_older_generation_of_the_browser_s_api_speaks_in_texts(run: Run) -> None:
    """Before Chromium 156, inputs and schemas were JSON text."""
    seen = run("""
      const tools = new Map();
      const older = Object.assign(new EventTarget(), {
        async registerTool(tool, { signal }) {
          tools.set(tool.name, { ...tool, window, inputSchema: JSON.stringify(tool.inputSchema) });
          signal?.addEventListener("abort", () => tools.delete(tool.name));
        },
        getTools: async () => [...tools.values()].map(({ execute, ...told }) => told),
        executeTool: ({ name }, input) => tools.get(name).execute(input),
      });
      const polyfill = Object.getOwnPropertyDescriptor(document, "modelContext");
      Object.defineProperty(document, "modelContext", { value: older, configurable: true });
      const { open: openApi } = await import("/sdk/webmcp.mjs");
      const inputs = [];
      const answers = (key, call, input) => {
        inputs.push(input);
        api.answer(call, '{"by":"us"}');
      };
      const api = await openApi(false, (value) => `=${JSON.stringify(value)}`, answers, () => {}, () => {});
      delete document.modelContext;
      if (polyfill) Object.defineProperty(document, "modelContext", polyfill);
      await api.register(1, JSON.stringify({ name: "ours", description: "Ours.", inputSchema: {} }));
      const answer = await tools.get("ours").execute('{"n":1}');
      const execute = async (input) => `got ${input}`;
      await older.registerTool({ name: "theirs", inputSchema: {}, execute }, {});
      const [{ key, ...theirs }] = JSON.parse(await api.tools());
      const outcome = JSON.parse(await api.execute(1, key, '{"q":2}'));
      api.unregister(1);
      return [inputs, answer, theirs.inputSchema, outcome, [...tools.keys()]];
    """)
    assert seen == [['={"n":1}'], {"by": "us"}, "{}", {"text": 'got {"q":2}'}, ["theirs"]]


# --- the other way: the browser's tools, offered to Core ----------------------------------------------------


@pytest.fixture
def imported(shared: BrowserPage, run: Run) -> Callable[[str], str]:
    """Runs JavaScript, then imports the browser's tools into a session; its id. `natives` undoes natives."""

    def call(statements: str) -> str:
        return str(
            run(f"""
            await open(); // a browser that lacks the API has the polyfill from now on
            globalThis.natives = new AbortController();
            {statements}
            globalThis.session = await open(tool("own", () => "own"));
            globalThis.stop = await session.importWebmcp();
            return session.sessionId;
            """)
        )

    return call


def names_of(page: BrowserPage, thread: str) -> list[str]:
    listed = page.core.cli("--thread-id", thread, "tool-list").json["result"]["tools"]
    return [each["name"] for each in listed]


def test_tools_of_any_script_are_offered_and_run_and_their_changes_followed(
    shared: BrowserPage, imported: Callable[[str], str]
) -> None:
    thread = imported("""
      await open(tool("ours", () => 1));
      await native("search", ({ q }) => ({ hits: [q] }), {
        title: "Search",
        inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
        annotations: { readOnlyHint: true },
      }, natives);
      await native("9lives", () => "nine", {}, natives);
    """)
    assert names_of(shared, thread) == ["own", "page_9lives", "search"]
    spec = shared.core.cli("--thread-id", thread, "tool-spec", "search").json["result"]
    assert (spec["title"], spec["readOnly"], spec["argsSchema"]["required"]) == ("Search", True, ["q"])
    assert shared.call("search", '{"q": "x"}', thread=thread)["result"] == {"hits": ["x"]}
    assert shared.call("search", "{}", thread=thread)["error"]["code"] == "TOOL_ARGS_INVALID"
    assert shared.call("page_9lives", thread=thread)["result"] == "nine"
    shared.run("""
      await native("later", () => "later", {}, natives);
      while (!__sent.some(({ type, tools }) => type === "offer_tools" && tools.length === 3)) await settled();
    """)
    assert shared.call("later", thread=thread)["result"] == "later"
    shared.run("""
      __sent.length = 0;
      natives.abort();
      while (!__sent.some(({ type, tools }) => type === "offer_tools" && tools.length === 0)) await settled();
    """)
    assert names_of(shared, thread) == ["own"]


def test_what_a_native_call_cannot_tell_is_unknown_and_what_it_can_is_told(
    shared: BrowserPage, imported: Callable[[str], str]
) -> None:
    thread = imported("""
      await native("throws", () => { throw new Error("lost") }, {}, natives);
      const vanishing = new AbortController();
      await native("vanishes", () => { vanishing.abort(); throw new Error("lost") }, {}, vanishing);
      await native("waits", (_, { signal }) => new Promise((resolve) => {
        signal.addEventListener("abort", () => { globalThis.aborted = true; resolve(); });
      }), {}, natives);
    """)
    error = shared.call("throws", thread=thread)["result"]["error"]
    assert (error["code"], error["effects"]) == ("TOOL_HANDLER_ERROR", "unknown")
    error = shared.call("vanishes", thread=thread)["result"]["error"]
    assert (error["code"], error["effects"]) == ("TOOL_INTERRUPTED", "unknown")
    assert shared.call("waits", thread=thread, timeout_ms=300)["error"]["code"] == "TOOL_TIMEOUT"
    shared.wait_for("globalThis.aborted === true")
    shared.run("natives.abort()")
    shared.take_errors()


def test_an_import_that_is_stopped_withdraws_its_offer(
    shared: BrowserPage, imported: Callable[[str], str]
) -> None:
    thread = imported('await native("search", () => 1, {}, natives);')
    assert names_of(shared, thread) == ["own", "search"]
    shared.run("""
      __sent.length = 0;
      stop();
      stop();
      while (!__sent.some(({ type }) => type === "offer_tools")) await settled();
    """)
    assert names_of(shared, thread) == ["own"]
    shared.run("natives.abort()")


# --- what only Chromium has, and what Firefox lacks ---------------------------------------------------------


@pytest.mark.browsers("chromium")
def test_a_declared_form_and_a_frame_s_tools_are_offered_too(
    shared: BrowserPage, imported: Callable[[str], str]
) -> None:
    shared.write("empty.html", "<!doctype html><title>A frame</title>")
    thread = imported("""
      document.body.insertAdjacentHTML("beforeend", `
        <form id="form" toolname="ask" tooldescription="Asks." toolautosubmit>
          <input name="q" toolparamdescription="The question." required><button>go</button></form>
        <iframe id="frame" src="/empty.html"></iframe>`);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        event.respondWith(Promise.resolve({ asked: form.elements.q.value }));
      });
      await new Promise((resolve) => { frame.onload = resolve; });
      const inside = frame.contentDocument.modelContext;
      const inFrame = (name, execute) =>
        inside.registerTool({ name, description: `In a frame: ${name}.`, execute });
      await inFrame("inside", () => "inside");
      await inFrame("leaves", () => { frame.src = "/empty.html?next"; return new Promise(() => {}); });
      while (!(await find("ask"))) await settled();
    """)
    assert names_of(shared, thread) == ["own", "ask", "inside", "leaves"]
    spec = shared.core.cli("--thread-id", thread, "tool-spec", "ask").json["result"]
    assert spec["argsSchema"]["properties"]["q"]["description"] == "The question."
    assert shared.call("ask", '{"q": "why"}', thread=thread)["result"] == {"asked": "why"}
    assert shared.call("inside", thread=thread)["result"] == "inside"
    error = shared.call("leaves", thread=thread)["result"]["error"]
    assert (error["code"], error["effects"]) == ("TOOL_INTERRUPTED", "unknown")
    shared.run("form.remove(); frame.remove();")
    shared.take_errors()


@pytest.mark.browsers("chromium")
def test_the_browser_itself_sees_calls_and_cancels_our_tools(shared: BrowserPage, run: Run) -> None:
    devtools = shared.page.context.new_cdp_session(shared.page)
    events: list[tuple[str, Any]] = []
    for name in ("toolsAdded", "toolsRemoved", "toolResponded"):
        devtools.on(f"WebMCP.{name}", lambda event, name=name: events.append((name, event)))
    devtools.send("WebMCP.enable")
    run("""
      globalThis.reasons = [];
      globalThis.session = await open(
        tool("probe", (args) => ({ args }), { readOnly: true, consequential: true }),
        tool("fails", () => { throw new Error("why") }),
        tool("waits", async (_, { signal, cancelled }) => {
          await cancelled;
          reasons.push(signal.reason.message);
        }));
    """)
    frame = devtools.send("Page.getFrameTree")["frameTree"]["frame"]["id"]

    def invoke(name: str, given: Any) -> str:
        asked = {"frameId": frame, "toolName": name, "input": given}
        return str(devtools.send("WebMCP.invokeTool", asked)["invocationId"])

    def responded(invocation: str) -> Any:
        def of_it() -> list[Any]:
            told = [event for name, event in events if name == "toolResponded"]
            return [event for event in told if event["invocationId"] == invocation]

        while not of_it():
            shared.page.wait_for_timeout(20)
        return of_it()[0]

    added = [tool for name, event in events if name == "toolsAdded" for tool in event["tools"]]
    assert [tool["name"] for tool in added] == ["probe", "fails", "waits"]
    assert (added[0]["annotations"]["readOnly"], added[0]["annotations"]["consequential"]) == (True, True)
    assert responded(invoke("probe", {"n": 1}))["output"] == {"args": {"n": 1}}
    assert responded(invoke("probe", {"n": "x"}))["output"]["error"]["code"] == "TOOL_ARGS_INVALID"
    failed = responded(invoke("fails", {}))
    assert (failed["status"], failed["output"]["error"]["code"]) == ("Completed", "TOOL_HANDLER_ERROR")
    waiting = invoke("waits", {})
    shared.wait_for("session.getStatus() === 'waiting_tool_result'")
    devtools.send("WebMCP.cancelInvocation", {"invocationId": waiting})
    assert responded(waiting)["status"] == "Canceled"
    shared.wait_for("reasons.length === 1")
    assert shared.run("return reasons") == ["The call is over: cancelled."]
    run("await session.end()")
    shared.wait_for("session.getStatus() === 'ended'")
    removed = [tool["name"] for name, event in events if name == "toolsRemoved" for tool in event["tools"]]
    assert removed == ["probe", "fails", "waits"]
    devtools.detach()
    shared.take_errors()


@pytest.mark.browsers("firefox")
def test_a_page_in_a_browser_without_the_api_works_unchanged(page: BrowserPage) -> None:
    page.start()
    thread = page.run(f"""
      {_TOOLS}
      globalThis.session = await new pedelec.Pedelec().createSession({{
        skills: {{ guidance: "", tools: [tool("probe", () => "fine")] }}, webmcp: true,
      }});
      globalThis.stop = await session.importWebmcp();
      return session.sessionId;
    """)
    assert page.call("probe", thread=thread)["result"] == "fine"
    page.run("stop()")
    assert page.run("return document.modelContext === undefined") is True
