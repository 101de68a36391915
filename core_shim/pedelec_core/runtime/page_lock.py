"""Write Pyodide's lock file for exactly the wheels beside it, and check that Pyodide can load them.

Pyodide's own lock names 350 packages that are not in the bundle; ours names those that are, so a page asking
for anything else hears so from Pyodide rather than from a failed request.
"""

import os
import sys
import zipfile
from collections.abc import Iterable, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.pins import PAGE_PLATFORM, PAGE_PYTHON
from pedelec_core.runtime.process import ProgramError, run

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from pyodide_lock import PackageSpec, PyodideLockSpec

_MARKERS = {
    "extra": "",
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_python_implementation": "CPython",
    "platform_system": "Emscripten",
    "python_version": PAGE_PYTHON,
    "sys_platform": "emscripten",
}
"""PEP 508 markers as they are in the page. `python_full_version` is left to the lock, which knows it."""

_PINS_ADVICE = "Correct the pins of the bundle."


def write_page_lock(original: Path, wheels: Sequence[Path], target: Path) -> "PyodideLockSpec":
    """Write `target` for `wheels`, which must lie in its folder, and return what was written.

    Args:
        original: Pyodide's own lock file; what it says of interpreter and ABI is kept, its packages are not.
        wheels: the wheels to list.
        target: the file to write.

    Raises:
        BundleError: a wheel needs one that is not there, or a name and its metadata differ.
    """
    from pyodide_lock import PyodideLockSpec

    lock = PyodideLockSpec.from_json(original)
    specs = [describe(wheel, lock.info.python) for wheel in wheels]
    lock.packages = {spec.name: spec for spec in sorted(specs, key=lambda spec: spec.name)}
    for spec in specs:
        if missing := sorted(set(spec.depends) - set(lock.packages)):
            raise BundleError(
                f"{spec.file_name} needs {', '.join(missing)}, not in the bundle.", _PINS_ADVICE
            )
    try:
        lock.check_wheel_filenames()
    except ValueError as error:
        raise BundleError(str(error), _PINS_ADVICE) from error
    lock.to_json(target, indent=2)
    return lock


def describe(wheel: Path, python: str) -> "PackageSpec":
    """Return the lock's entry for one wheel, for a page whose Python is of this release (`3.14.2`).

    Written out here because `pyodide_lock.add_wheels_to_spec` refuses the platform tags of PEP 783, and its
    way to find what can be imported knows no compiled modules.
    """
    from packaging.utils import canonicalize_name
    from pyodide_lock import PackageSpec

    metadata = read_metadata(wheel)
    return PackageSpec(
        name=canonicalize_name(metadata["Name"]),
        version=metadata["Version"],
        file_name=wheel.name,
        install_dir="site",
        sha256=sha256_file(wheel),
        imports=_importable_names(wheel),
        depends=sorted({canonicalize_name(needed.name) for needed in requirements_of(metadata, python)}),
    )


def _importable_names(wheel: Path) -> list[str]:
    """Return the modules and packages at the top of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        paths = [name.split("/") for name in archive.namelist()]
    packages = {path[0] for path in paths if len(path) == 2 and path[1] in {"__init__.py", "__init__.pyc"}}
    modules = {path[0].partition(".")[0] for path in paths if len(path) == 1}
    return sorted(packages | modules)


def requirements_of(metadata: Message, python: str, extras: Iterable[str] = ()) -> "list[Requirement]":
    """Return what a package needs in a page with this release of Python, with some of its extras."""
    from packaging.requirements import Requirement

    page = _MARKERS | {"python_full_version": python}
    wanted = [page | {"extra": extra} for extra in ("", *extras)]
    requirements = map(Requirement, metadata.get_all("Requires-Dist", []))
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or any(map(requirement.marker.evaluate, wanted))
    ]


def read_metadata(wheel: Path) -> Message:
    """Return the core metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf-8"))


def audit(wheels: Sequence[Path]) -> None:
    """Check each compiled wheel with `pyodide auditwheel`: right platform, and no library that it lacks.

    Wheels without compiled code have nothing to audit.

    Raises:
        BundleError: a wheel fails, or the tool is not installed.
    """
    scripts = Path(sys.executable).parent
    # The tool starts `wheel` by name.
    path = f"{scripts}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for wheel in wheels:
        if wheel.name.endswith("-none-any.whl"):
            continue
        if not wheel.name.endswith(f"-{PAGE_PLATFORM}.whl"):
            raise BundleError(f"{wheel.name} is not for the page's platform {PAGE_PLATFORM}.", _PINS_ADVICE)
        try:
            report = run([scripts / "pyodide", "auditwheel", "show", wheel], env={"PATH": path})
        except ProgramError as error:
            raise BundleError(f"`pyodide auditwheel` refuses {wheel.name}: {error}", _PINS_ADVICE) from error
        # A library's own line has no indent; each shared library that it needs stands below it, indented.
        if needed := [line.strip() for line in report.splitlines() if line[:1].isspace() and line.strip()]:
            raise BundleError(f"{wheel.name} needs shared libraries: {', '.join(needed)}.", _PINS_ADVICE)
