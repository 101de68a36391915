"""The memory snapshots: which way Python starts, and that pages which share a snapshot share nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Route

from tests.browser.browser_page import LOADER, BrowserPage
from tests.harness import CoreProcess


def _paths(page: BrowserPage) -> list[tuple[str, str | None]]:
    """Which way the page's Python started, and why; once for each way tried."""
    told = [(step["path"], step["reason"]) for step in page.events("progress") if "path" in step]
    return list(dict.fromkeys(told))


def _snapshot(page: BrowserPage) -> str:
    """Which snapshot the page's Python woke up from."""
    assert _paths(page) == [("snapshot", None)]
    told = [step["snapshot"] for step in page.events("progress") if "path" in step]
    *before, kind = dict.fromkeys(told)
    assert before in ([], [None])
    return str(kind)


def _script(source: str, attributes: str = "") -> str:
    return f'<script type="text/pedelec"{attributes}>{source}</script>'


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param("", "light", id="no script"),
        pytest.param(
            _script("from pedelec import Pedelec, define_tool as tools"), "light", id="schema-given tools"
        ),
        pytest.param(
            _script("from pedelec import (\n    Pedelec,\n    tool,\n)"), "full", id="a name among others"
        ),
        pytest.param(_script("from pedelec import *"), "full", id="all names"),
        pytest.param(
            _script("import pedelec as p\n@p.tool\ndef f() -> str:\n  'Say so.'"), "full", id="another name"
        ),
        pytest.param(_script("import pydantic"), "full", id="pydantic"),
        pytest.param(_script("1", ' data-packages="annotated-types pydantic"'), "full", id="by name"),
        pytest.param(_script("1") + _script("import pedelec; pedelec.tool"), "full", id="a later script"),
    ],
)
def test_python_wakes_up_from_the_snapshot_that_the_scripts_need(
    page: BrowserPage, body: str, kind: str
) -> None:
    page.start(body)
    assert _snapshot(page) == kind
    page.python("import js, sys; js.has = 'pydantic' in sys.modules")
    assert page.run("return has") is (kind == "full")


@pytest.mark.parametrize(("source", "kind"), [("ran = 1", "light"), ("import pydantic; ran = 2", "full")])
def test_a_source_elsewhere_counts_too_and_is_fetched_once(page: BrowserPage, source: str, kind: str) -> None:
    page.write("elsewhere.py", source)
    fetched: list[str] = []
    page.page.on("request", lambda request: fetched.append(request.url))
    page.open(LOADER + '<script type="text/pedelec" src="elsewhere.py"></script>')
    page.run("await pedelec.ready")
    page.python("import js; js.ran = ran")
    assert page.run("return ran") == int(source[-1])
    assert _snapshot(page) == kind
    assert fetched.count(f"{page.core.url}/elsewhere.py") == 1


def test_a_source_that_does_not_come_holds_up_nothing_and_may_need_pydantic_then(page: BrowserPage) -> None:
    page.write("late.py", _TYPED_PAGE)
    with _held(page, "late.py") as let_go:
        page.open(LOADER + '<script type="text/pedelec" src="late.py"></script>')
        page.run("await pedelec.ready")
        assert _snapshot(page) == "light"
        let_go()
        page.wait_for("globalThis.thread")
    assert page.call("double", '{"number": 21}', thread=page.run("return thread"))["result"] == 42


@pytest.mark.parametrize(("body", "kind"), [("", "light"), (_script("from pedelec import tool"), "full")])
def test_a_document_that_does_not_end_holds_up_nothing(page: BrowserPage, body: str, kind: str) -> None:
    page.write("late.js", "")
    page.write("index.html", f"<!doctype html>{LOADER}{body}<script src='late.js'></script>")
    with _held(page, "late.js") as let_go:
        page.page.goto(f"{page.core.url}/index.html", wait_until="commit")
        page.run("while (!globalThis.pedelec) await new Promise(setTimeout); await pedelec.ready")
        assert page.run("return document.readyState") == "loading"
        assert _snapshot(page) == kind
        let_go()
        page.wait_for("document.readyState === 'complete'")


