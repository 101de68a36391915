"""JavaScript results: each arrives exactly as it was, or as an error that says where and what it is."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pedelec.json_errors import abridged
from tests.browser.browser_page import BrowserPage

_PROBE = """
const probe = { name: "probe", description: "A probe.", argsSchema: { type: "object" } };
const session = await new pedelec.Pedelec().createSession({ skills: { guidance: "", tools: [probe] } });
session.onTool("probe", ({ expression }) => new Function(`return (${expression})`)());
globalThis.__errors = [];
session.onError((error) => __errors.push(error));
return session.sessionId;
"""

type Probe = Callable[[str], Any]


@pytest.fixture
def probe(shared: BrowserPage) -> Iterator[Probe]:
    """Gives the answer for what a JavaScript expression evaluates to."""
    thread = shared.run(_PROBE)

    def evaluate(expression: str) -> Any:
        answer = (
            shared.start_call("probe", json.dumps({"expression": expression}), thread=thread).finish().json
        )
        assert answer["ok"] is True, answer
        return answer["result"]

    yield evaluate
    shared.take_errors()  # refused results are logged


_EXACT: dict[str, tuple[str, Any]] = {
    "null": ("null", None),
    "undefined": ("undefined", None),
    "booleans": ("[true, false]", [True, False]),
    "an empty string": ("''", ""),
    "text with quotes, controls and astral characters": (
        r"'\"\\\u0000\u001f\u2028\u{1F378}'",
        '"\\\x00\x1f\u2028\U0001f378',
    ),
    "text that looks like an escaped surrogate": (r"'\\ud83c'", "\\ud83c"),
    "the largest integers": ("[2**53 - 1, -(2**53 - 1)]", [2**53 - 1, -(2**53 - 1)]),
    "fractions": ("[0.1, -1.5e-7, 5e-324]", [0.1, -1.5e-7, 5e-324]),
    "numbers that JSON writes with an exponent": (
        "[1e21, 1.7976931348623157e308]",
        [1e21, 1.7976931348623157e308],
    ),
    "minus zero, as zero": ("[-0]", [0]),
    "holes of a sparse array, as null": ("[1, , 3]", [1, None, 3]),
    "undefined in an array, as null": ("[undefined]", [None]),
    "undefined members, left out": ("{a: undefined, b: {c: undefined}}", {"b": {}}),
    "keys that are names elsewhere": (
        """JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "a b": 4, "": 5}')""",
        {"__proto__": 1, "constructor": 2, "toString": 3, "a b": 4, "": 5},
    ),
    "objects under __proto__": ("""JSON.parse('{"__proto__": {"a": [1]}}')""", {"__proto__": {"a": [1]}}),
    "objects without a prototype": ("Object.assign(Object.create(null), {a: 1})", {"a": 1}),
    "shared references that are no cycle": (
        "((s) => ({a: s, b: [s, s]}))({x: 1})",
        {"a": {"x": 1}, "b": [{"x": 1}] * 2},
    ),
    "getters": ("{get a() { return [1]; }}", {"a": [1]}),
    "proxies of plain objects": ("new Proxy({a: [1]}, {})", {"a": [1]}),
    "proxies of arrays": ("new Proxy([1, {b: 2}], {})", [1, {"b": 2}]),
    "frozen objects": ("Object.freeze({a: Object.freeze([1])})", {"a": [1]}),
    "what is not enumerable, left out": ("Object.defineProperty({a: 1}, 'b', {value: () => 1})", {"a": 1}),
    "an array's elements without its other properties": ("'xay'.match(/a/)", ["a"]),
    "objects and arrays of another realm": (
        """(() => {
          const frame = document.createElement("iframe");
          document.body.append(frame);
          const value = frame.contentWindow.Function("return {a: [1, {b: 2}]}")();
          frame.remove();
          return value;
        })()""",
        {"a": [1, {"b": 2}]},
    ),
    "data in a member named toJSON": ("{toJSON: 5}", {"toJSON": 5}),
    "promises, awaited": ("Promise.resolve({a: 1})", {"a": 1}),
    "thenables, awaited": ("{then(resolve) { resolve({a: 1}); }}", {"a": 1}),
}


@pytest.mark.parametrize("case", _EXACT.values(), ids=list(_EXACT))
def test_arrives_exactly(probe: Probe, case: tuple[str, Any]) -> None:
    expression, expected = case
    result = probe(expression)
    assert result == expected
    assert _types(result) == _types(expected)


