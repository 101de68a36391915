"""The licence texts that travel with the bundle: one file for each part that somebody else wrote."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.manifest import LICENSES_DIR, LicenseEntry
from pedelec_core.runtime.page_lock import read_metadata
from pedelec_core.runtime.pins import PYODIDE_VERSION

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


def write_licenses(wheels: Sequence[Path], bundle: Path) -> list[LicenseEntry]:
    """Write the licence texts for Pyodide, CPython and each wheel into a bundle, and return their entries.

    Takes the wheels as they were published. Pyodide's npm package and its standard library bring no licence
    text. micropip is under Pyodide's licence and typing-extensions under CPython's, and both wheels carry the
    full text.

    Raises:
        BundleError: a wheel carries no licence text, or one of these two is not among the wheels.
    """
    folder = bundle / LICENSES_DIR
    folder.mkdir()
    texts = {wheel.name.split("-")[0]: _license_text(wheel) for wheel in wheels}
    try:
        mpl, psf = texts["micropip"], texts["typing_extensions"]
    except KeyError as error:
        raise BundleError(f"No wheel of {error} to take a licence text from.", "Correct the pins.") from error
    parts = [("pyodide", "MPL-2.0", _PYODIDE_NOTICE + mpl), ("cpython", "PSF-2.0", _CPYTHON_NOTICE + psf)]
    parts += [
        (
            part := wheel.name.split("-")[0],
            _license_name(wheel),
            _COMPILED_NOTICE.format(wheel=wheel.name) + texts[part],
        )
        for wheel in wheels
    ]
    entries = []
    for part, name, text in parts:
        path = folder / f"{part}.txt"
        path.write_text(text, encoding="utf-8")
        entries.append(LicenseEntry(part, name, path.relative_to(bundle).as_posix()))
    return entries


def _license_name(wheel: Path) -> str:
    metadata = read_metadata(wheel)
    named: str = metadata["License-Expression"] or metadata["License"] or "see the text"
    # Older metadata puts the whole text into the field, the name first.
    return named.splitlines()[0]


def _license_text(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in sorted(archive.namelist()) if ".dist-info/licenses/" in name]
        texts = [archive.read(name).decode("utf-8") for name in names]
    if not texts:
        raise BundleError(f"{wheel.name} carries no licence text.", "Correct the pins.")
    return "\n".join(texts)
