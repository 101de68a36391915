"""The licence texts that travel with the bundle: one file for each part that somebody else wrote.

A wheel brings its own text. The libraries inside Pyodide's files bring none, so theirs are kept in
`license_texts/`, word for word as their authors publish them, without the marks of a comment or a page.
"""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.manifest import LICENSES_DIR, LicenseEntry
from pedelec_core.runtime.page_lock import read_metadata
from pedelec_core.runtime.pins import PYODIDE_VERSION

_LICENSE_PATH = re.compile(r"\.dist-info/(licenses/|(LICEN[CS]E|COPYING|NOTICE)[^/]*$)")

_PYODIDE_NOTICE = f"""\
Pyodide {PYODIDE_VERSION} is under the Mozilla Public License, version 2.0 (the text is below).
The files here are unaltered from its npm package, except pyodide-lock.json, which lists only the packages
of this bundle. The libraries inside them have their own texts, in linked/.
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

_LINKED_NOTICE = """\
{name} is inside {file}.
Licence: {license} (the text is below). Source code: {source}.

"""

LINKED_DIR: Final = f"{LICENSES_DIR}/linked"
"""Where the texts of what is inside Pyodide's files are: apart, for a wheel may be named like a library."""

LICENSE_TEXTS: Final = Path(__file__).with_name("license_texts")
_WASM = "pyodide.asm.wasm"
_LLVM = "Apache-2.0 WITH LLVM-exception AND (MIT OR NCSA)"
_EMSCRIPTEN_SOURCE = "https://github.com/emscripten-core/emscripten at tag 5.0.3"


@dataclass(frozen=True)
class Linked:
    """A library inside one of Pyodide's files.

    Args:
        part: its name in the manifest, and of its text.
        license: an SPDX licence expression.
        source: where its source code is.
        version: as the file itself says it; empty where it does not.
        file: which of Pyodide's files contains it.
    """

    part: str
    license: str
    source: str
    version: str = ""
    file: str = _WASM


_HIWIRE = Linked("hiwire", "MPL-2.0", "https://github.com/pyodide/hiwire at commit 6a1e67280a15")

LINKED: Final = (
    Linked("bzip2", "bzip2-1.0.6", "https://sourceware.org/bzip2", "1.0.6"),
    Linked("compiler_rt", _LLVM, _EMSCRIPTEN_SOURCE),
    Linked("cpython_incorporated", "LicenseRef-CPython-Incorporated", "https://github.com/python/cpython"),
    Linked("divsufsort", "MIT", "https://github.com/facebook/zstd"),
    Linked("dlmalloc", "CC0-1.0", _EMSCRIPTEN_SOURCE),
    Linked("emscripten", "MIT OR NCSA", _EMSCRIPTEN_SOURCE, "5.0.3", f"{_WASM} and pyodide.asm.mjs"),
    Linked("expat", "MIT", "https://github.com/libexpat/libexpat", "2.7.3"),
    Linked("hacl", "MIT", "https://github.com/hacl-star/hacl-star"),
    _HIWIRE,
    Linked("libcxx", _LLVM, _EMSCRIPTEN_SOURCE),
    Linked("libcxxabi", _LLVM, _EMSCRIPTEN_SOURCE),
    Linked("libffi", "MIT", "https://github.com/libffi/libffi at commit f08493d249d2"),
    Linked("liblzma", "LicenseRef-Public-Domain", "https://tukaani.org/xz", "5.2.2"),
    Linked("libmpdec", "BSD-2-Clause", "https://www.bytereef.org/mpdecimal", "2.5.1"),
    Linked("libunwind", _LLVM, _EMSCRIPTEN_SOURCE),
    Linked("llvm_libc", "Apache-2.0 WITH LLVM-exception", _EMSCRIPTEN_SOURCE),
    Linked("mimalloc", "MIT", "https://github.com/microsoft/mimalloc"),
    Linked("mini_lz4", "MIT", _EMSCRIPTEN_SOURCE, file="pyodide.asm.mjs"),
    Linked("musl", "MIT", _EMSCRIPTEN_SOURCE),
    Linked("musl_sources", "BSD-2-Clause AND BSD-3-Clause AND ISC AND MIT AND SunPro", _EMSCRIPTEN_SOURCE),
    Linked("sqlite", "blessing", "https://sqlite.org", "3.39.0"),
    Linked(
        "stackframe",
        "MIT",
        "https://github.com/stacktracejs/error-stack-parser",
        file="pyodide.mjs and pyodide.asm.mjs",
    ),
    Linked("zlib", "Zlib", "https://zlib.net", "1.3.1"),
    Linked("zstd", "BSD-3-Clause", "https://github.com/facebook/zstd", "1.5.7"),
)
"""What Pyodide's build links (its Makefile.envs and cpython/Makefile) and what those libraries contain.

A new `PYODIDE_VERSION` may link others: a test compares the versions with those in the files.
"""


