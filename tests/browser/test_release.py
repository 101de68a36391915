"""The released product: three wheels in an environment that has no sources, no Node and no other bundle."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from pedelec_core.runtime.licenses import license_texts
from pedelec_core.runtime.locations import INSTALLED_BUNDLE, INSTALLED_PACKAGE
from pedelec_core.runtime.manifest import read
from scripts.release import LICENSE_OF_BUNDLE, release
from tests.browser.browser_page import BrowserPage
from tests.harness import CoreProcess

_PAGE = """<script src="/pedelec.js"></script>
<script type="text/pedelec">
    import js
    from pedelec import Pedelec, tool

    @tool
    def double(number: int) -> int:
        "Double a number."
        return number * 2

    session = await Pedelec().create_session(tools=[double])
    js.thread = session.session_id
</script>"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment with the three wheels.

    What they depend on is lent by this environment: it is the same, and takes minutes to install.
    """
    folder = tmp_path_factory.mktemp("released")
    wheels = release(folder / "dist")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
    ]
    subprocess.run([*pip, *map(str, wheels)], check=True)
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    # A folder named in a .pth is searched after the environment's own, and its own .pth files, which put the
    # checkout there, are not read.
    (Path(site) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def test_the_published_runtime_names_every_licence_and_carries_its_text(installed: Path) -> None:
    (info,) = installed.parent.glob("lib/*/site-packages/pedelec_runtime-*.dist-info")
    texts = {path.relative_to(info / "licenses").as_posix() for path in (info / "licenses").rglob("*.txt")}
    bundle = info.parent / INSTALLED_PACKAGE / INSTALLED_BUNDLE
    assert {entry.file for entry in read(bundle).licenses} == texts
    assert f"License-Expression: {LICENSE_OF_BUNDLE}\n" in (info / "METADATA").read_text(encoding="utf-8")
    (core,) = installed.parent.glob("lib/*/site-packages/pedelec_core/runtime/license_texts")
    assert {path.name for path in core.iterdir()} == {path.name for path in license_texts()}


def test_the_three_wheels_do_the_main_job_by_themselves(
    installed: Path, context: BrowserContext, site: Path, tmp_path: Path
) -> None:
    env = {"PATH": str(installed), "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    where = subprocess.run(
        [str(installed / "pedelec-core"), "runtime", "where"], env=env, capture_output=True, text=True
    )
    assert where.stdout.strip().startswith(str(installed.parent))
    state = tmp_path / "state"
    with CoreProcess(state, "--site", str(site), env=env, programs=installed) as core:
        page = BrowserPage(context, core, site)
        page.open(_PAGE)
        page.wait_for("globalThis.thread")
        assert {step["path"] for step in page.events("progress") if "path" in step} == {"snapshot"}
        answer = page.call("double", '{"number": 21}', thread=page.run("return thread"))
        assert answer["result"] == 42
        page.assert_quiet()
