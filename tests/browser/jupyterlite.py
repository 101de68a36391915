"""The real JupyterLite with its Pyodide kernel, as a site would serve them: nothing of it is changed.

Owns what `jupyter lite build` would do: unpack the app, put the kernel's extension beside it, and tell both
where Pyodide and the kernel's own packages are.
"""

import json
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from packaging.utils import parse_wheel_filename

from pedelec_core.runtime import fetch
from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.locations import find_bundle, work_dir

LOCK: Final = Path(__file__).with_name("jupyterlite.lock")
_KERNEL: Final = "@jupyterlite/pyodide-kernel-extension"


def put_jupyterlite(site: Path) -> None:
    """Put JupyterLite on a site: what `jupyterlite.lock` has, and a Pyodide of the site's own."""
    downloads = work_dir() / "jupyterlite"
    wheels = fetch.page_wheels(downloads, LOCK) or fetch.fetch_page_wheels(downloads, lock=LOCK)
    app, kernel, *packages = sorted(wheels, key=lambda wheel: not wheel.name.startswith("jupyterlite"))
    _unpack_app(app, site)
    extension = _unpack_extension(kernel, site / "extensions")
    _put_packages(packages, site / "pypi")
    bundle = find_bundle()
    assert bundle is not None
    (site / "runtime").symlink_to(bundle / "runtime")
    _configure(site / "jupyter-lite.json", extension)


def _unpack_app(wheel: Path, site: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".tgz"))
        with files.open(name) as packed, tarfile.open(fileobj=packed) as archive:
            for member in archive:
                if not member.name.endswith(".map"):
                    member.name = member.name.removeprefix("package/")
                    archive.extract(member, site, filter="data")


def _unpack_extension(wheel: Path, extensions: Path) -> Any:
    """What the extension says of itself."""
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            _, found, path = name.partition("/labextensions/")
            if found and not name.endswith((".map", "/")):
                (extensions / path).parent.mkdir(parents=True, exist_ok=True)
                (extensions / path).write_bytes(files.read(name))
    return json.loads((extensions / _KERNEL / "package.json").read_text(encoding="utf-8"))


def _put_packages(wheels: Iterable[Path], folder: Path) -> None:
    """Write the index that piplite reads, for wheels in its folder."""
    folder.mkdir()
    index = {}
    for wheel in wheels:
        (folder / wheel.name).symlink_to(wheel)
        name, version, _, _ = parse_wheel_filename(wheel.name)
        release = {
            "filename": wheel.name,
            "url": f"./{wheel.name}",
            "digests": {"sha256": sha256_file(wheel)},
            "packagetype": "bdist_wheel",
            "requires_python": None,
            "yanked": False,
        }
        index[name] = {"releases": {str(version): [release]}}
    (folder / "all.json").write_text(json.dumps(index), encoding="utf-8")


def _configure(file: Path, extension: Any) -> None:
    settings = json.loads(file.read_text(encoding="utf-8"))
    config = settings["jupyter-config-data"]
    config["federated_extensions"] = [{"name": _KERNEL, **extension["jupyterlab"]["_build"]}]
    config["litePluginSettings"] = {
        f"{_KERNEL}:kernel": {
            "pyodideUrl": "./runtime/pyodide.mjs",
            "pipliteUrls": ["./pypi/all.json"],
            "disablePyPIFallback": True,
        }
    }
    file.write_text(json.dumps(settings), encoding="utf-8")
