"""What `pedelec-core runtime build|verify|where` do, without their command line."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pedelec_core.runtime import locations
from pedelec_core.runtime.build import build_bundle, extend_bundle, is_current
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.progress import Progress, silent
from pedelec_core.runtime.verify import find_problems

_TOOLS = ("hatchling", "packaging", "pip", "pyodide_build", "pyodide_lock")
"""Modules of the `bundle` extra."""


def build(out: Path | None = None, progress: Progress = silent, packages: Sequence[str] = ()) -> Path:
    """Make the bundle in `out` (default: the checkout's, else the user's) and return its folder.

    A bundle that is there and current is left alone. Needs `pedelec-core`'s `bundle` extra and, but where
    packages are added to a bundle that is there, a checkout.

    Args:
        out: the folder.
        progress: told of each stage.
        packages: what pages are to find in it besides, as pip would be asked for it.

    Raises:
        BundleError: it cannot be made; the message says why, and the advice what to do.
    """
    target = locations.default_output() if out is None else out.absolute()
    sdk = locations.sdk_source()
    if missing := [module for module in _TOOLS if find_spec(module) is None]:
        raise BundleError(f"Making a bundle needs {missing[0]}.", "Run `pip install 'pedelec-core[bundle]'`.")
    if sdk is None and packages:
        extend_bundle(locations.require_bundle(), target, locations.work_dir(), progress, packages)
    else:
        build_bundle(target, _sdk_source(), locations.work_dir(), progress, packages=packages)
    return target


def is_built(out: Path | None = None) -> bool:
    """Tell whether `build` would find nothing to do."""
    return is_current(locations.default_output() if out is None else out.absolute(), _sdk_source())


def verify(path: Path) -> list[str]:
    """Hash every file of the bundle in `path`; return what is wrong, one sentence each. None: it is whole."""
    return find_problems(path)


def where() -> Path | None:
    """Return the folder of the bundle that Core would serve, or None."""
    return locations.find_bundle()


def _sdk_source() -> Path:
    source = locations.sdk_source()
    if source is None:
        raise BundleError(
            "A bundle holds the SDK's wheel, which is built from its sources, and these are not here.",
            f"Build from a source checkout, then point ${locations.ENVIRONMENT_VARIABLE} at the bundle.",
        )
    return source
