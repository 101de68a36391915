"""Compile the modules of a wheel. Runs in the page's own Python, whose bytecode no other release can make.

The page neither compiles a module that it imports nor asks whether its source is newer. What Python does not
use is left out, the page would fetch it for nothing: sources, and the SDK's own JavaScript. The same wheel
gives the same bytes.
"""

import base64
import hashlib
import py_compile
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

_MOMENT = (1980, 1, 1, 0, 0, 0)
_SITE_PACKAGES = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
_TAG = f"cp{sys.version_info.major}{sys.version_info.minor}-none-any"


def compile_wheel(wheel: str, folder: str) -> str:
    """Write `wheel` into `folder` with compiled modules and return its path.

    Raises:
        py_compile.PyCompileError: a module does not compile.
    """
    target = Path(folder, compiled_name(Path(wheel).name))
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as source:
        files = dict(_compiled(source))
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    del files[record]
    files[record] = _record(files, record)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(_entry(name), data, zipfile.ZIP_DEFLATED, 9)
    return str(target)


def compiled_name(wheel: str) -> str:
    """The name of a wheel once it is compiled: pure Python becomes Python of one release."""
    stem, _, tag = wheel.removesuffix(".whl").partition("-py3-none-any")
    return wheel if tag or stem == wheel.removesuffix(".whl") else f"{stem}-{_TAG}.whl"


def _compiled(wheel: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    for name in sorted(wheel.namelist()):
        data = wheel.read(name)
        if name.endswith(".py"):
            yield name + "c", _bytecode(name, data)
        elif name.endswith(".dist-info/WHEEL"):
            yield name, data.replace(b"py3-none-any", _TAG.encode())
        elif not name.endswith(("/", ".pyi")) and not name.startswith("pedelec/static/"):
            yield name, data


def _bytecode(name: str, source: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "module.py")
        path.write_bytes(source)
        compiled = py_compile.compile(
            str(path),
            cfile=str(path.with_suffix(".pyc")),
            dfile=f"{_SITE_PACKAGES}/{name}",
            doraise=True,
            optimize=0,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        assert compiled is not None
        return Path(compiled).read_bytes()


def _record(files: dict[str, bytes], record: str) -> bytes:
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    return "\n".join([*lines, f"{record},,", ""]).encode()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.external_attr = 0o644 << 16
    return entry
