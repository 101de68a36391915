"""Fixtures that every room of the suite may use."""

from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from tests.harness import log_rules
from tests.harness.error_rules import broken_rules, commands_told_over_mcp, recording

# What every run can afford. `--hypothesis-profile deep` looks longer.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("deep", max_examples=2_000, deadline=None)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--chaos N` plays at least N schedules of faults."""
    parser.addoption("--fuzz", type=int, default=5_000, metavar="N", help="unlikely inputs to try")
    parser.addoption("--chaos", type=int, default=300, metavar="N", help="schedules of faults to play")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers come last: Playwright's loop, once it runs, leaves no room in the process for another."""
    items.sort(key=lambda item: "playwright" in getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test has written may be no Unicode, on purpose; reports go from process to process as UTF-8."""
    report = yield
    report.sections = [
        (title, text.encode(errors="backslashreplace").decode()) for title, text in report.sections
    ]
    return report


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(autouse=True)
def errors_keep_the_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail the test that makes the product tell an incomplete, indiscreet or oversized error."""
    with recording(monkeypatch) as made:
        yield
        broken = {rule: envelope for envelope in made for rule in broken_rules(envelope)}
        assert not broken, "an error breaks the rules"
        assert not commands_told_over_mcp(), "an error tells an MCP client to run a command"


@pytest.fixture(autouse=True)
def what_is_logged_here_holds_no_secrets(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail the test that has the product log, in this process, what no log may hold."""
    yield
    for phase in ("setup", "call"):
        for record in caplog.get_records(phase):
            log_rules.check(record.getMessage())


@pytest.fixture(scope="session", autouse=True)
def log_files_hold_no_secrets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail the run that has left a planted secret in a log file, whichever process wrote it."""
    yield
    for path in tmp_path_factory.getbasetemp().rglob("*.log"):
        assert log_rules.PLANTED not in path.read_text("utf-8", errors="replace"), path