@contextmanager
def _held(page: BrowserPage, file: str) -> Iterator[Callable[[], None]]:
    """Hold a file up on its way to the page until it is let go."""
    routes: list[Route] = []
    gone: list[bool] = []
    page.page.route(f"**/{file}", lambda route: route.continue_() if gone else routes.append(route))

    def let_go() -> None:
        gone.append(True)
        for route in routes:
            route.continue_()

    yield let_go


_FETCHED = """return performance.getEntriesByType("resource")
    .map(({ name, transferSize }) => [new URL(name).pathname, transferSize])"""


@pytest.mark.parametrize(
    ("body", "kind", "mebibytes"), [("", "light", 12), (_script("import pydantic"), "full", 16)]
)
def test_a_first_visit_fetches_each_file_once_and_few_mebibytes(
    context: BrowserContext, core: CoreProcess, site: Path, body: str, kind: str, mebibytes: int
) -> None:
    page = BrowserPage(context, core, site)
    page.start(body)
    fetched = page.run(_FETCHED)
    names = [name for name, _ in fetched]
    assert len(names) == len(set(names))
    bundle = [name for name in names if name.startswith("/runtime/")]
    memory = [name for name in bundle if "/snapshot/" in name and name.endswith(".bin")]
    assert len(bundle) - len(memory) == (8 if kind == "full" else 7), bundle
    assert len(memory) <= 7, memory
    assert len(names) - len(memory) <= 27, names
    assert 5 * 2**20 < sum(size for _, size in fetched) <= mebibytes * 2**20


def test_a_second_visit_asks_core_for_the_loader_and_the_manifest_alone(
    context: BrowserContext, core: CoreProcess, site: Path
) -> None:
    BrowserPage(context, core, site).start("")
    page = BrowserPage(context, core, site)
    page.start("")
    asked = [name for name, size in page.run(_FETCHED) if size > 0]
    assert sorted(asked) == ["/pedelec.js", "/runtime/manifest.json"]


_TYPED_PAGE = """
import js, sys
modules = set(sys.modules)
from pedelec import Pedelec, tool

@tool
def double(number: int) -> int:
    "Double a number."
    return number * 2

session = await Pedelec().create_session(tools=[double])
js.thread = session.session_id
js.modules = len(modules)
"""


def test_a_page_with_typed_tools_imports_nothing_that_the_snapshot_lacks(page: BrowserPage) -> None:
    page.start(f'<script type="text/pedelec">{_TYPED_PAGE}</script>')
    page.wait_for("globalThis.thread")
    assert page.call("double", '{"number": 21}', thread=page.run("return thread"))["result"] == 42
    page.python("js.imported = ' '.join(sorted(set(sys.modules) - modules))")
    assert page.run("return imported") == ""
    assert page.run("return modules") <= 360


def test_a_page_without_typed_tools_imports_nothing_and_has_few_modules(shared: BrowserPage) -> None:
    shared.python("import js, sys; modules = set(sys.modules)")
    shared.python(_SCHEMA_PAGE)
    shared.wait_for("globalThis.thread")
    assert shared.call("probe", thread=shared.run("return thread"))["result"] == "quiet"
    shared.python("js.imported, js.modules = ' '.join(sorted(set(sys.modules) - modules)), len(modules)")
    assert shared.run("return imported") == ""
    assert shared.run("return modules") <= 300


_REFUSED = """
import js, pydantic
try:
    pydantic.TypeAdapter(int).validate_python("x")
except pydantic.ValidationError as error:
    js.refused = error.error_count()
"""


