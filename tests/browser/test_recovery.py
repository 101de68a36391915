"""The kit for errors that heal, from JavaScript and from Python in a real page, as the agent sees it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.browser_page import BrowserPage

type Answer = Callable[..., Any]


@pytest.fixture
def answer(shared: BrowserPage) -> Iterator[Answer]:
    """What the agent gets from a JavaScript handler, given as the body of `async (args, context) => {…}`."""
    thread = shared.run(
        """
        const argsSchema = { type: "object" };
        globalThis.session = await new pedelec.Pedelec().createSession({ guidance: "", tools: [
          { name: "probe", description: "Probe.", argsSchema },
          { name: "look", description: "Look.", argsSchema, readOnly: true, handler: () => 1 },
        ]});
        return session.sessionId;
        """
    )

    def call(body: str, args: str = "{}") -> Any:
        shared.run(
            "const { ToolError, recovery } = pedelec;"
            f"session.onTool('probe', async (args, context) => {{ {body} }});"
        )
        return shared.call("probe", args, thread=thread)["result"]

    yield call
    shared.run("await session.end()")


_ERRORS: dict[str, tuple[str, dict[str, Any], str]] = {
    "retryable": (
        "throw ToolError.retryable('BUSY', 'Busy.', { after: 3 })",
        {"code": "BUSY", "class": "retryable", "retryAfterSeconds": 3},
        "Wait 3 s, then make the same call: probe(n=1)",
    ),
    "returned": (
        "return ToolError.retryable('BUSY', 'Busy.', { after: 3 })",
        {"code": "BUSY", "class": "retryable", "retryAfterSeconds": 3},
        "Wait 3 s, then make the same call: probe(n=1)",
    ),
    "permanent": (
        "throw ToolError.permanent('GONE', 'Gone.', { recoverySteps: ['look()'], effects: 'none' })",
        {"code": "GONE", "class": "permanent", "effects": "none"},
        "look()",
    ),
    "userInput": (
        """const options = [{ label: 'A', value: 2 }];
        throw ToolError.userInput('WHICH', 'Which?', { options, details: { argument: 'n' } });""",
        {"code": "WHICH", "class": "userInput"},
        "Ask the user which one is meant, then make its call: “A”: probe(n=2)",
    ),
    "authRequired": (
        "throw ToolError.authRequired('OUT', 'Signed out.', { reconnect: 'Sign in' })",
        {"code": "OUT", "class": "authRequired", "errorType": "auth"},
        "Ask the user to renew access: Sign in",
    ),
    "notConfigured": (
        "throw ToolError.notConfigured('the key', 'Enter it')",
        {"code": "NOT_CONFIGURED", "class": "userInput", "message": "The key is not set up."},
        "Ask the user to set it up: Enter it",
    ),
    "of its own": (
        "throw new ToolError({ code: 'MINE', message: 'Mine.', class: 'retryable', retryAfterSeconds: 2 })",
        {"code": "MINE", "class": "retryable", "retryAfterSeconds": 2},
        "Wait 2 s, then make the same call: probe(n=1)",
    ),
    "chooseOne": (
        """const towns = [{ id: 1, name: 'Ulm', at: 'Donau' }, { id: 2, name: 'Ulm', at: 'Lein' }];
        recovery.chooseOne('Ulm', towns, { argument: 'n' });""",
        {"code": "AMBIGUOUS_CHOICE", "class": "userInput"},
        (
            "Ask the user which one is meant, then make its call: "
            "“Ulm (Donau)”: probe(n=1); “Ulm (Lein)”: probe(n=2)"
        ),
    ),
    "gatherParts": (
        "return await recovery.gatherParts({ a: () => { throw new DOMException('x', 'TimeoutError') } })",
        {"code": "NO_PART_WORKED", "class": "retryable", "retryAfterSeconds": 5},
        "Wait 5 s, then make the same call: probe(n=1)",
    ),
    "firstThatWorks": (
        """const run = () => { throw ToolError.permanent('X', 'x.', { effects: 'none' }) };
        const ways = [{ name: 'chat', run, effects: 'posts' }, { name: 'mail', run, effects: 'mails' }];
        return await recovery.firstThatWorks(ways, { argument: 'by' });""",
        {"code": "FALLBACK_NEEDS_CONSENT", "class": "userInput"},
        'Ask the user whether that is wanted; if so, make its call: “mail: mails”: probe(n=1, by="mail")',
    ),
    "upstreamError of a Response": (
        """const response = new Response('secret', { status: 429, headers: { 'Retry-After': '7' } });
        throw recovery.upstreamError(response, { service: 'the price service' });""",
        {
            "code": "UPSTREAM_FAILED",
            "class": "retryable",
            "retryAfterSeconds": 7,
            "message": "The price service gets too many requests (HTTP 429).",
        },
        "Wait 7 s, then make the same call: probe(n=1)",
    ),
    "upstreamError of fetch": (
        "try { await fetch('http://127.0.0.1:1/') } catch (error) { return recovery.upstreamError(error) }",
        {"code": "UPSTREAM_FAILED", "class": "retryable", "errorType": "upstream_5xx"},
        "Wait 5 s, then make the same call: probe(n=1)",
    ),
    "an aborted fetch": (
        "await fetch('/', { signal: AbortSignal.abort() })",
        {"code": "TOOL_HANDLER_ERROR", "class": "permanent", "errorType": "aborted"},
        "See whether it took effect: look()",
    ),
    "an error with a response": (
        "throw Object.assign(new Error('Request failed'), { response: { status: 401, headers: {} } })",
        {"code": "TOOL_HANDLER_ERROR", "class": "authRequired", "errorType": "auth"},
        "Ask the user to renew the page's access to the service that it uses.",
    ),
    "requireVersion": (
        "recovery.requireVersion(args.n, 4, { what: 'the board', read: 'look' })",
        {
            "code": "VERSION_CONFLICT",
            "class": "permanent",
            "message": "The board is at version 4, and the call was for 1. Nothing was done.",
        },
        "Read the board anew: look()",
    ),
    "staleCall": (
        "return recovery.staleCall('the dialog was closed')",
        {"code": "STALE_CALL", "class": "permanent", "effects": "none"},
        "Look again: look()",
    ),
}


@pytest.mark.parametrize("case", _ERRORS)
def test_an_error_of_the_kit_reaches_the_agent_with_its_next_step(
    shared: BrowserPage, answer: Answer, case: str
) -> None:
    body, fields, first_step = _ERRORS[case]
    error = answer(body, '{"n":1}')["error"]
    assert fields.items() <= error.items()
    assert error["recoverySteps"][0] == first_step
    shared.take_errors()  # a broken handler and a refused connection are told on the console


def test_what_is_clearly_meant_is_the_candidate_itself(answer: Answer) -> None:
    body = """
    const items = [{ t: "Ulm", deep: { x: 1 } }, { t: "Köln", deep: { x: 2 } }];
    class Town {
      #name;
      constructor(name, id) { this.#name = name; this.id = id; }
      get name() { return this.#name; }
    }
    return [
      recovery.chooseOne("koln", items, { key: "t" }) === items[1],
      recovery.chooseOne("7", [[6], [7]], { key: (one) => one[0] })[0],
      recovery.chooseOne("ulm", ["Ulm", "Bonn"]),
      recovery.chooseOne(7, [new Town("Ulm", 6), new Town("Bonn", 7)]).name,
    ];
    """
    assert answer(body) == [True, 7, "Ulm", "Bonn"]


def test_parts_that_failed_are_null_beside_those_that_worked(answer: Answer) -> None:
    body = """
    const late = async () => { throw ToolError.retryable("LATE", "Late.", { after: 2 }) };
    const sources = { a: () => 1, b: Promise.resolve(2), c: late, d: () => ({ x: new Map() }) };
    return await recovery.gatherParts(sources, { argument: "parts", context });
    """
    told = answer(body, '{"day":1}')
    assert told["parts"] == {"a": 1, "b": 2, "c": None, "d": None}
    assert told["completeness"] == "partial"
    assert told["errors"]["c"]["code"] == "LATE"
    assert told["errors"]["d"]["code"] == "TOOL_RESULT_NOT_SERIALIZABLE"
    assert "$.parts.d.x (Map)" in told["errors"]["d"]["message"]
    assert told["recoverySteps"][0] == 'For c: wait 2 s, then call probe(day=1, parts=["c"])'


def test_a_fallback_says_that_it_is_one(answer: Answer) -> None:
    body = """
    const broken = () => { throw new Error("broken") };
    return await recovery.firstThatWorks([
      { name: "api", run: broken, effects: "none" }, { name: "cache", run: async () => 5, effects: "none" },
    ]);
    """
    told = answer(body)
    assert (told["result"], told["channelUsed"], told["wasFallback"]) == (5, "cache", True)
    assert told["errors"]["api"]["message"] == "Error: broken"


def test_a_constructor_without_what_its_class_needs_is_refused(shared: BrowserPage) -> None:
    for call in (
        "retryable('A', 'a')",
        "userInput('A', 'a')",
        "authRequired('A', 'a', {})",
        "notConfigured('a')",
    ):
        assert shared.raised(f"pedelec.ToolError.{call}")["code"] == "INVALID_INPUT"


def test_the_kit_is_there_from_the_start_and_works_once_python_is_ready(page: BrowserPage) -> None:
    page.open('<script src="/pedelec.js"></script>')
    early = page.raised("new pedelec.ToolError({ code: 'A', message: 'a' }); pedelec.recovery.staleCall()")
    assert early["code"] == "CORE_RUNTIME_UNAVAILABLE"
    page.run("await pedelec.ready")
    made = page.run(
        "const { ToolError, recovery } = await import('/pedelec.mjs'); const error = recovery.staleCall();"
        "return [error instanceof ToolError, error instanceof pedelec.PedelecError, error.name, error.code]"
    )
    assert made == [True, True, "ToolError", "STALE_CALL"]


_PYTHON = """
import js
from pedelec import Pedelec, define_tool
from pedelec.recovery import upstream_error
from pyodide.http import pyfetch

async def status_error(args):
    (await pyfetch("/nothing-here")).raise_for_status()

async def response(args):
    return upstream_error(await pyfetch("/nothing-here"), service="the site")

async def js_response(args):
    return upstream_error(await js.fetch("/nothing-here"), service="the site")

async def unreachable(args):
    await pyfetch("http://127.0.0.1:1/")

async def aborted(args):
    await pyfetch("/", signal=js.AbortSignal.abort())

handlers = [status_error, response, js_response, unreachable, aborted]
tools = [define_tool(name=one.__name__, description="x", args_schema={"type": "object"}, handler=one)
         for one in handlers]
recovery_session = await Pedelec().create_session(tools=tools)
js.recoveryThread = recovery_session.session_id
"""


def test_failures_of_the_browser_are_recognised_in_python(shared: BrowserPage) -> None:
    shared.python(_PYTHON)
    thread = shared.run("return globalThis.recoveryThread")
    expected = {
        "status_error": ("permanent", "upstream_4xx"),
        "response": ("permanent", "upstream_4xx"),
        "js_response": ("permanent", "upstream_4xx"),
        "unreachable": ("retryable", "upstream_5xx"),
        "aborted": ("permanent", "aborted"),
    }
    told = {name: shared.call(name, thread=thread)["result"]["error"] for name in expected}
    assert {name: (one["class"], one["errorType"]) for name, one in told.items()} == expected
    assert "127.0.0.1" not in told["status_error"]["message"]
    shared.python("await recovery_session.end()")
    shared.take_errors()
