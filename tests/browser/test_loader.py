"""The loader: how Python gets into a page, in which order scripts run, and where their output goes."""

import pytest
from playwright.sync_api import Request, Route

from tests.browser.browser_page import LOADER, PLAIN_LOADER, BrowserPage
from tests.browser.worker_page import sdk_wheel
from tests.harness import CoreProcess

_MAKE_SESSION = """
const probe = { name: "probe", description: "A.", argsSchema: { type: "object" }, handler: () => "here" };
globalThis.session = await new given.Pedelec().createSession({ skills: { guidance: "", tools: [probe] } });
return session.sessionId;
"""


_DYNAMIC_TAG = "document.head.append(Object.assign(document.createElement('script'), {src: '/pedelec.js'}))"


@pytest.mark.parametrize(
    "tag",
    [
        '<script type="module" src="/pedelec.js"></script>',
        '<script type="module">import { Pedelec } from "/pedelec.mjs";</script>',
        '<script>import("/pedelec.js")</script>',
        f"<script>{_DYNAMIC_TAG}</script>",
    ],
)
def test_any_way_to_load_it_makes_python_ready(page: BrowserPage, tag: str) -> None:
    page.open(f'<p>Hello</p>\n<script type="text/pedelec">import js; js.ran = True</script>\n{tag}')
    page.wait_for("globalThis.pedelec && globalThis.ran")
    page.run("await pedelec.ready")
    assert page.run("return pedelec.version") == "0.1.0"
    assert len(page.events("ready")) == 1


def test_a_tag_in_the_head_finds_scripts_below_and_names_of_the_pages_own(page: BrowserPage) -> None:
    page.open(
        """<div id="pedelec"></div>
        <script>
          var pedelec = new pedelec.Pedelec();  // waits for Python
          pedelec.getApprovalStatus().then(({ approved }) => { globalThis.approved = approved; });
        </script>
        <script type="text/pedelec">import js; js.ran = True</script>""",
        head=LOADER,
    )
    page.wait_for("globalThis.ran && globalThis.approved")


def test_more_copies_of_the_tag_do_no_harm(page: BrowserPage) -> None:
    other = page.core.url.replace("127.0.0.1", "localhost")
    page.open(
        f"""{LOADER}{LOADER}
        <script src="{other}/pedelec.js"></script>
        <script type="module" src="/pedelec.js"></script>
        <script type="module">
          import {{ Pedelec }} from "/pedelec.mjs";
          globalThis.same = Pedelec === pedelec.Pedelec;
        </script>
        <script type="text/pedelec">import js; js.runs = (getattr(js, "runs", 0) or 0) + 1</script>"""
    )
    page.wait_for("globalThis.runs && 'same' in globalThis")
    page.run("await pedelec.ready")
    assert page.run("return [runs, same]") == [1, True]
    assert len(page.events("ready")) == 1
    assert _times_fetched(page, "manifest.json") == 1
    warnings = [line for line in page.console if line.startswith("warning")]
    assert any(other in line and page.core.url in line for line in warnings)


def _times_fetched(page: BrowserPage, file: str) -> int:
    entries = f"performance.getEntriesByName(location.origin + '/runtime/{file}')"
    return int(page.run(f"return {entries}.length"))


def test_progress_tells_how_far_the_start_is(page: BrowserPage) -> None:
    page.start('<script type="text/pedelec">1</script>')
    page.wait_for("__events.some(({detail}) => detail?.stage === 'scripts' && detail.loaded === 1)")
    progress = page.events("progress")
    stages = list(dict.fromkeys(step["stage"] for step in progress))
    assert stages == ["runtime", "python", "sdk", "scripts"]
    for stage in stages:
        steps = [step for step in progress if step["stage"] == stage]
        assert [step["loaded"] for step in steps] == sorted(step["loaded"] for step in steps)
        assert steps[-1]["loaded"] == steps[-1]["total"] > 0
    runtime = [step for step in progress if step["stage"] == "runtime"]
    assert runtime[0]["loaded"] == 0
    assert runtime[0]["total"] > 10_000_000
    assert len(runtime) > 10


# --- scripts -------------------------------------------------------------------------------------------


def test_scripts_run_in_document_order_with_top_level_await(page: BrowserPage) -> None:
    page.write("second.py", "import asyncio\nawait asyncio.sleep(0)\norder.append('second')\n")
    page.open(
        f"""{LOADER}
        <script type="text/pedelec">
            import asyncio, js
            order = []
            await asyncio.sleep(0.05)
            order.append("first")
        </script>
        <script type="text/pedelec" src="second.py"></script>
        <script type="text/pedelec">
            order.append("third")
            js.order = ",".join(order)
        </script>"""
    )
    page.wait_for("globalThis.order")
    assert page.run("return order") == "first,second,third"


