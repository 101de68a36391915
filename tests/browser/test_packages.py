"""Packages on top of a page that woke up from the snapshot: one with a native part, from Core alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Request, Route

from pedelec_core.runtime.build import extend_bundle
from pedelec_core.runtime.locations import require_bundle, work_dir
from pedelec_core.runtime.progress import silent
from pedelec_core.runtime.verify import find_problems
from tests.browser.browser_page import LOADER, BrowserPage
from tests.harness import CoreProcess

ADDED = "msgspec==0.23.0"
"""Written in C. Pyodide's own distribution has another version of it."""

_PAGE = f"""{LOADER}
<script type="text/pedelec" data-packages="msgspec">
    import js, sys
    before = "msgspec" in sys.modules
    import msgspec
    from pedelec import Pedelec, tool

    class Row(msgspec.Struct):
        name: str
        size: float

    @tool
    def biggest(rows: str) -> str:
        "The name of the biggest row."
        return max(msgspec.json.decode(rows, type=list[Row]), key=lambda row: row.size).name

    session = await Pedelec().create_session(tools=[biggest])
    js.native = msgspec._core.__file__.endswith(".so") and not before
    js.thread = session.session_id
</script>
<script type="text/pedelec" data-packages="nowhere-to-be-found">1</script>"""


@pytest.fixture(scope="session")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle with a package added."""
    out = tmp_path_factory.mktemp("extended") / "bundle"
    extend_bundle(require_bundle(), out, work_dir(), silent, [ADDED])
    return out


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, site: Path, extended: Path) -> Iterator[CoreProcess]:
    env = {"PEDELEC_RUNTIME_DIR": str(extended)}
    with CoreProcess(tmp_path_factory.mktemp("core") / "state", "--site", str(site), env=env) as running:
        yield running


def test_a_package_with_a_native_part_loads_on_top_of_the_snapshot_from_core_alone(
    context: BrowserContext, core: CoreProcess, site: Path, extended: Path
) -> None:
    page = BrowserPage(context, core, site)
    strays: list[str] = []

    def decide(route: Route, request: Request) -> None:
        if request.url.startswith(f"{core.url}/"):
            route.continue_()
        else:
            strays.append(request.url)
            route.abort()

    page.page.route("**/*", decide)
    page.open(_PAGE)
    page.wait_for("globalThis.thread")
    assert page.run("return native") is True
    assert {step["path"] for step in page.events("progress") if "path" in step} == {"snapshot"}
    rows = '{"rows": "[{\\"name\\": \\"a\\", \\"size\\": 1}, {\\"name\\": \\"b\\", \\"size\\": 2.5}]"}'
    assert page.call("biggest", rows, thread=page.run("return thread"))["result"] == "b"
    wrong = page.call("biggest", '{"rows": "[{}]"}', thread=page.run("return thread"))
    assert "missing required field `name`" in wrong["result"]["error"]["message"]
    assert not [url for url in strays if "msgspec" in url]
    assert find_problems(extended) == []

    page.wait_for("__events.some(({ kind }) => kind === 'failed')")
    message = page.run("return __events.find(({ kind }) => kind === 'failed').detail.error.message")
    assert message.endswith("pedelec-core runtime build --with nowhere-to-be-found")
    page.take_errors()