def write_licenses(wheels: Sequence[Path], bundle: Path) -> list[LicenseEntry]:
    """Write the licence texts for Pyodide, what is in it, and each wheel into a bundle; return their entries.

    Takes the wheels as they were published. Pyodide's npm package and its standard library bring no licence
    text. micropip is under Pyodide's licence (as hiwire is) and typing-extensions under CPython's, and both
    wheels carry the full text.

    Raises:
        BundleError: a wheel carries no licence text, or one of these two is not among the wheels.
    """
    (bundle / LINKED_DIR).mkdir(parents=True)
    texts = {_part(wheel): _license_text(wheel) for wheel in wheels}
    if missing := [wheel.name for wheel in wheels if not texts[_part(wheel)]]:
        raise BundleError(f"{missing[0]} carries no licence text.", "Correct the pins.")
    try:
        mpl, psf = texts["micropip"], texts["typing_extensions"]
    except KeyError as error:
        raise BundleError(f"No wheel of {error} to take a licence text from.", "Correct the pins.") from error
    parts = [("pyodide", "MPL-2.0", _PYODIDE_NOTICE + mpl), ("cpython", "PSF-2.0", _CPYTHON_NOTICE + psf)]
    own = [_write(bundle, part, name, text) for part, name, text in parts]
    own += [_write_linked(bundle, linked, mpl if linked is _HIWIRE else None) for linked in LINKED]
    return own + [_write_of_wheel(bundle, wheel, _COMPILED_NOTICE, texts[_part(wheel)]) for wheel in wheels]


def add_licenses(wheels: Sequence[Path], bundle: Path) -> list[LicenseEntry]:
    """Write the licence texts that wheels carry which somebody asked for; return the entries."""
    texts = [(wheel, _license_text(wheel)) for wheel in wheels]
    return [_write_of_wheel(bundle, wheel, _ADDED_NOTICE, text) for wheel, text in texts if text]


def license_texts() -> list[Path]:
    """Return the files that hold the texts of what brings none itself."""
    return sorted(LICENSE_TEXTS.glob("*.txt"))


def _write_linked(bundle: Path, linked: Linked, text: str | None) -> LicenseEntry:
    if text is None:
        text = (LICENSE_TEXTS / f"{linked.part}.txt").read_text(encoding="utf-8")
    name = f"{linked.part} {linked.version}".rstrip()
    notice = _LINKED_NOTICE.format(file=linked.file, name=name, license=linked.license, source=linked.source)
    return _write(bundle, linked.part, linked.license, notice + text, LINKED_DIR)


def _write_of_wheel(bundle: Path, wheel: Path, notice: str, text: str) -> LicenseEntry:
    return _write(bundle, _part(wheel), _license_name(wheel), notice.format(wheel=wheel.name) + text)


def _write(bundle: Path, part: str, name: str, text: str, folder: str = LICENSES_DIR) -> LicenseEntry:
    path = bundle / folder / f"{part}.txt"
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