def test_a_hundred_levels_arrive(probe: Probe) -> None:
    result = probe("(() => { let v = []; for (let i = 0; i < 99; i++) v = [v]; return v })()")
    assert _depth(result) == 100


def _types(value: Any) -> Any:
    """Tells 1 from True, which are equal in Python."""
    if isinstance(value, dict):
        return {key: _types(member) for key, member in value.items()}
    return [_types(item) for item in value] if isinstance(value, list) else isinstance(value, bool)


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list):
        depth += 1
        value = value[0] if value else None
    return depth


_REFUSED: dict[str, tuple[str, str | None, str | None]] = {
    "NaN": ("{mean: NaN}", "$.mean", "number"),
    "an infinity": ("[1, -Infinity]", "$[1]", "number"),
    "an integer past 2^53": ("{id: 2**53}", "$.id", "number"),
    "an integer that only looks like a float": ("{id: 1e20}", "$.id", "number"),
    "a bigint": ("{rows: [0, 0, 0, {n: 1n}]}", "$.rows[3].n", "bigint"),
    "a symbol": ("[Symbol('x')]", "$[0]", "symbol"),
    "a symbol as key": ("{a: {[Symbol('x')]: 1}}", "$.a", "symbol"),
    "a function": ("{f() {}}", "$.f", "function"),
    "a class": ("{C: class C {}}", "$.C", "function"),
    "half a surrogate pair": (r"{t: '\ud83c'}", "$.t", "string"),
    "half a surrogate pair in a key": (r"{a: {'\ud83c': 1}}", "$.a", "string"),
    "a Map": ("{m: new Map()}", "$.m", "Map"),
    "a Set": ("new Set([1])", "$", "Set"),
    "a WeakMap": ("new WeakMap()", "$", "WeakMap"),
    "a Date": ("[new Date(0)]", "$[0]", "Date"),
    "a RegExp": ("{r: /x/}", "$.r", "RegExp"),
    "a URL": ("{u: new URL('https://x.test')}", "$.u", "URL"),
    "an Error": ("{e: new TypeError('x')}", "$.e", "TypeError"),
    "a nested promise": ("{p: Promise.resolve(1)}", "$.p", "Promise"),
    "a typed array": ("{a: new Uint8Array(2)}", "$.a", "Uint8Array"),
    "an ArrayBuffer": ("new ArrayBuffer(2)", "$", "ArrayBuffer"),
    "a DataView": ("new DataView(new ArrayBuffer(2))", "$", "DataView"),
    "a Blob": ("[new Blob([])]", "$[0]", "Blob"),
    "a File": ("{f: new File([], 'a')}", "$.f", "File"),
    "an element": ("{el: document.body}", "$.el", "HTMLBodyElement"),
    "a text node": ("document.createTextNode('x')", "$", "Text"),
    "a node list": ("document.querySelectorAll('body')", "$", "NodeList"),
    "an element collection": ("{c: document.children}", "$.c", "HTMLCollection"),
    "document.all, which claims to be undefined": ("{a: document.all}", "$.a", "HTMLAllCollection"),
    "the window": ("{w: window}", "$.w", "Window"),
    "an event": ("new Event('x')", "$", "Event"),
    "a boxed string": ("[new String('x')]", "$[0]", "String"),
    "a boxed number": ("[new Number(1)]", "$[0]", "Number"),
    "a class instance": ("[new (class Point { x = 1 })()]", "$[0]", "Point"),
    "an instance with toJSON": ("new (class Money { toJSON() { return 1 } })()", "$", "Money"),
    "a toJSON method": ("{a: {toJSON() { return 1 }}}", "$.a.toJSON", "function"),
    "an array subclass": ("new (class Stack extends Array {})(3)", "$", "Stack"),
    "an object that inherits from a plain one": ("Object.create({a: 1})", "$", "Object"),
    "a generator": ("(function* () {})()", "$", None),
    "a cycle": ("((o) => (o.a = [o], o))({})", "$.a[0]", "Object"),
    "a cycle of two": ("((a, b) => (a.b = b, b.a = a, a))({}, {})", "$.b.a", "Object"),
    "a cycle in an array": ("((a) => (a.push(a), a))([])", "$[0]", "Array"),
    "too many levels": (
        "(() => { let v = {}; for (let i = 0; i < 100; i++) v = {v}; return v; })()",
        None,
        "Object",
    ),
    "a getter that throws": ("{a: {get b() { throw new Error('no') }}}", "$.a.b", "Object"),
    "a proxy that throws": ("{p: new Proxy({}, {ownKeys() { throw new Error('no') }})}", "$.p", "Object"),
    "a proxy that throws on reading": ("[new Proxy({a: 1}, {get() { throw 1 }})]", None, None),
    "a revoked proxy": (
        "{p: (() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()}",
        "$.p",
        None,
    ),
    "keys that are no identifiers": ("{'a b': {'é': {'0': NaN}}}", '$["a b"]["é"]["0"]', "number"),
    "an overlong key": ("{['k'.repeat(300)]: NaN}", f'$["{"k" * 100}…"]', "number"),
    "a value in a set-up that lies about its name": (
        "{x: new (class { static get name() { throw 1 } })()}",
        "$.x",
        None,
    ),
}


