"""Packages that a bundle holds beyond those of every bundle, because somebody asked for them by name.

They are found as micropip finds them in a page: in Pyodide's own distribution, whose lock file pins them,
else on the package index. Owns that choice, and what of it gets into a bundle; how one is made is `build`'s.
"""

import shutil
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pedelec_core.runtime import fetch
from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.licenses import add_licenses
from pedelec_core.runtime.manifest import RUNTIME_DIR, LicenseEntry
from pedelec_core.runtime.page_lock import audit, describe, read_metadata, requirements_of
from pedelec_core.runtime.page_python import PagePython
from pedelec_core.runtime.pins import PYODIDE_LOCK_NAME
from pedelec_core.runtime.progress import Progress
from pedelec_core.runtime.staging import staging

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from pyodide_lock import PackageSpec


def parse(wanted: Iterable[str]) -> "list[Requirement]":
    """Read what was asked for.

    Raises:
        BundleError: one is not the name of a package, with or without versions.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    requirements = []
    for text in wanted:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise BundleError(f"{text!r} names no package: {error}.", "Name it as for pip.") from error
        if requirement.url is not None:
            raise BundleError(f"{text!r} is an address.", "Name the package: `name` or `name==version`.")
        requirements.append(requirement)
    return requirements


def choose(
    wanted: "Sequence[Requirement]",
    present: Mapping[str, str],
    own: "Mapping[str, PackageSpec]",
    fetch_wheel: "Callable[[Requirement], Path]",
    python: str,
) -> tuple[list[str], list[Path]]:
    """Decide where each package comes from, and each that it needs.

    Args:
        wanted: what was asked for.
        present: the versions that the bundle has, by normalized name.
        own: what Pyodide's own distribution has.
        fetch_wheel: gets a wheel from the package index.
        python: the release of the page's Python, such as `3.14.2`.

    Returns:
        The names of those from Pyodide's distribution, and the wheels of the others.

    Raises:
        BundleError: a package is wanted in two versions.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    versions = dict(present)
    names: list[str] = []
    wheels: list[Path] = []
    waiting = deque(wanted)
    while waiting:
        requirement = waiting.popleft()
        name = canonicalize_name(requirement.name)
        if name in versions:
            if not requirement.specifier.contains(versions[name], prereleases=True):
                message = f"{requirement} is wanted, but {name} {versions[name]} is in the bundle."
                raise BundleError(message, "Ask for another version, or leave it out.")
        elif name in own and requirement.specifier.contains(own[name].version, prereleases=True):
            versions[name] = own[name].version
            names.append(name)
            waiting.extend(map(Requirement, own[name].depends))
        else:
            wheel = fetch_wheel(requirement)
            metadata = read_metadata(wheel)
            versions[name] = metadata["Version"]
            wheels.append(wheel)
            waiting.extend(requirements_of(metadata, python, requirement.extras))
    return names, wheels


def add_packages(
    bundle: Path, wanted: Sequence[str], work_dir: Path, page_python: PagePython, progress: Progress
) -> list[LicenseEntry]:
    """Put packages, and those that they need, into a bundle that is being made.

    Returns:
        The entries of the licence texts that they bring.

    Raises:
        BundleError: one is not to be had, or does not run in the page.
    """
    from pyodide_lock import PyodideLockSpec

    requirements = parse(wanted)
    runtime, downloads = bundle / RUNTIME_DIR, work_dir / "downloads"
    page_lock = PyodideLockSpec.from_json(runtime / PYODIDE_LOCK_NAME)
    with staging(work_dir, "added") as aside:
        tarball = fetch.ensure_pyodide(work_dir, progress)
        fetch.unpack_pyodide(tarball, [PYODIDE_LOCK_NAME], aside)
        own = PyodideLockSpec.from_json(aside / PYODIDE_LOCK_NAME).packages
        names, wheels = choose(
            requirements,
            {name: spec.version for name, spec in page_lock.packages.items()},
            own,
            lambda requirement: fetch.fetch_wheel(requirement, downloads / "added", progress),
            page_lock.info.python,
        )
        audit(wheels)
        own_files = [downloads / "pyodide" / own[name].file_name for name in names]
        if names:
            page_python.fetch_own(runtime, aside / PYODIDE_LOCK_NAME, downloads / "pyodide", names, progress)
        for name, file in zip(names, own_files, strict=True):
            if not file.is_file() or sha256_file(file) != own[name].sha256:
                message = f"{name} of Pyodide's own distribution did not arrive as its lock file pins it."
                raise BundleError(message, "Check the network connection, then try again.")
            shutil.copy(file, runtime)
        compiled = aside / "compiled"
        compiled.mkdir()
        if wheels:
            page_python.compile_wheels(runtime, wheels, compiled, progress)
        made = [Path(shutil.move(wheel, runtime)) for wheel in sorted(compiled.iterdir())]
    specs = [*(own[name] for name in names), *(describe(wheel, page_lock.info.python) for wheel in made)]
    page_lock.packages |= {spec.name: spec for spec in specs}
    page_lock.to_json(runtime / PYODIDE_LOCK_NAME, indent=2)
    return add_licenses([*(file for file in own_files if file.suffix == ".whl"), *wheels], bundle)
