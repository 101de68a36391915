"""Fixtures that every room of the suite may use."""

import gc
import sys
from collections.abc import Generator, Iterator

import pytest

from tests.harness import error_rules, log_rules


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long to look for what goes wrong by chance; the default is what every run can afford."""
    parser.addoption("--examples", type=int, default=25, metavar="N", help="random examples for each rule")
    parser.addoption("--fuzz", type=int, default=5_000, metavar="N", help="unlikely inputs to try")
    parser.addoption("--chaos", type=int, default=300, metavar="N", help="schedules of faults to play")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers come last: Playwright's loop, once it runs, leaves no room in the process for another.

    File by file, since that is how tests are shared out: one test without a browser must not draw the others
    of its file to the front.
    """
    with_browsers = {item.path for item in items if "playwright" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path in with_browsers)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded by now stays: the garbage collector need not look through it again and again."""
    gc.freeze()
    if "hypothesis" not in sys.modules:  # its plugin would load all of it, in order to report nothing
        session.config.pluginmanager.unregister(name="hypothesispytest")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test has written may be no Unicode, on purpose; reports go from process to process as UTF-8."""
    report = yield
    report.sections = [
        (title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections
    ]
    return report


_logged = log_rules.Recorder()


def pytest_sessionstart() -> None:
    """Errors are recorded all the time: a fixture that does so for each test takes longer than most tests."""
    error_rules.record_envelopes()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What is told and logged from here on is this test's."""
    error_rules.forget()
    _logged.listen()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None]:
    """Fail the test that makes the product tell a bad error, or log what no log may hold."""
    yield
    error_rules.check()
    _logged.check()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def log_files_hold_no_secrets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail the run that has left a planted secret in a log file, whichever process wrote it."""
    yield
    for path in tmp_path_factory.getbasetemp().rglob("*.log"):
        assert log_rules.PLANTED not in path.read_text("utf-8", errors="replace"), path