def test_scripts_added_before_and_after_ready_run_once(page: BrowserPage) -> None:
    page.open(LOADER)
    page.run(
        """globalThis.ran = [];
        globalThis.add = (source) => {
          const script = document.createElement("script");
          Object.assign(script, { type: "text/pedelec", textContent: source });
          document.body.append(Object.assign(document.createElement("div")));
          document.body.lastChild.append(script);
        };
        add("import js; js.ran.push('before')");
        await pedelec.ready;
        add("js.ran.push('after')");
        const fragment = document.createElement("section");
        fragment.innerHTML = '<p><script type="text/pedelec">js.ran.push("nested")</' + 'script></p>';
        document.body.append(fragment);
        document.body.append(fragment);"""
    )
    page.wait_for("ran.length >= 3")
    assert page.run("await new Promise((resolve) => setTimeout(resolve, 200)); return ran") == [
        "before",
        "after",
        "nested",
    ]


def test_a_script_that_raises_is_told_with_file_and_line_and_stops_nothing(page: BrowserPage) -> None:
    page.write("broken.py", "import json\n\ndef fail():\n    json.loads('{')\n\nfail()\n")
    page.write("unparsable.py", "x = 1\ny = (\n")
    page.open(
        f"""{LOADER}
        <script type="text/pedelec" src="broken.py"></script>
        <script type="text/pedelec" src="unparsable.py"></script>
        <script type="text/pedelec" src="missing.py"></script>
        <script type="text/pedelec">
            ok = 1
            1 / 0
        </script>
        <script type="text/pedelec">raise SystemExit(0)</script>
        <script type="text/pedelec">raise SystemExit("given up")</script>
        <script type="text/pedelec">import js; js.reached = ok</script>"""
    )
    page.wait_for("globalThis.reached")
    failures = [(failure["script"], failure["line"]) for failure in page.events("failed")]
    here = f"{page.core.url}/index.html"
    assert failures == [
        (f"{page.core.url}/broken.py", 4),
        (f"{page.core.url}/unparsable.py", 2),
        (f"{page.core.url}/missing.py", None),
        (f"inline script 1 of {here}", 3),
        (f"inline script 3 of {here}", 1),
    ]
    names = page.run(
        "return __events.filter(({kind}) => kind === 'failed').map(({detail}) => detail.error.name)"
    )
    assert names == ["JSONDecodeError", "SyntaxError", "Error", "ZeroDivisionError", "SystemExit"]
    errors = "\n".join(page.take_errors())
    assert "broken.py failed at line 4" in errors
    assert "    json.loads('{')" in errors
    assert "eval_code" not in errors
    assert "ZeroDivisionError: division by zero" in errors
    page.run("await pedelec.ready")


def test_a_script_that_never_ends_does_not_hold_up_the_page(page: BrowserPage) -> None:
    page.open(f'{LOADER}<script type="text/pedelec">import asyncio; await asyncio.Event().wait()</script>')
    thread = page.run(f"await pedelec.ready; const given = pedelec; {_MAKE_SESSION}")
    assert page.call("probe", thread=thread)["result"] == "here"


def test_packages_come_from_core_those_of_typed_tools_unasked(page: BrowserPage) -> None:
    page.open(
        f"""{PLAIN_LOADER}
        <script type="text/pedelec" data-packages=" typing-extensions
            annotated-types ">
            import annotated_types, js, sys, typing_extensions
            js.before = "pydantic" in sys.modules
        </script>
        <script type="text/pedelec">
            from pedelec import Pedelec, tool

            @tool
            def double(number: int) -> int:
                "Double a number."
                return number * 2

            session = await Pedelec().create_session(tools=[double])
            js.thread = session.session_id
        </script>
        <script type="text/pedelec">
            import pydantic
            js.version = pydantic.VERSION
        </script>"""
    )
    page.wait_for("globalThis.version")
    assert page.run("return [before, version[0]]") == [False, "2"]
    assert page.call("double", '{"number": 21}', thread=page.run("return thread"))["result"] == 42


_PRINTING = """
import js
from pedelec import Pedelec, define_tool

def probe():
    print("printed by the handler")
    return "quiet"

tools = [define_tool(name="probe", description="A.", args_schema={"type": "object"}, handler=probe)]
session = await Pedelec().create_session(tools=tools)
js.thread = session.session_id
"""


def test_print_goes_to_the_console_and_nowhere_else(shared: BrowserPage) -> None:
    shared.python(_PRINTING)
    call = shared.start_call("probe", thread=shared.run("return thread")).finish()
    assert call.json["result"] == "quiet"
    assert "printed" not in call.stdout.decode() + call.stderr + shared.core.log
    shared.wait_for("true")
    assert "log: printed by the handler" in shared.console


