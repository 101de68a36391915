"""The SDK in a Python that a page runs already: PyScript's, on the oldest Pyodide that is promised."""

from pathlib import Path

import pytest

from tests.browser.browser_page import BrowserPage
from tests.browser.pyscript import CORE_JS, put_pyscript

_PYSCRIPT_PAGE = f'<script src="/pedelec.js?attach"></script><script type="module" src="{CORE_JS}"></script>'
_PYSCRIPT_PAGE += """
<script type="py" config='{"interpreter": "/installed/pyodide/pyodide.mjs"}'>
    import js
    import pyodide_js

    await js.pedelec.attach(pyodide_js)

    from pedelec import Pedelec, define_tool
    from pyscript import document

    def show(args, ctx):
        document.body.dataset.shown = args["text"]
        return {"shown": args["text"], "tool": ctx.tool}

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tools = [define_tool(name="show", description="Show a text.", args_schema=schema, handler=show)]
    session = await Pedelec().create_session(tools=tools)
    js.version = pyodide_js.version
    js.thread = session.session_id
</script>"""


@pytest.fixture(scope="module", autouse=True)
def _installed(site: Path) -> None:
    put_pyscript(site)


def test_pyscript_on_the_oldest_pyodide_serves_tools_in_both_languages(page: BrowserPage) -> None:
    page.open(_PYSCRIPT_PAGE)
    page.wait_for("globalThis.thread")
    assert page.run("return version") == "0.28.0"
    answer = page.call("show", '{"text": "hello"}', thread=page.run("return thread"))
    assert answer["result"] == {"shown": "hello", "tool": "show"}
    assert page.run("return document.body.dataset.shown") == "hello"
    thread = page.run(
        """await pedelec.ready;
        const argsSchema = { type: "object" };
        const probe = { name: "probe", description: "A.", argsSchema, handler: () => "here" };
        return (await new pedelec.Pedelec().createSession({ tools: [probe] })).sessionId;"""
    )
    assert page.call("probe", thread=thread)["result"] == "here"
