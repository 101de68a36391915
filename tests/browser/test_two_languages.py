"""Where Python and JavaScript meet in one page: foreign values, promises and callbacks."""

from typing import Any

import pytest

from tests.browser.browser_page import BrowserPage

_SETUP = """
import js
from pedelec import Pedelec, define_tool

async def make_session(handler):
    schema = {"type": "object"}
    tools = [define_tool(name="probe", description="A probe.", args_schema=schema, handler=handler)]
    session = await Pedelec().create_session(tools=tools)
    js.thread = session.session_id
    return session
"""


def _answer(page: BrowserPage, handler: str) -> Any:
    """The answer of a Python handler, given as the body of a function."""
    body = "\n".join(f"    {line}" for line in handler.splitlines())
    page.python(f"{_SETUP}\nasync def handler(args, ctx):\n{body}\n\nsession = await make_session(handler)\n")
    answer = page.call("probe", thread=page.run("return thread"))
    assert answer["ok"] is True, answer
    return answer["result"]


_CONVERTED = {
    "a plain object": ("return js.JSON.parse('{\"a\": [1, null, true]}')", {"a": [1, None, True]}),
    "null": ("return js.JSON.parse('null')", None),
    "null inside": ("return {'n': js.JSON.parse('[null]')[0]}", {"n": None}),
    "an object inside": ("return {'o': [js.JSON.parse('{\"a\": 1}')]}", {"o": [{"a": 1}]}),
    "a promise": ("return js.Promise.resolve(js.JSON.parse('{\"a\": 1}'))", {"a": 1}),
    "a thenable": ("return js.Function('return {then(r) { r({a: 1}) }}')()", {"a": 1}),
    "a promise of a promise's future": ("return await js.Promise.resolve(5)", 5),
}


@pytest.mark.parametrize("case", _CONVERTED.values(), ids=list(_CONVERTED))
def test_javascript_values_in_python_results_are_converted(
    shared: BrowserPage, case: tuple[str, Any]
) -> None:
    handler, expected = case
    assert _answer(shared, handler) == expected


def test_pictures_and_sound_are_made_in_either_language(shared: BrowserPage) -> None:
    made = _answer(
        shared,
        "from pedelec import image\nreturn image(js.Uint8Array.new([137,80,78,71,13,10,26,10]))",
    )
    assert made == {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    blocks = shared.run(
        """
        const { image, audio, resource, mixed } = await import("/pedelec.mjs");
        const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
        const png = new Uint8Array([0, 137, 80, 78, 71, 13, 10, 26, 10]).subarray(1);
        const sound = audio("T2dnUw==", { mimeType: "audio/ogg" });
        return mixed(["seen:", image(canvas), image(png), sound, resource("app://a", { text: "x" })],
          { structured: { n: 1 } });
        """
    )
    assert [block["type"] for block in blocks["content"]] == ["text", "image", "image", "audio", "resource"]
    assert blocks["content"][2] == made["content"][0]
    assert blocks["structuredContent"] == {"n": 1}
    problem = "try { pedelec.image(given) } catch (error) { return `${error.name}: ${error.message}` }"
    assert shared.run(problem, "no base64!").startswith("TypeError: The text is no base64")
    assert "await it.arrayBuffer()" in shared.run(problem.replace("given", "new Blob([])"))


_REFUSED = {
    "a Map": ("return {'m': js.Map.new()}", "$.m", "Map"),
    "a date far down": (
        "return [js.Function('return {rows: [{at: new Date()}]}')()]",
        "$[0].rows[0].at",
        "Date",
    ),
    "the document": ("return js.document", "$", "HTMLDocument"),
    "a function": ("return {'f': js.alert}", "$.f", "function"),
    "a Python object in a JavaScript one": (
        "from pyodide.ffi import to_js, create_proxy\nreturn js.Array.of(create_proxy({1, 2}))",
        "$[0]",
        "Python set",
    ),
}


@pytest.mark.parametrize("case", _REFUSED.values(), ids=list(_REFUSED))
def test_what_they_are_in_javascript_is_what_refused_values_are_called(
    shared: BrowserPage, case: tuple[str, str, str]
) -> None:
    handler, path, type_name = case
    error = _answer(shared, handler)["error"]
    assert error["code"] == "TOOL_RESULT_NOT_SERIALIZABLE"
    assert (error["details"]["path"], error["details"]["type"]) == (path, type_name)
    shared.take_errors()


_REJECTIONS = {
    "text": ("'nope'", "nope"),
    "nothing": ("", "undefined"),
    "an Error": ("new TypeError('nope')", "nope"),
    "an object": ("{reason: 'nope'}", "nope"),
}


@pytest.mark.parametrize("wait", ["return promise", "return await promise", "return [await promise]"])
@pytest.mark.parametrize("case", _REJECTIONS.values(), ids=list(_REJECTIONS))
def test_a_promise_that_rejects_with_anything_is_answered(
    shared: BrowserPage, case: tuple[str, str], wait: str
) -> None:
    reason, mention = case
    made = f'js.Function("return Promise.reject({reason})")()'
    error = _answer(shared, f"promise = {made}\n{wait}")["error"]
    assert error["code"] == "TOOL_HANDLER_ERROR"
    assert mention in error["message"]
    shared.take_errors()


def test_javascript_functions_serve_python_sessions(shared: BrowserPage) -> None:
    shared.run(
        """globalThis.events = [];
        globalThis.handle = (args, ctx) => ({ got: args, tool: ctx.tool });
        globalThis.handleAny = async (tool, args, ctx) => [tool, args, typeof ctx.progress];
        globalThis.note = (...event) => { events.push(event); };"""
    )
    shared.python(
        f"""{_SETUP}
session = await make_session(None)
session.on_tool("probe", js.handle)
dispose = session.on_tool(js.handleAny)
session.on_status(js.note)
session.on_ended(js.note)
js.disposeGeneric = dispose
"""
    )
    thread = shared.run("return thread")
    assert shared.call("probe", '{"n": null}', thread=thread)["result"] == {
        "got": {"n": None},
        "tool": "probe",
    }
    shared.python("session.on_tool('probe', js.handle)()")
    assert shared.call("probe", '{"n": 1}', thread=thread)["result"] == ["probe", {"n": 1}, "function"]
    shared.python("await session.end()")
    events = shared.run("return events")
    assert [event[0] for event in events[:2]] == ["waiting_tool_result", "idle"]
    assert events[0][1]["previousStatus"] == "idle"
    assert events[-1][0]["sessionId"] == thread
