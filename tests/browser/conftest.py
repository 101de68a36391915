"""Real browsers for the tests: each browser once, a Core for each module, a fresh context for each test.

A test that takes `page` gets a page of its own. One that takes `shared` gets a page with Python ready in it
that its whole module shares (a start takes seconds): it makes sessions of its own there and leaves nothing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from pedelec_core.runtime.commands import build as build_bundle
from scripts.browsers.config import load_config
from tests.browser.browser_page import BrowserPage
from tests.browser.demo_page import DEMO, DemoPage
from tests.harness import WITHOUT_RATES, CoreProcess

_config = load_config()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "browser_name" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("browsers")
        metafunc.parametrize("browser_name", only.args if only else _config.BROWSERS, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if _is_wanted(item)]
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            # A call into Playwright that is cut off leaves its loop unusable, and the teardown waits for
            # ever: a browser that hangs ends the run.
            item.add_marker(pytest.mark.timeout(300, method="thread"))


def _is_wanted(item: pytest.Item) -> bool:
    """Whether no mark of a case keeps it from this browser: those of a whole test are heeded above."""
    only = item.get_closest_marker("browsers")
    if only is None or not isinstance(item, pytest.Function):
        return True
    return item.callspec.params["browser_name"] in only.args


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright, browser_name: str) -> Iterator[Browser]:
    """The browser under test, running."""
    found = _config.find(browser_name)
    launched: Browser = getattr(playwright, found.engine).launch(**found.launch_options)
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that Core serves at `/`."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="session", autouse=True)
def _current_bundle() -> None:
    """The wheel that pages load is that of the sources under test."""
    build_bundle()


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[CoreProcess]:
    """A running Core, for the whole module."""
    with CoreProcess(
        tmp_path_factory.mktemp("core") / "state", "--site", str(site), *WITHOUT_RATES
    ) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile."""
    fresh = browser.new_context()
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext, core: CoreProcess, site: Path) -> Iterator[BrowserPage]:
    """A page of the test's own, on nothing yet."""
    own = BrowserPage(context, core, site)
    yield own
    own.assert_quiet()


@pytest.fixture(scope="module")
def _shared(browser: Browser, core: CoreProcess, site: Path) -> Iterator[BrowserPage]:
    context = browser.new_context()
    page = BrowserPage(context, core, site)
    page.start()
    yield page
    context.close()


@pytest.fixture
def shared(_shared: BrowserPage) -> Iterator[BrowserPage]:
    """The module's page with Python ready in it."""
    yield _shared
    _shared.assert_quiet()


@pytest.fixture(scope="session")
def demo(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoPage]:
    """The demo, ready for agents; one for all tests of a browser, which leave no state that others mind."""
    # The grace is for reloads: on a busy machine the page needs longer than usual.
    options = ("--site", str(DEMO), "--grace-seconds", "60")
    with CoreProcess(tmp_path_factory.mktemp("demo") / "state", *options) as core:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        demo = DemoPage(context.new_page(), core)
        demo.open()
        yield demo
        assert demo.violations == [], "the demo does more than its Content-Security-Policy allows"
        context.close()
