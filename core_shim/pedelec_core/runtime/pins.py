"""What the bundle is made of, pinned: versions, hashes, file names. Facts only, no behaviour.

The wheels for the page are pinned in `page_wheels.lock`, Node in `node.lock`, both beside this file.
"""

from pathlib import Path
from typing import Final

PYODIDE_VERSION: Final = "314.0.7"

PYODIDE_INTEGRITY: Final = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
"""Subresource-Integrity hash of the npm tarball of `PYODIDE_VERSION`."""

PYODIDE_FILES: Final = (
    "pyodide.mjs",
    "pyodide.mjs.map",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
)
"""The files a page fetches, as they are in the npm tarball, whose lock file is replaced by our own."""

PYODIDE_LOCK_NAME: Final = "pyodide-lock.json"

PAGE_PYTHON: Final = "3.14"
PAGE_ABI: Final = "cp314"
PAGE_PLATFORM: Final = "pyemscripten_2026_0_wasm32"
"""Interpreter, ABI and platform tag (PEP 783) of wheels that `PYODIDE_VERSION` can load."""

PAGE_PACKAGES: Final = ("micropip==0.11.1", "pydantic==2.14.4")
"""What a page may need beyond the standard library; `page_wheels.lock` adds what these depend on."""

PAGE_WHEELS_LOCK: Final = Path(__file__).with_name("page_wheels.lock")

NODE_MIN_MAJOR: Final = 24
"""The first with Zstandard and, without a flag, with the WebAssembly that `PYODIDE_VERSION` is made of."""
NODE_LOCK: Final = Path(__file__).with_name("node.lock")
