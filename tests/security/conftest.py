"""A Core under attack: approved and other origins, raw sockets, pages without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import CoreProcess


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """One Core for a module's attacks, with two approved origins; it has to bear them without a traceback."""
    folder = tmp_path_factory.mktemp("core")
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text("<h1>home</h1>")
    origins = ("--allow-origin", "https://app.example", "--allow-origin", "https://other.example")
    with CoreProcess(folder / "state", "--site", str(site), *origins) as running:
        yield running
        assert "Traceback" not in running.log


@pytest.fixture
def own_core(tmp_path: Path) -> Iterator[CoreProcess]:
    """A Core for one attack."""
    with CoreProcess(tmp_path / "state") as running:
        yield running
        assert "Traceback" not in running.log
