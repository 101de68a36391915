"""Where a bundle may lie, in which order, and where the tools and downloads for making one are kept."""

import importlib.util
import os
from pathlib import Path
from typing import Final

import platformdirs

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.manifest import MANIFEST_NAME, read

ENVIRONMENT_VARIABLE: Final = "PEDELEC_RUNTIME_DIR"

INSTALLED_PACKAGE: Final = "pedelec_runtime"
"""The import name of the data-only distribution that holds a bundle."""

INSTALLED_BUNDLE: Final = "bundle"
"""The folder of the bundle in that package."""

_APPLICATION: Final = "pedelec"


def checkout_root() -> Path | None:
    """Return the source checkout that this module runs from, or None when it is installed."""
    root = Path(__file__).resolve().parents[3]
    is_checkout = (root / "sdk_py" / "pyproject.toml").is_file() and (root / "core_shim").is_dir()
    return root if is_checkout else None


def sdk_source() -> Path | None:
    """Return the folder of the SDK's sources, or None when there is no checkout to build its wheel from."""
    root = checkout_root()
    return None if root is None else root / "sdk_py"


def work_dir() -> Path:
    """Return the folder for downloads and tools that making a bundle needs. It may not exist yet."""
    root = checkout_root()
    return platformdirs.user_cache_path(_APPLICATION) if root is None else root / "build"


def default_output() -> Path:
    """Return where `build` puts a bundle unless told otherwise: the checkout's, else the user's."""
    root = checkout_root()
    return _user_bundle() if root is None else root / "build" / "runtime"


def _user_bundle() -> Path:
    return platformdirs.user_data_path(_APPLICATION) / "runtime"


def _installed_bundle() -> Path | None:
    """Return where the bundle of an installed `pedelec-runtime` is, or None without one."""
    spec = importlib.util.find_spec(INSTALLED_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / INSTALLED_BUNDLE


def candidates() -> list[Path]:
    """Return the folders where a bundle is looked for, first choice first.

    `$PEDELEC_RUNTIME_DIR` stands alone when it is set: whoever names a folder wants that one or an error.
    """
    if named := os.environ.get(ENVIRONMENT_VARIABLE):
        return [Path(named)]
    checkout = [] if checkout_root() is None else [default_output()]
    installed, users = _installed_bundle(), _user_bundle()
    if installed is None:
        return [*checkout, users]
    return [*checkout, *((users, installed) if _extends(users, installed) else (installed, users))]


def _extends(users: Path, installed: Path) -> bool:
    """Tell whether the user's bundle is the installed one with packages added to it, not an older one."""
    try:
        first, second = read(users), read(installed)
    except BundleError:
        return False
    return (first.runtime_inputs, first.sdk_inputs) == (second.runtime_inputs, second.sdk_inputs)


def find_bundle() -> Path | None:
    """Return the first folder that holds a finished bundle (its manifest is written last), or None."""
    return next((folder for folder in candidates() if (folder / MANIFEST_NAME).is_file()), None)


def require_bundle() -> Path:
    """Return the bundle to serve, after the cheap check of `verify.check_quickly`.

    Raises:
        BundleError: there is none, or the one found is only half there.
    """
    from pedelec_core.runtime.verify import check_quickly

    found = find_bundle()
    if found is None:
        found = next((folder for folder in candidates() if folder.is_dir()), None)
    if found is None:
        places = ", ".join(str(folder) for folder in candidates())
        raise BundleError(f"There is no Pyodide bundle (looked in: {places}).")
    check_quickly(found)
    return found
