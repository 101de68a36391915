"""The JavaScript face: sessions, handlers, events and errors, as authors of the TypeScript SDK know them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.browser_page import BrowserPage

_TOOL = (
    "(name, more) => ({ name, description: `The tool ${name}.`, argsSchema: { type: 'object' }, ...more })"
)

type MakeSession = Callable[..., str]


@pytest.fixture
def make_session(shared: BrowserPage) -> Iterator[MakeSession]:
    """Makes `session` in the page, from the JavaScript text of its tools; gives its id."""

    def make(tools: str = "[tool('probe')]", setup: str = "") -> str:
        return str(
            shared.run(
                f"""
                globalThis.tool = {_TOOL};
                globalThis.client = new pedelec.Pedelec();
                const skills = {{ guidance: "", tools: {tools} }};
                globalThis.session = await client.createSession({{ skills }});
                globalThis.seen = [];
                session.onError((error, ctx) => seen.push(["error", error, ctx]));
                {setup}
                return session.sessionId;
                """
            )
        )

    yield make
    shared.run("await globalThis.session?.end(); delete globalThis.session;")


def _inputs_refused(shared: BrowserPage, given: str) -> Any:
    shared.run(f"globalThis.tool = {_TOOL};")
    return shared.raised(f"await new pedelec.Pedelec().createSession({given})")


# --- sessions ------------------------------------------------------------------------------------------


def test_a_session_has_the_fields_of_the_typescript_sdk(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session()
    assert thread
    facts = shared.run(
        "const { provider, model, sessionCreatedAt } = session;"
        "return [provider, model ?? null, Date.now() - sessionCreatedAt, session.getStatus()]"
    )
    assert facts[:2] == ["", None]
    assert 0 <= facts[2] < 60_000
    assert facts[3] == "idle"


def test_provider_and_model_are_kept_on_the_session(shared: BrowserPage) -> None:
    session = shared.run(
        """const session = await new pedelec.Pedelec().createSession({ provider: " claude ", model: "m" });
        await session.end();
        return [session.provider, session.model];"""
    )
    assert session == ["claude", "m"]


def test_a_session_without_input_is_made(shared: BrowserPage) -> None:
    shared.run("await (await new pedelec.Pedelec().createSession()).end()")


_INVALID = {
    "skills that are no object": ("{skills: 5}", "skills"),
    "skills that are an array": ("{skills: []}", "skills"),
    "no guidance": ("{skills: {tools: []}}", "guidance"),
    "no tools": ("{skills: {guidance: ''}}", "tools"),
    "tools that are no array": ("{skills: {guidance: '', tools: {}}}", "tools"),
    "a tool that is no object": ("{skills: {guidance: '', tools: [null]}}", "tools[0]"),
    "a bad name": ("{skills: {guidance: '', tools: [tool('1a')]}}", "name"),
    "no name": ("{skills: {guidance: '', tools: [tool(undefined)]}}", "name"),
    "a name that is a symbol": ("{skills: {guidance: '', tools: [tool('a', {name: Symbol('x')})]}}", "name"),
    "a name twice": ("{skills: {guidance: '', tools: [tool('abc'), tool('abc')]}}", "abc"),
    "a blank description": ("{skills: {guidance: '', tools: [tool('abc', {description: ' '})]}}", "abc"),
    "a schema that is missing": (
        "{skills: {guidance: '', tools: [tool('abc', {argsSchema: undefined})]}}",
        "abc",
    ),
    "a schema of no object": (
        "{skills: {guidance: '', tools: [tool('abc', {argsSchema: {type: 'array'}})]}}",
        "abc",
    ),
    "a schema that is a circle": (
        """((argsSchema) => (
          argsSchema.self = argsSchema, { skills: { guidance: "", tools: [tool("abc", { argsSchema })] } }
        ))({ type: "object" })""",
        "abc",
    ),
    "a schema with a bigint": (
        "{skills: {guidance: '', tools: [tool('abc', {argsSchema: {type: 'object', maxProperties: 1n}})]}}",
        "abc",
    ),
    "a limit of zero": ("{skills: {guidance: '', tools: [tool('abc', {timeoutMs: 0})]}}", "abc"),
    "a limit that is no integer": ("{skills: {guidance: '', tools: [tool('abc', {timeoutMs: 1.5})]}}", "abc"),
    "a limit that is no number": ("{skills: {guidance: '', tools: [tool('abc', {timeoutMs: NaN})]}}", "abc"),
    "an endless limit": ("{skills: {guidance: '', tools: [tool('abc', {timeoutMs: Infinity})]}}", "abc"),
    "a handler that is no function": (
        "{skills: {guidance: '', tools: [tool('abc', {handler: 'x'})]}}",
        "abc",
    ),
    "a handler that is null": ("{skills: {guidance: '', tools: [tool('abc', {handler: null})]}}", "abc"),
    "the old input field": ("{skills: {guidance: '', tools: [tool('abc', {input: {}})]}}", "input"),
    "a model without a provider": ("{model: 'm'}", "provider"),
}


@pytest.mark.parametrize("case", _INVALID.values(), ids=list(_INVALID))
def test_invalid_input_is_refused_by_name(shared: BrowserPage, case: tuple[str, str]) -> None:
    given, mention = case
    error = _inputs_refused(shared, given)
    assert error["code"] == "INVALID_INPUT", error
    assert mention in error["message"]


def test_errors_are_errors_whose_fields_survive_json(shared: BrowserPage) -> None:
    facts = shared.run(
        """const error = await new pedelec.Pedelec().createSession({skills: 5}).catch((error) => error);
        return [error instanceof Error, error instanceof pedelec.PedelecError, error.name, {...error}.code,
                JSON.parse(JSON.stringify(error)).message === error.message];"""
    )
    assert facts == [True, True, "PedelecError", "INVALID_INPUT", True]


def test_define_tool_gives_back_the_tool(shared: BrowserPage) -> None:
    assert shared.run("const tool = {name: 'a'}; return pedelec.defineTool(tool) === tool")


def test_what_the_caller_changes_later_does_not_change_the_session(page: BrowserPage) -> None:
    page.open('<script src="/pedelec.js"></script>')
    thread = page.run(
        f"""const probe = ({_TOOL})("probe", {{ handler: () => "first" }});
        probe.argsSchema = {{ type: "object", required: ["x"] }};
        const made = new pedelec.Pedelec().createSession({{ skills: {{ guidance: "", tools: [probe] }} }});
        probe.argsSchema.required.pop();
        probe.handler = () => "second";
        return (await made).sessionId;"""
    )
    assert page.call("probe", thread=thread)["error"]["code"] == "TOOL_ARGS_INVALID"
    assert page.call("probe", '{"x": 1}', thread=thread)["result"] == "first"


def test_a_resumed_session_is_the_same_object(shared: BrowserPage, make_session: MakeSession) -> None:
    make_session()
    assert shared.run("return await client.resumeSession(session.sessionId) === session")


def test_a_session_is_resumed_by_the_next_page(page: BrowserPage) -> None:
    page.start()
    thread = page.run(
        f"""const probe = ({_TOOL})("probe");
        const input = {{ skills: {{ guidance: "", tools: [probe] }}, autoEndOnDisconnect: false }};
        const session = await new pedelec.Pedelec().createSession(input);
        session.onTool("probe", () => "before");
        return session.sessionId;"""
    )
    assert page.call("probe", thread=thread)["result"] == "before"
    page.start()
    page.run(
        """globalThis.session = await new pedelec.Pedelec().resumeSession(given);
        session.onTool("probe", () => "after");""",
        thread,
    )
    assert page.call("probe", thread=thread)["result"] == "after"
    page.run("await session.end()")


def test_resuming_what_is_no_session_is_refused(shared: BrowserPage) -> None:
    codes = {
        given: shared.raised(f"await new pedelec.Pedelec().resumeSession({given})")["code"]
        for given in ("' '", "undefined", "'ses_unknown'")
    }
    assert codes["' '"] == codes["undefined"] == "INVALID_INPUT"
    assert codes["'ses_unknown'"] in {"THREAD_ACCESS_DENIED", "THREAD_NOT_FOUND"}


def test_end_ends_once(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        "[tool('probe', {handler: () => 1})]",
        "session.onStatus((...event) => seen.push(event)); session.onEnded((...event) => seen.push(event));",
    )
    shared.run("await session.end(); await session.end(); session.onTool('probe', () => 2)();")
    status, ended = shared.run("return seen")
    assert status[0] == "ended"
    assert status[1]["type"] == "sdk_status_changed"
    assert (status[1]["previousStatus"], status[1]["status"]) == ("idle", "ended")
    assert len(ended) == 1
    assert (ended[0]["type"], ended[0]["source"]) == ("sdk_ended", "sdk")
    assert ended[0]["sessionId"] == thread
    assert shared.run("return session.getStatus()") == "ended"
    assert shared.call("probe", thread=thread)["ok"] is False
    for method in ("prepare", "sendText", "uploadAsset", "listAssets", "readAsset"):
        assert shared.raised(f"await session.{method}()")["code"] == "SESSION_ENDED"


def test_what_is_not_built_says_so(shared: BrowserPage, make_session: MakeSession) -> None:
    make_session()
    calls = [
        f"session.{name}()"
        for name in ("prepare", "sendText", "onChat", "uploadAsset", "listAssets", "readAsset")
    ]
    for call in [*calls, "client.getSettings()", "client.listProviders()"]:
        error = shared.raised(f"await {call}")
        assert error["code"] == "NOT_SUPPORTED"
        assert call.partition(".")[2].removesuffix("()") in error["message"]


def test_approval_and_availability_are_told(shared: BrowserPage) -> None:
    origin = shared.core.url
    approval = shared.run("return await new pedelec.Pedelec().getApprovalStatus()")
    assert approval == {"installed": True, "approved": True, "origin": origin, "appConnected": True}
    assert shared.run("return await new pedelec.Pedelec().checkAvailability()") == {
        "available": True,
        "extension": {"available": True},
        "approval": {"approved": True, "origin": origin},
        "desktop": {"available": True, "launchAttempted": False},
    }


# --- handlers ------------------------------------------------------------------------------------------


def test_named_comes_before_inline_comes_before_generic(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(
        "[tool('probe', {handler: () => 'inline'}), tool('other')]",
        """session.onTool((name, args, ctx) => [name, args, ctx.tool]);
        globalThis.dispose = session.onTool("probe", () => "named");""",
    )
    assert shared.call("probe", thread=thread)["result"] == "named"
    assert shared.call("other", '{"a": 1}', thread=thread)["result"] == ["other", {"a": 1}, "other"]
    shared.run("dispose(); dispose();")
    assert shared.call("probe", thread=thread)["result"] == "inline"


def test_a_disposer_removes_only_what_it_registered(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        setup="""
        const first = session.onTool("probe", () => "first");
        session.onTool("probe", () => "second");
        first();
        const generic = session.onTool(() => "first generic");
        globalThis.disposeGeneric = session.onTool(() => "second generic");
        generic();
        """
    )
    assert shared.call("probe", thread=thread)["result"] == "second"
    shared.run("disposeGeneric()")


_BAD_HANDLERS = (
    "session.onTool('1a', () => 1)",
    "session.onTool('a', 5)",
    "session.onTool('a')",
    "session.onTool()",
)


@pytest.mark.parametrize(
    "call", [*_BAD_HANDLERS, "session.onTool({})", "session.onError(5)", "session.onStatus()"]
)
def test_a_registration_that_cannot_work_throws_at_once(
    shared: BrowserPage, make_session: MakeSession, call: str
) -> None:
    make_session()
    assert shared.raised(call)["code"] == "INVALID_INPUT"


def test_a_running_call_finishes_with_the_handler_that_it_started_with(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(
        setup="""
        const { promise, resolve } = Promise.withResolvers();
        globalThis.release = resolve;
        session.onTool("probe", async () => { globalThis.started = true; await promise; return "old"; });
        """
    )
    running = shared.start_call("probe", thread=thread)
    shared.wait_for("globalThis.started")
    shared.run("session.onTool('probe', () => 'new');")
    assert shared.call("probe", '{"n": 2}', thread=thread)["result"] == "new"
    shared.run("release()")
    assert running.finish().json["result"] == "old"


def test_the_context_has_the_fields_of_the_typescript_sdk(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(setup="session.onTool('probe', (args, ctx) => ({...ctx, ...fields(ctx)}));")
    shared.run(
        """globalThis.fields = (ctx) => ({
          signal: ctx.signal instanceof AbortSignal, progress: typeof ctx.progress, ask: typeof ctx.ask,
          cancelled: ctx.cancelled instanceof Promise,
        })"""
    )
    ctx = shared.call("probe", thread=thread, timeout_ms=5_000)["result"]
    assert ctx["sessionId"] == thread
    assert (ctx["type"], ctx["source"], ctx["tool"], ctx["turnKind"]) == (
        "tool_call",
        "core",
        "probe",
        "user",
    )
    for field in ("toolRequestId", "turnId"):
        assert isinstance(ctx[field], str)
        assert ctx[field]
    now = shared.run("return Date.now()")
    for field in ("sessionCreatedAt", "eventReceivedAt", "eventEmittedAt", "turnStartedAt"):
        assert now - 60_000 < ctx[field] <= now
    assert 0 < ctx["remainingMs"] <= 5_000
    assert now - 60_000 < ctx["deadline"] <= now + 5_000
    assert (ctx["signal"], ctx["cancelled"]) == (True, True)
    assert (ctx["progress"], ctx["ask"]) == ("function", "function")


def test_each_call_gets_arguments_of_its_own(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        setup="""
        globalThis.kept = [];
        session.onTool("probe", (args, ctx) => {
          kept.push(args, ctx);
          args.list.push(1);
          args.extra = ctx.tool = ctx.sessionId = "changed";
          return args.list.length;
        });
        """
    )
    assert shared.call("probe", '{"list": []}', thread=thread)["result"] == 1
    assert shared.call("probe", '{"list": []}', thread=thread)["result"] == 1
    assert shared.run("return kept[0] !== kept[2] && kept[1] !== kept[3]")


def test_arguments_are_plain_values_under_any_name(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        setup="""session.onTool("probe", (args) => [
          Object.keys(args), Object.getPrototypeOf(args) === Object.prototype, args.p, typeof args.p, args.n,
        ]);"""
    )
    args = '{"__proto__": {"polluted": 1}, "constructor": 2, "toString": null, "p": "12345", "n": null}'
    keys, is_plain, text, kind, nothing = shared.call("probe", args, thread=thread)["result"]
    assert keys == ["__proto__", "constructor", "toString", "p", "n"]
    assert (is_plain, text, kind, nothing) == (True, "12345", "string", None)


@pytest.mark.parametrize("name", ["constructor", "toString", "hasOwnProperty", "a.b-c_d"])
def test_tools_may_have_any_name_that_matches(
    shared: BrowserPage, make_session: MakeSession, name: str
) -> None:
    thread = make_session(f"[tool('{name}')]")
    answer = shared.call(name, thread=thread)
    assert answer["result"]["error"]["code"] == "TOOL_HANDLER_NOT_FOUND"
    shared.run(f"session.onTool('{name}', () => 'found')")
    assert shared.call(name, '{"again": 1}', thread=thread)["result"] == "found"


_THROWN = {
    "an Error": ("throw new Error('Database unavailable')", "Error", "Database unavailable"),
    "an Error without a message": ("throw new RangeError()", "RangeError", "RangeError"),
    "an Error of a class": ("throw new (class Broken extends Error {})('x')", "Broken", "x"),
    "an Error with a name": ("throw Object.assign(new Error('x'), {name: 'Custom'})", "Custom", "x"),
    "an Error with a code, as Node sets one": (
        "throw Object.assign(new Error('x'), {code: 'ENOENT'})",
        "Error",
        "x",
    ),
    "a DOMException": ("document.querySelector('!')", "SyntaxError", "!"),
    "an Error of another realm": (
        """const frame = document.createElement("iframe");
        document.body.append(frame);
        throw frame.contentWindow.Function("return new TypeError('far')")();""",
        "TypeError",
        "far",
    ),
    "text": ("throw 'nope'", "string", "nope"),
    "nothing": ("throw undefined", "undefined", "undefined"),
    "null": ("throw null", "null", "null"),
    "a number": ("throw 42", "number", "42"),
    "a symbol": ("throw Symbol('odd')", "symbol", "odd"),
    "an object": ("throw {reason: 'full'}", "Object", "full"),
    "an object with half an error": ("throw {code: 'X'}", "Object", "X"),
    "a function": ("throw () => 1", "function", "function"),
    "a rejection": ("return Promise.reject(new TypeError('later'))", "TypeError", "later"),
    "a rejection with text": ("return Promise.reject('nope')", "string", "nope"),
    "a rejection with nothing": ("return Promise.reject()", "undefined", "undefined"),
    "a thenable that throws": ("return {then() { throw 'nope' }}", "string", "nope"),
    "a then that throws": ("return {get then() { throw new Error('nope') }}", "Error", "nope"),
    "an Error whose message throws": (
        "throw Object.defineProperty(new Error(), 'message', {get() { throw 1 }})",
        "Error",
        "Error",
    ),
    "a revoked proxy": ("const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy", None, "object"),
    "an endless recursion": ("const f = () => f(); f()", None, ""),
}


@pytest.mark.parametrize("case", _THROWN.values(), ids=list(_THROWN))
def test_whatever_is_thrown_is_a_handler_error_with_type_and_message(
    shared: BrowserPage, make_session: MakeSession, case: tuple[str, str | None, str]
) -> None:
    body, type_name, mention = case
    thread = make_session(setup=f"session.onTool('probe', () => {{ {body} }});")
    error = shared.call("probe", thread=thread)["result"]["error"]
    assert error["code"] == "TOOL_HANDLER_ERROR"
    assert type_name is None or error["details"]["type"] == type_name
    assert mention in error["message"]
    assert "http" not in error["message"]
    assert shared.run("return seen.length") == 0
    shared.take_errors()  # it is logged


def test_the_stack_goes_to_the_console_and_nowhere_else(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(
        setup="session.onTool('probe', function culprit({secret}) { throw new Error('broken') });"
    )
    answer = shared.call("probe", '{"secret": "s3cr3t"}', thread=thread)
    assert "culprit" not in str(answer)
    shared.take_errors()
    logged = "\n".join(shared.console)
    assert "culprit" in logged
    assert "s3cr3t" not in logged


_DOMAIN = {
    "thrown": "throw error",
    "rejected": "return (async () => { throw error })()",
}


@pytest.mark.parametrize("body", _DOMAIN.values(), ids=list(_DOMAIN))
def test_a_thrown_object_with_code_and_message_is_a_domain_error(
    shared: BrowserPage, make_session: MakeSession, body: str
) -> None:
    thrown = "{ code: 'NO_SELECTION', message: 'Select text first.', details: { n: 1 } }"
    thread = make_session(setup=f"const error = {thrown}; session.onTool('probe', () => {{ {body} }});")
    error = shared.call("probe", thread=thread)["result"]["error"]
    assert (error["code"], error["message"]) == ("NO_SELECTION", "Select text first.")
    assert error["details"] == {"n": 1}
    assert shared.run("return seen.length") == 0


def test_a_domain_error_keeps_its_code_where_its_details_have_no_json(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(
        setup="session.onTool('probe', () => { throw {code: 'X', message: 'y', details: 1n} });"
    )
    error = shared.call("probe", thread=thread)["result"]["error"]
    assert (error["code"], error["message"]) == ("X", "y")


def test_the_sdks_own_errors_keep_their_code_through_a_handler(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(setup="session.onTool('probe', () => session.sendText('x'));")
    assert shared.call("probe", thread=thread)["result"]["error"]["code"] == "NOT_SUPPORTED"


def test_a_returned_error_passes_untouched(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(setup="session.onTool('probe', () => ({error: {code: 'X', odd: [1]}}));")
    assert shared.call("probe", thread=thread)["result"] == {"error": {"code": "X", "odd": [1]}}
    assert shared.run("return seen.length") == 0


def test_a_call_over_its_deadline_aborts_the_signal(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        setup="""session.onTool("probe", async (args, ctx) => {
          globalThis.before = [ctx.signal.aborted, ctx.remainingMs > 0];
          const late = new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
          await Promise.all([late, ctx.cancelled]);
          globalThis.after = [ctx.signal.aborted, ctx.signal.reason.name, ctx.remainingMs];
        });"""
    )
    assert shared.call("probe", thread=thread, timeout_ms=300)["error"]["code"] == "TOOL_TIMEOUT"
    shared.wait_for("globalThis.after")
    assert shared.run("return [before, after]") == [[False, True], [True, "AbortError", 0]]
    shared.wait_for("session.getStatus() === 'idle'")


def test_progress_reaches_core(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        setup="""session.onTool("probe", async (args, ctx) => {
          ctx.progress(1, 3, "one of three");
          await null;
          ctx.progress(2);
          try { ctx.progress("x") } catch (error) { return error.name }
        });"""
    )
    assert shared.call("probe", thread=thread)["result"] == "TypeError"
    reports = shared.run(
        "return __sent.filter((m) => m.type === 'tool_progress' && m.sessionId === given)", thread
    )
    assert [(r["done"], r.get("total"), r.get("message")) for r in reports] == [
        (1, 3, "one of three"),
        (2, None, None),
    ]


# --- events --------------------------------------------------------------------------------------------


def test_status_events_name_both_states(shared: BrowserPage, make_session: MakeSession) -> None:
    thread = make_session(
        "[tool('probe', {handler: () => session.getStatus()})]",
        "session.onStatus((status, ctx) => seen.push([status, ctx.previousStatus, ctx.status, ctx.type]));",
    )
    assert shared.call("probe", thread=thread)["result"] == "waiting_tool_result"
    assert shared.run("return seen") == [
        ["waiting_tool_result", "idle", "waiting_tool_result", "status_changed"],
        ["idle", "waiting_tool_result", "idle", "sdk_status_changed"],
    ]


def test_a_result_that_cannot_be_sent_is_an_error_event(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session("[tool('probe', {handler: () => ({n: 1n})})]")
    shared.call("probe", thread=thread)
    ((kind, error, ctx),) = shared.run("return JSON.parse(JSON.stringify(seen))")
    assert (kind, error["code"], ctx["type"]) == ("error", "SUBMIT_TOOL_RESULT_FAILED", "sdk_error")
    assert error["details"]["cause"] == "TOOL_RESULT_NOT_SERIALIZABLE"
    assert (error["details"]["path"], error["details"]["tool"]) == ("$.n", "probe")
    assert ctx["sessionId"] == thread
    shared.take_errors()


def test_a_callback_that_fails_does_not_stop_the_others(
    shared: BrowserPage, make_session: MakeSession
) -> None:
    thread = make_session(
        "[tool('probe', {handler: () => 1})]",
        """session.onStatus(() => { throw new Error("sync failure") });
        session.onStatus(async () => { throw new Error("async failure") });
        session.onStatus((status, ctx) => { ctx.status = "changed" });
        const dispose = session.onStatus(() => seen.push("disposed of"));
        session.onStatus((status, ctx) => seen.push(ctx.status));
        dispose(); dispose();""",
    )
    assert shared.call("probe", thread=thread)["result"] == 1
    shared.run("await session.end()")
    assert shared.run("return seen") == ["waiting_tool_result", "idle", "ended"]
    errors = shared.take_errors()
    assert sum("sync failure" in error for error in errors) == 6
