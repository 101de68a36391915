"""A Core under attack: approved and other origins, raw sockets, pages without a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CoreProcess


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """One Core for a module's attacks, with two approved origins; it has to bear them without an error."""
    folder = tmp_path_factory.mktemp("core")
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text("<h1>home</h1>")
    origins = ("--allow-origin", "https://app.example", "--allow-origin", "https://other.example")
    with CoreProcess(folder / "state", "--site", str(site), *origins) as running:
        yield running
        assert_bore_it(running)


@pytest.fixture
def own_core(tmp_path: Path) -> Iterator[CoreProcess]:
    """A Core for one attack."""
    with CoreProcess(tmp_path / "state") as running:
        yield running
        assert_bore_it(running)


def assert_bore_it(core: CoreProcess) -> None:
    """An attack is no fault of Core's, and it does not fill the log as if it were."""
    assert not re.search(r"Traceback| ERROR ", core.log), core.log