def test_a_plain_start_without_typed_tools_never_loads_pydantic(page: BrowserPage) -> None:
    ask = "import js, sys; modules = set(sys.modules)"
    page.open(f'{PLAIN_LOADER}<script type="text/pedelec">{ask}{_PRINTING}</script>')
    page.wait_for("globalThis.thread")
    assert page.call("probe", thread=page.run("return thread"))["result"] == "quiet"
    page.python("js.loaded, js.later = len(modules), ' '.join(sorted(set(sys.modules) - modules))")
    assert page.run("return later") == ""
    assert page.run("return loaded") <= 245
    fetched = page.run("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert not [name for name in fetched if "pydantic" in name]
    assert len(fetched) <= 25, fetched


def test_python_has_no_stacks_of_its_own_and_the_page_keeps_the_ability(shared: BrowserPage) -> None:
    shared.page.goto("about:blank")
    before = shared.run("return typeof WebAssembly.Suspending")
    shared.start()
    shared.python("import js\nfrom pyodide.ffi import can_run_sync\njs.sync = can_run_sync()")
    assert shared.run("return [sync, typeof WebAssembly.Suspending]") == [False, before]


# --- the network ---------------------------------------------------------------------------------------


def test_the_page_works_with_every_other_host_blocked(page: BrowserPage) -> None:
    strays: list[str] = []

    def decide(route: Route, request: Request) -> None:
        if request.url.startswith(f"{page.core.url}/"):
            route.continue_()
        else:
            strays.append(request.url)
            route.abort()

    page.page.route("**/*", decide)
    page.start(
        '<script type="text/pedelec" data-packages="pydantic">import pydantic, js; js.ran = True</script>'
    )
    page.wait_for("globalThis.ran")
    thread = page.run(f"const given = pedelec; {_MAKE_SESSION}")
    assert page.call("probe", thread=thread)["result"] == "here"
    assert strays == []


def test_a_page_that_is_left_while_it_loads_does_no_harm(page: BrowserPage, core: CoreProcess) -> None:
    for _ in range(3):
        page.open(LOADER)
        page.page.goto("about:blank")
    page.start()
    thread = page.run(f"const given = pedelec; {_MAKE_SESSION}")
    assert page.call("probe", thread=thread)["result"] == "here"
    assert "Traceback" not in core.log


# --- a Pyodide of the page's own -----------------------------------------------------------------------

_OWN_PYODIDE = """<script type="module">
  import { loadPyodide } from "/runtime/pyodide.mjs";
  globalThis.own = await loadPyodide({ indexURL: "/runtime/" });
</script>"""


_PYTHON_SESSION = """
return await own.runPythonAsync(`
from pedelec import Pedelec, define_tool
schema = {"type": "object"}
tools = [define_tool(name="probe", description="A.", args_schema=schema, handler=lambda: "python")]
session = await Pedelec().create_session(tools=tools)
session.session_id`)
"""


def test_attach_serves_both_faces_from_the_pages_own_pyodide(page: BrowserPage) -> None:
    script = '<script type="text/pedelec">import js; js.ran = True</script>'
    page.open(f'<script src="/pedelec.js?attach"></script>{script}{_OWN_PYODIDE}')
    page.wait_for("globalThis.own")
    page.run("await pedelec.attach(own); await pedelec.attach(own); await pedelec.ready;")
    thread = page.run(f"const given = pedelec; {_MAKE_SESSION}")
    assert page.call("probe", thread=thread)["result"] == "here"
    assert page.call("probe", thread=page.run(_PYTHON_SESSION))["result"] == "python"
    page.wait_for("globalThis.ran")
    assert _times_fetched(page, "pyodide.asm.wasm") == 1


_INSTALL_SDK = """
await own.loadPackage("micropip");
await own.runPythonAsync(`import micropip; await micropip.install("${location.origin}/wheels/%s")`);
"""


def test_the_installed_wheel_needs_no_tag_on_the_page(page: BrowserPage) -> None:
    page.open(_OWN_PYODIDE)
    page.wait_for("globalThis.own")
    page.run(_INSTALL_SDK % sdk_wheel())
    thread = page.run(_PYTHON_SESSION.replace("Pedelec()", f"Pedelec('{page.core.url}/')"))
    assert page.call("probe", thread=thread)["result"] == "python"


@pytest.mark.browsers("chromium")
def test_attach_refuses_a_python_that_uses_another_version_of_the_sdk(page: BrowserPage) -> None:
    page.open(f'<script src="/pedelec.js?attach"></script>{_OWN_PYODIDE}')
    page.wait_for("globalThis.own")
    page.run(_INSTALL_SDK % sdk_wheel())
    page.run("own.runPython('import pedelec; pedelec.__version__ = \"0.0.1\"')")
    error = page.raised("await pedelec.attach(own)")
    assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
    assert "version 0.0.1" in error["message"]


def test_attach_works_beside_the_loaders_own_python(page: BrowserPage) -> None:
    page.open(f"{LOADER}{_OWN_PYODIDE}")
    page.wait_for("globalThis.own")
    page.run("await pedelec.attach(own)")
    thread = page.run(f"const given = pedelec; {_MAKE_SESSION}")
    assert page.call("probe", thread=thread)["result"] == "here"
    assert page.call("probe", thread=page.run(_PYTHON_SESSION))["result"] == "python"
