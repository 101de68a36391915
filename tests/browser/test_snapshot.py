"""The memory snapshot: which way Python starts, and that pages which share a snapshot share nothing else."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.browser_page import BrowserPage
from tests.harness import CoreProcess


def _paths(page: BrowserPage) -> list[tuple[str, str | None]]:
    """Which way the page's Python started, and why; once for each way tried."""
    told = [(step["path"], step["reason"]) for step in page.events("progress") if "path" in step]
    return list(dict.fromkeys(told))


def test_python_wakes_up_from_the_snapshot_and_progress_says_so(shared: BrowserPage) -> None:
    assert _paths(shared) == [("snapshot", None)]


_FETCHED = """return performance.getEntriesByType("resource")
    .map(({ name, transferSize }) => [new URL(name).pathname, transferSize])"""


def test_a_first_visit_fetches_each_file_once_and_at_most_sixteen_mebibytes(
    context: BrowserContext, core: CoreProcess, site: Path
) -> None:
    page = BrowserPage(context, core, site)
    page.start()
    fetched = page.run(_FETCHED)
    names = [name for name, _ in fetched]
    assert len(names) == len(set(names))
    bundle = [name for name in names if name.startswith("/runtime/")]
    memory = [name for name in bundle if "/snapshot/snapshot-" in name and name.endswith(".bin")]
    assert len(bundle) - len(memory) == 8, bundle
    assert len(memory) <= 7, memory
    assert len(names) - len(memory) <= 27, names
    assert 5 * 2**20 < sum(size for _, size in fetched) <= 16 * 2**20


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


def test_nothing_random_or_timed_is_shared_by_two_pages_of_one_snapshot(
    context: BrowserContext, berlin: BrowserContext, core: CoreProcess, site: Any
) -> None:
    pages = [BrowserPage(one, core, site) for one in (context, berlin)]
    told = []
    for page in pages:
        page.open(f'<script src="/pedelec.js"></script><script type="text/pedelec">{_DRAW}</script>')
        page.wait_for("globalThis.drawn")
        assert _paths(page) == [("snapshot", None)]
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


def test_what_was_not_imported_for_the_snapshot_can_be_imported_later(shared: BrowserPage) -> None:
    shared.python(_LAZY)
    assert shared.run("return lazy") is True


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