@pytest.mark.parametrize("case", _REFUSED.values(), ids=list(_REFUSED))
def test_is_refused_with_path_type_and_hint(
    shared: BrowserPage, probe: Probe, case: tuple[str, str | None, str | None]
) -> None:
    expression, path, type_name = case
    error = probe(expression)["error"]
    assert error["code"] == "TOOL_RESULT_NOT_SERIALIZABLE", error
    details = error["details"]
    assert path is None or details["path"] == path, details
    assert type_name is None or details["type"] == type_name, details
    for fact in (abridged(details["path"]), details["type"], details["hint"]):
        assert fact
        assert fact in error["message"]
    (reported,) = shared.run("return JSON.parse(JSON.stringify(__errors))")
    assert reported["code"] == "SUBMIT_TOOL_RESULT_FAILED"
    assert reported["details"]["cause"] == "TOOL_RESULT_NOT_SERIALIZABLE"


def test_a_value_that_changes_while_it_is_read_is_read_once(probe: Probe) -> None:
    assert probe("{get n() { globalThis.__n = (globalThis.__n ?? 0) + 1; return __n > 1 ? NaN : 7; }}") == {
        "n": 7
    }


def test_a_to_json_on_the_built_in_prototypes_changes_nothing(shared: BrowserPage, probe: Probe) -> None:
    shared.run(
        "Array.prototype.toJSON = Object.prototype.toJSON = () => 'wrong'; Object.prototype.extra = 1;"
    )
    try:
        assert probe("{a: [1, {b: 2}]}") == {"a": [1, {"b": 2}]}
    finally:
        shared.run(
            "delete Array.prototype.toJSON; delete Object.prototype.toJSON; delete Object.prototype.extra;"
        )


_TOO_LARGE = {
    "a long string": ("'x'.repeat(1024 * 1024)", 1024 * 1024 + 2),
    "many bytes in few characters": ("'\\u{1F378}'.repeat(300 * 1024)", 300 * 1024 * 4 + 2),
    "many small values": ("Array.from({length: 400_000}, (_, i) => i % 10 + 10)", 400_000 * 3 + 1),
    "a sparse array": ("new Array(1_000_000)", 5_000_001),
}


@pytest.mark.parametrize("case", _TOO_LARGE.values(), ids=list(_TOO_LARGE))
def test_too_large_a_result_is_refused_with_its_size(probe: Probe, case: tuple[str, int]) -> None:
    expression, size = case
    error = probe(expression)["error"]
    assert error["code"] == "TOOL_RESULT_TOO_LARGE"
    assert error["details"] == {"size": size, "limit": 1024 * 1024}


_ENDLESS = {
    "a huge sparse array": "new Array(4_000_000_000)",
    "references that double": "(() => { let v = 1; for (let i = 0; i < 60; i++) v = [v, v]; return v })()",
    "a proxy with a lying length": "new Proxy([], {get: (t, k) => k === 'length' ? 2**32 - 1 : t[k]})",
}


@pytest.mark.parametrize("expression", _ENDLESS.values(), ids=list(_ENDLESS))
def test_what_would_never_end_is_refused_soon(probe: Probe, expression: str) -> None:
    assert probe(expression)["error"]["code"] == "TOOL_RESULT_TOO_LARGE"


def test_the_limit_holds_to_the_byte(probe: Probe) -> None:
    assert len(probe("'x'.repeat(1024 * 1024 - 2)")) == 1024 * 1024 - 2
    assert probe("'x'.repeat(1024 * 1024 - 1)")["error"]["code"] == "TOOL_RESULT_TOO_LARGE"