def test_typed_tools_that_come_later_load_on_top_of_the_light_snapshot_from_core_alone(
    page: BrowserPage,
) -> None:
    strays: list[str] = []
    page.page.on("request", lambda request: strays.append(request.url))
    page.start()
    assert _snapshot(page) == "light"
    page.python(_TYPED_PAGE)
    assert page.call("double", '{"number": 21}', thread=page.run("return thread"))["result"] == 42
    page.python(_REFUSED)
    assert page.run("return refused") == 1
    page.python(_LAZY)
    assert page.run("return lazy") is True
    assert not [url for url in strays if not url.startswith((page.core.url, "data:"))]


_SCHEMA_PAGE = """
import js
from pedelec import Pedelec, define_tool

schema = {"type": "object"}
tools = [define_tool(name="probe", description="A.", args_schema=schema, handler=lambda: "quiet")]
session = await Pedelec().create_session(tools=tools)
js.thread = session.session_id
"""


_DRAW = """
import asyncio, js, json, logging, os, random, secrets, sys, tempfile, time, uuid
from pedelec._browser import browser_host

drawn = {
    "random": random.random(),
    "secret": secrets.token_hex(),
    "urandom": os.urandom(8).hex(),
    "uuid1": str(uuid.uuid1()),
    "uuid4": str(uuid.uuid4()),
    "temporary": next(tempfile._get_candidate_names()),
    "page": browser_host().page_instance_id,
}
told = {
    "now": time.time(),
    "started": logging._startTime / 1e9,
    "clock": asyncio.get_running_loop().time(),
    "offset": time.localtime().tm_gmtoff,
    "zones": [-time.timezone, -time.altzone],
    "language": os.environ["LANG"],
    "seed": os.environ.get("PYTHONHASHSEED"),
    "path": sys.path,
}
js.drawn = json.dumps([drawn, told])
"""


@pytest.fixture
def berlin(browser: Any) -> Any:
    context = browser.new_context(timezone_id="Europe/Berlin", locale="de-DE")
    yield context
    context.close()


@pytest.mark.parametrize("kind", ["light", "full"])
def test_nothing_random_or_timed_is_shared_by_two_pages_of_one_snapshot(
    context: BrowserContext, berlin: BrowserContext, core: CoreProcess, site: Any, kind: str
) -> None:
    draw = _DRAW if kind == "light" else f"import pydantic\n{_DRAW}"
    pages = [BrowserPage(one, core, site) for one in (context, berlin)]
    told = []
    for page in pages:
        page.open(f'<script src="/pedelec.js"></script>{_script(draw)}')
        page.wait_for("globalThis.drawn")
        assert _snapshot(page) == kind
        now = page.run("return Date.now() / 1000")
        first, second = page.run("return JSON.parse(drawn)")
        told.append(first)
        assert abs(second["now"] - now) < 600
        assert 0 <= second["now"] - second["started"] < 600
        assert second["offset"] == page.run("return -60 * new Date().getTimezoneOffset()")
        assert second["offset"] in second["zones"]
        assert second["seed"] is None
        assert second["path"].count("") == 1
        language = page.run("return navigator.language.replace('-', '_')")
        assert second["language"] == f"{language}.UTF-8"
    assert told[0].keys() == told[1].keys()
    for name in told[0]:
        assert told[0][name] != told[1][name], name


_LAZY = """
import csv, js, pkgutil
import pydantic
for module in ("pydantic.v1", "pydantic.networks", "pydantic.types", "pydantic.experimental.pipeline"):
    __import__(module)
import importlib.metadata
js.lazy = importlib.metadata.version("pydantic") == pydantic.VERSION
"""


def test_what_was_not_imported_for_the_snapshot_can_be_imported_later(page: BrowserPage) -> None:
    page.start(_script("import pydantic"))
    assert _snapshot(page) == "full"
    page.python(_LAZY)
    assert page.run("return lazy") is True


def test_an_error_in_python_is_told_with_its_traceback(shared: BrowserPage) -> None:
    shared.python(
        """
        import js, traceback
        try:
            {}["missing"]
        except KeyError:
            js.trace = traceback.format_exc()
        """
    )
    assert "KeyError: 'missing'" in shared.run("return trace")
