"""The licence texts that travel with the bundle: one file for each part that somebody else wrote."""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.manifest import LICENSES_DIR, LicenseEntry
from pedelec_core.runtime.page_lock import read_metadata
from pedelec_core.runtime.pins import PYODIDE_VERSION

_LICENSE_PATH = re.compile(r"\.dist-info/(licenses/|(LICEN[CS]E|COPYING|NOTICE)[^/]*$)")

_PYODIDE_NOTICE = f"""\
Pyodide {PYODIDE_VERSION} is under the Mozilla Public License, version 2.0 (the text is below).
The files here are unaltered from its npm package, except pyodide-lock.json, which lists only the packages
of this bundle.
Source code: https://github.com/pyodide/pyodide at tag {PYODIDE_VERSION}.

"""

_CPYTHON_NOTICE = """\
pyodide.asm.wasm and python_stdlib.zip contain CPython, which is under the Python Software Foundation License
(the text is below). Source code: https://github.com/python/cpython.

"""

_COMPILED_NOTICE = """\
Made from {wheel} as it is published on the Python Package Index, where its
sources are; here its modules are in compiled form.

"""


_ADDED_NOTICE = """\
From {wheel}, which was added to this bundle on request.

"""


def write_licenses(wheels: Sequence[Path], bundle: Path) -> list[LicenseEntry]:
    """Write the licence texts for Pyodide, CPython and each wheel into a bundle, and return their entries.

    Takes the wheels as they were published. Pyodide's npm package and its standard library bring no licence
    text. micropip is under Pyodide's licence and typing-extensions under CPython's, and both wheels carry the
    full text.

    Raises:
        BundleError: a wheel carries no licence text, or one of these two is not among the wheels.
    """
    (bundle / LICENSES_DIR).mkdir()
    texts = {_part(wheel): _license_text(wheel) for wheel in wheels}
    if missing := [wheel.name for wheel in wheels if not texts[_part(wheel)]]:
        raise BundleError(f"{missing[0]} carries no licence text.", "Correct the pins.")
    try:
        mpl, psf = texts["micropip"], texts["typing_extensions"]
    except KeyError as error:
        raise BundleError(f"No wheel of {error} to take a licence text from.", "Correct the pins.") from error
    parts = [("pyodide", "MPL-2.0", _PYODIDE_NOTICE + mpl), ("cpython", "PSF-2.0", _CPYTHON_NOTICE + psf)]
    own = [_write(bundle, part, name, text) for part, name, text in parts]
    return own + [_write_of_wheel(bundle, wheel, _COMPILED_NOTICE, texts[_part(wheel)]) for wheel in wheels]


def add_licenses(wheels: Sequence[Path], bundle: Path) -> list[LicenseEntry]:
    """Write the licence texts that wheels carry which somebody asked for; return the entries."""
    texts = [(wheel, _license_text(wheel)) for wheel in wheels]
    return [_write_of_wheel(bundle, wheel, _ADDED_NOTICE, text) for wheel, text in texts if text]


def _write_of_wheel(bundle: Path, wheel: Path, notice: str, text: str) -> LicenseEntry:
    return _write(bundle, _part(wheel), _license_name(wheel), notice.format(wheel=wheel.name) + text)


def _write(bundle: Path, part: str, name: str, text: str) -> LicenseEntry:
    path = bundle / LICENSES_DIR / f"{part}.txt"
    path.write_text(text, encoding="utf-8")
    return LicenseEntry(part, name, path.relative_to(bundle).as_posix())


def _part(wheel: Path) -> str:
    return wheel.name.split("-")[0]


def _license_name(wheel: Path) -> str:
    metadata = read_metadata(wheel)
    named: str = metadata["License-Expression"] or metadata["License"] or "see the text"
    # Older metadata puts the whole text into the field, the name first.
    return named.splitlines()[0]


def _license_text(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        # Before the metadata had a folder for them they lay beside it.
        names = [name for name in sorted(archive.namelist()) if _LICENSE_PATH.search(name)]
        return "\n".join(archive.read(name).decode("utf-8", "replace") for name in names)
