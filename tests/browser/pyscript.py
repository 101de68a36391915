"""The real PyScript and the oldest Pyodide that is promised, as a page's own site would serve them."""

import shutil
from pathlib import Path

from pedelec_core.runtime.locations import work_dir
from pedelec_core.runtime.node import ensure_node
from tests.harness.node_packages import install_node_packages

CORE_JS = "/installed/@pyscript/core/dist/core.js"
"""PyScript's own script, on the site."""


def put_pyscript(site: Path) -> None:
    """Put the packages of `attach/package-lock.json` on a site, at `/installed/`."""
    build = work_dir()
    packages = install_node_packages(ensure_node(build), Path(__file__).parent / "attach", build / "attach")
    for name in ("@pyscript/core/dist", "pyodide"):
        shutil.copytree(packages / "node_modules" / name, site / "installed" / name, dirs_exist_ok=True)
