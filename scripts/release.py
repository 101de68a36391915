"""`make release`: the three wheels that are published, into `dist/`.

`pedelec` (the SDK), `pedelec-core` (Core) and `pedelec-runtime`, which holds nothing but the Pyodide bundle:
a user of the released product needs neither Node nor a build. The same sources give the same bytes.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from pedelec_core import __version__
from pedelec_core.runtime import commands
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.licenses import LINKED_DIR
from pedelec_core.runtime.locations import INSTALLED_BUNDLE, INSTALLED_PACKAGE
from pedelec_core.runtime.manifest import LICENSES_DIR
from pedelec_core.runtime.process import ProgramError, run

ROOT = Path(__file__).resolve().parents[1]
_SOURCE_DATE_EPOCH = "315532800"  # the earliest time that a zip can hold

LICENSE_OF_BUNDLE = " AND ".join(
    (
        *("Apache-2.0", "MPL-2.0", "PSF-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "SunPro", "Zlib"),
        *("bzip2-1.0.6", "blessing", "CC0-1.0", "Apache-2.0 WITH LLVM-exception", "(MIT OR NCSA)"),
        *("LicenseRef-CPython-Incorporated", "LicenseRef-Public-Domain"),
    )
)

_PROJECT = f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "pedelec-runtime"
version = "{__version__}"
description = "What pedelec-core serves to pages: Pyodide, pydantic and the Pedelec SDK, ready to run."
license = "{LICENSE_OF_BUNDLE}"
license-files = ["LICENSE", "NOTICE", "{LICENSES_DIR}/*", "{LINKED_DIR}/*"]
requires-python = ">=3.12"

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.targets.wheel]
packages = ["{INSTALLED_PACKAGE}"]
"""


def main() -> int:
    """Build the wheels; return the exit status."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    try:
        for wheel in release(out):
            print(f"{wheel.stat().st_size / 1e6:6.1f} MB  {wheel}")
    except (BundleError, ProgramError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def release(out: Path) -> list[Path]:
    """Build the three wheels into `out`, in place of what is there, and return them.

    Raises:
        BundleError: the bundle cannot be made.
        ProgramError: a wheel cannot be built.
    """
    bundle = commands.build()
    out.mkdir(parents=True, exist_ok=True)
    for former in out.glob("pedelec*.whl"):
        former.unlink()
    for project in ("sdk_py", "core_shim"):
        _build(ROOT / project, out)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        _build(_runtime_project(Path(folder), bundle), out)
    return sorted(out.glob("pedelec*.whl"))


def _runtime_project(folder: Path, bundle: Path) -> Path:
    """Lay out the sources of the data-only wheel in `folder`."""
    package = folder / INSTALLED_PACKAGE
    package.mkdir()
    (folder / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
    (package / "__init__.py").write_text(
        '"""The Pyodide bundle, found by pedelec-core."""\n', encoding="utf-8"
    )
    shutil.copytree(bundle, package / INSTALLED_BUNDLE, copy_function=os.link)
    shutil.copytree(bundle / LICENSES_DIR, folder / LICENSES_DIR)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / "core_shim" / name, folder)
    return folder


def _build(project: Path, out: Path) -> None:
    build: list[str | Path] = ["-I", "-m", "hatchling", "build", "-t", "wheel", "-d", out.absolute()]
    run([sys.executable, *build], cwd=project, env={"SOURCE_DATE_EPOCH": _SOURCE_DATE_EPOCH})


if __name__ == "__main__":
    sys.exit(main())
