"""A running Core and a page on it, for the tests that go through real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CoreProcess, PageClient


@pytest.fixture(scope="module")
def shared_core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """One Core for a module's tests, which leave no session behind."""
    folder = tmp_path_factory.mktemp("core")
    site = folder / "site"
    (site / "sub").mkdir(parents=True)
    (site / "index.html").write_text("<h1>home</h1>")
    (site / "sub" / "index.html").write_text("<h1>sub</h1>")
    with CoreProcess(folder / "state", "--site", str(site), "--allow-origin", "https://app.example") as core:
        yield core
        assert "Traceback" not in core.log


@pytest.fixture
def core(shared_core: CoreProcess) -> CoreProcess:
    """The module's Core."""
    return shared_core


@pytest.fixture
def own_core(tmp_path: Path) -> Iterator[CoreProcess]:
    """A Core for one test, which may end it."""
    with CoreProcess(tmp_path / "state") as core:
        yield core


@pytest.fixture
def page(core: CoreProcess) -> Iterator[PageClient]:
    """A page on the module's Core; its session ends with it."""
    with PageClient(core.url) as page:
        yield page
        if page.session_id:
            page.end_session()
