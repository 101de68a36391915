"""The SDK in a web worker: installed as any wheel, without a loader, without a document."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.browser_page import BrowserPage
from tests.browser.other_site import OtherSite, serving
from tests.browser.pyscript import put_pyscript
from tests.browser.worker_page import WITH_WORKER, put_runtime, put_worker, python, sdk_wheel
from tests.harness import CoreProcess, run_core

_SESSION = """
import js
from pedelec import Pedelec, define_tool

def where(args, ctx):
    return {{"document": hasattr(js, "document"), "greeting": args["greeting"]}}

async def choose(args, ctx):
    return await ctx.ask("Which one?", options=["left", "right"])

schema = {{"type": "object"}}
client = Pedelec("{core}")
tools = [
    define_tool(name="where", description="Where this is.", args_schema=schema, handler=where),
    define_tool(name="choose", description="Asks.", args_schema=schema, handler=choose),
    define_tool(name="erase", description="Erases.", args_schema=schema, handler=where, approval="always"),
]
session = await client.create_session(tools=tools, webmcp="polyfill")
session.session_id
"""

_OPEN_FROM_JAVASCRIPT = """
import { Pedelec } from "/pedelec.mjs";

const argsSchema = { type: "object" };
const tools = [{ name: "probe", description: "A.", argsSchema, handler: () => typeof document }];
const session = await new Pedelec().createSession({ tools });
postMessage(session.sessionId);
"""


@pytest.fixture(scope="module", autouse=True)
def _on_the_site(site: Path) -> None:
    put_worker(site)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherSite]:
    folder = tmp_path / "other"
    folder.mkdir()
    put_worker(folder)
    put_runtime(folder)
    with serving(folder) as running:
        yield running


@pytest.fixture(scope="module")
def worker(browser: Browser, core: CoreProcess, site: Path) -> Iterator[BrowserPage]:
    """A page on Core's own origin, with the SDK in its worker's Python."""
    context = browser.new_context()
    page = BrowserPage(context, core, site)
    page.open(WITH_WORKER)
    url = f"{core.url}/wheels/{sdk_wheel()}"
    python(page, "import pyodide_js; await pyodide_js.loadPackage('micropip')")
    python(page, f"import micropip; await micropip.install('{url}')")
    yield page
    context.close()


@pytest.fixture
def thread(worker: BrowserPage) -> str:
    return str(python(worker, _SESSION.format(core=worker.core.url)))


def raised(page: BrowserPage, core_url: str) -> list[str]:
    """What a session of a Core's comes to: the error's code and what to do about it."""
    source = f"""
    from pedelec import Pedelec, PedelecError
    outcome = "nothing"
    try:
        await Pedelec({core_url}).create_session()
    except PedelecError as error:
        outcome = "\\n".join([error.code, error.message, *error.recovery_steps])
    outcome
    """
    return str(python(page, source)).split("\n")


def test_an_installed_wheel_serves_tools_from_a_worker(worker: BrowserPage, thread: str) -> None:
    answer = worker.call("where", '{"greeting": "hello"}', thread=thread)
    assert answer["result"] == {"document": False, "greeting": "hello"}
    python(worker, "await session.end(); session.get_status()")


def test_typed_tools_work_once_pydantic_is_installed(worker: BrowserPage, thread: str) -> None:
    python(worker, "await micropip.install('pydantic')")
    source = """
    from pedelec import tool

    @tool
    def double(number: int) -> int:
        "Twice a number."
        return 2 * number

    (await client.create_session(tools=[double])).session_id
    """
    typed = str(python(worker, source))
    assert typed != thread
    assert worker.call("double", '{"number": 4}', thread=typed)["result"] == 8


@pytest.mark.parametrize("tool", ["choose", "erase"])
def test_a_worker_has_no_dialog_and_the_agent_is_told_what_is_missing(
    worker: BrowserPage, thread: str, tool: str
) -> None:
    error = worker.call(tool, thread=thread)["result"]["error"]
    assert error["code"] == "NOT_CONFIGURED"
    assert "client.on_question" in str(error["recoverySteps"])


def test_nobody_ever_sees_a_worker(worker: BrowserPage, thread: str) -> None:
    assert python(worker, "from pedelec._browser import browser_host; browser_host().is_hidden()") is True


def test_a_worker_asks_in_a_way_of_its_own(worker: BrowserPage, thread: str) -> None:
    python(worker, "client.on_question(lambda question: True if question['kind'] == 'approval' else 'left')")
    assert worker.call("choose", thread=thread)["result"] == "left"
    assert worker.call("erase", '{"greeting": "hello"}', thread=thread)["result"]["greeting"] == "hello"


def test_a_worker_of_another_origin_is_told_what_keeps_it_from_core(
    page: BrowserPage, core: CoreProcess, other: OtherSite
) -> None:
    page.page.goto(other.write(WITH_WORKER))
    python(page, "import pyodide_js; await pyodide_js.loadPackage('micropip')")
    python(page, f"import micropip; await micropip.install('{other.origin}/own/{sdk_wheel()}')")
    code, message = raised(page, "")
    assert code == "CORE_RUNTIME_UNAVAILABLE"
    assert "Core's address" in message
    code, _, remedy = raised(page, f"'{other.origin.rpartition(':')[0]}:9'")
    assert code == "CORE_RUNTIME_UNAVAILABLE"
    assert "pedelec-core serve" in remedy
    code, _, remedy = raised(page, f"'{core.url}'")
    assert code == "CREATE_SESSION_NOT_APPROVED"
    assert f"pedelec-core approve {other.origin}" in remedy
    page.take_errors()  # the browser's own, of what it was refused
    run_core("approve", other.origin, "--state-dir", str(core.state_dir))
    thread = str(python(page, _SESSION.format(core=core.url)))
    assert page.call("where", '{"greeting": "hello"}', thread=thread)["result"]["document"] is False


def test_the_oldest_pyodide_takes_the_wheel_in_a_worker(page: BrowserPage, site: Path) -> None:
    put_pyscript(site)
    worker = (site / "worker.mjs").read_text(encoding="utf-8")
    page.write("old.mjs", worker.replace("./runtime/", "./installed/pyodide/"))
    page.open(WITH_WORKER.replace("worker.mjs", "old.mjs"), name="old.html")
    url = f"{page.core.url}/wheels/{sdk_wheel()}"
    python(page, f"import pyodide_js; await pyodide_js.loadPackage('{url}')")
    assert python(page, "pyodide_js.version") == "0.28.0"
    thread = str(python(page, _SESSION.format(core=page.core.url)))
    assert page.call("where", '{"greeting": "hello"}', thread=thread)["result"]["greeting"] == "hello"


def test_the_loader_starts_in_a_worker_too(page: BrowserPage) -> None:
    page.write("face.mjs", _OPEN_FROM_JAVASCRIPT)
    page.open(
        """<script type="module">
        const worker = new Worker("./face.mjs", { type: "module" });
        worker.onmessage = ({ data }) => (globalThis.thread = data);
        </script>"""
    )
    page.wait_for("globalThis.thread")
    assert page.call("probe", thread=page.run("return thread"))["result"] == "undefined"
