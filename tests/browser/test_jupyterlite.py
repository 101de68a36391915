"""The SDK in a notebook: the real JupyterLite, whose Python runs in a web worker of another origin's site."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.browser.browser_page import BrowserPage
from tests.browser.jupyterlite import put_jupyterlite
from tests.browser.other_site import OtherSite, serving
from tests.browser.test_examples import EXAMPLES
from tests.browser.worker_page import sdk_wheel
from tests.harness import CoreProcess, run_core

_DOCUMENTED_CORE = "http://127.0.0.1:7420"


@pytest.fixture(scope="module")
def jupyterlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherSite]:
    folder = tmp_path_factory.mktemp("jupyterlite")
    put_jupyterlite(folder)
    with serving(folder) as site:
        yield site


def cells(core: CoreProcess) -> list[str]:
    """The code of the example's notebook, for this Core."""
    notebook = json.loads((EXAMPLES / "jupyterlite.ipynb").read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert sdk_wheel() in sources[0]
    return [source.replace(_DOCUMENTED_CORE, core.url) for source in sources]


def test_a_notebooks_tools_work_on_what_the_notebook_has(
    page: BrowserPage, core: CoreProcess, jupyterlite: OtherSite
) -> None:
    run_core("approve", jupyterlite.origin, "--state-dir", str(core.state_dir))
    query = urlencode([("kernel", "python"), ("execute", "1"), *(("code", cell) for cell in cells(core))])
    page.page.goto(f"{jupyterlite.origin}/repl/index.html?{query}")
    value = page.page.locator(".jp-OutputArea-executeResult pre")  # of the last cell: the session's id
    thread = value.inner_text().strip().strip("'")
    assert page.call("add", '{"what": "milk"}', thread=thread)["result"] == ["bread", "milk"]
    assert page.call("read_list", thread=thread)["result"] == ["bread", "milk"]
    errors = page.take_errors()  # JupyterLite asks its site for files that it can do without
    assert not [error for error in errors if "pedelec" in error]
