"""Bring the bundle's parts onto this machine: Pyodide's npm tarball and the page's wheels.

Every file is checked against its pinned hash before it gets its final name in the download folder, and again
whenever it is taken from there. Knows no address: the npm and pip clients do.
"""

import re
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pedelec_core.runtime.digests import integrity, sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.node import Node, ensure_node
from pedelec_core.runtime.pins import (
    PAGE_ABI,
    PAGE_PLATFORM,
    PAGE_PYTHON,
    PAGE_WHEELS_LOCK,
    PYODIDE_INTEGRITY,
    PYODIDE_VERSION,
)
from pedelec_core.runtime.pip import run_pip
from pedelec_core.runtime.process import ProgramError, run
from pedelec_core.runtime.progress import Progress, silent
from pedelec_core.runtime.staging import staging

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_ADVICE = "Check the network connection, then try again; what is already here is kept."
_TAMPERED = (
    "Do not use it. Try again; if it stays so, something between this machine and its registry alters files."
)

PAGE_TARGET = (
    "--only-binary", ":all:", "--implementation", "cp", "--python-version", PAGE_PYTHON,
    "--abi", PAGE_ABI, "--platform", PAGE_PLATFORM,
)  # fmt: skip
"""pip's options for wheels that run in the page rather than on this machine."""


def ensure_pyodide(work_dir: Path, progress: Progress = silent) -> Path:
    """Return Pyodide's tarball from the downloads in `work_dir`, fetched when it is not there.

    Raises:
        BundleError: it is not to be had, or not the pinned one.
    """
    downloads = work_dir / "downloads"
    kept = pyodide_tarball(downloads)
    return kept or fetch_pyodide(downloads, ensure_node(work_dir, progress), progress)


def unpack_pyodide(tarball: Path, names: Iterable[str], into: Path) -> None:
    """Unpack some of the files of Pyodide's tarball."""
    with tarfile.open(tarball) as archive:
        for name in names:
            member = archive.extractfile(f"package/{name}")
            assert member is not None, "the pinned tarball has these files"
            with member, (into / name).open("wb") as target:
                shutil.copyfileobj(member, target)


def pyodide_tarball(downloads: Path) -> Path | None:
    """Return the tarball kept in `downloads` if its hash is the pinned one, else None."""
    kept = downloads / f"pyodide-{PYODIDE_VERSION}.tgz"
    return kept if kept.is_file() and integrity(kept) == PYODIDE_INTEGRITY else None


def fetch_pyodide(downloads: Path, node: Node, progress: Progress = silent) -> Path:
    """Fetch Pyodide's tarball with npm into `downloads` and return it.

    Raises:
        BundleError: npm failed, or the tarball is not the pinned one.
    """
    package = f"pyodide@{PYODIDE_VERSION}"
    progress(f"{package} with npm of Node {node.version}")
    with staging(downloads, "pyodide") as folder:
        command: list[str | Path] = [
            *node.npm,
            "pack",
            package,
            "--ignore-scripts",
            "--pack-destination",
            folder,
        ]
        try:
            run([*command, "--cache", downloads / "npm"], cwd=folder, env=node.environment)
        except ProgramError as error:
            raise BundleError(f"npm could not fetch {package}: {error}", _ADVICE) from error
        return _keep_if_pinned(folder / f"pyodide-{PYODIDE_VERSION}.tgz", downloads)


def _keep_if_pinned(tarball: Path, downloads: Path) -> Path:
    if not tarball.is_file():
        raise BundleError(f"npm ended well but left no {tarball.name}.", _ADVICE)
    if (found := integrity(tarball)) != PYODIDE_INTEGRITY:
        raise BundleError(
            f"{tarball.name} is not the pinned one: {found}, not {PYODIDE_INTEGRITY}.", _TAMPERED
        )
    return tarball.rename(downloads / tarball.name)


def pinned_wheel_hashes(lock: Path = PAGE_WHEELS_LOCK) -> dict[str, str]:
    """Return the requirement (`name==version`) that each pinned SHA-256 belongs to, by that hash."""
    entry = re.compile(r"^(\S+==\S+) --hash=sha256:([0-9a-f]{64})$", re.MULTILINE)
    return {digest: requirement for requirement, digest in entry.findall(lock.read_text(encoding="utf-8"))}


def pinned_names(lock: Path = PAGE_WHEELS_LOCK) -> set[str]:
    """Return the names of the packages of every bundle, as they are in the names of wheels."""
    return {
        requirement.partition("==")[0].replace("-", "_") for requirement in pinned_wheel_hashes(lock).values()
    }


def page_wheels(downloads: Path, lock: Path = PAGE_WHEELS_LOCK) -> list[Path] | None:
    """Return the page's wheels kept in `downloads`, sorted by name, or None unless all are as pinned."""
    pinned = pinned_wheel_hashes(lock)
    kept = {sha256_file(path): path for path in sorted((downloads / "wheels").glob("*.whl"))}
    wheels = sorted(path for digest, path in kept.items() if digest in pinned)
    return wheels if len(wheels) == len(pinned) else None


def fetch_page_wheels(
    downloads: Path, progress: Progress = silent, lock: Path = PAGE_WHEELS_LOCK
) -> list[Path]:
    """Download the page's wheels with pip into `downloads/wheels` and return them, sorted by name.

    Raises:
        BundleError: pip failed, or a wheel is not as pinned.
    """
    folder = downloads / "wheels"
    progress("wheels for the page")
    with staging(downloads, "wheels") as fresh:
        options: list[str | Path] = ["--require-hashes", "--no-deps", *PAGE_TARGET, "--dest", fresh]
        try:
            run_pip(["download", *options, "-r", lock], progress=progress)
        except ProgramError as error:
            raise BundleError(f"pip could not fetch the wheels for the page: {error}", _ADVICE) from error
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    wheels = page_wheels(downloads, lock)
    if wheels is None:
        raise BundleError(f"The wheels in {folder} are not those that {lock.name} pins.", _TAMPERED)
    return wheels


def fetch_wheel(requirement: "Requirement", folder: Path, progress: Progress = silent) -> Path:
    """Return a wheel for the page that meets a requirement: one kept in `folder`, else pip's choice.

    Raises:
        BundleError: the package index has none.
    """
    if (kept := _kept_wheel(requirement, folder)) is not None:
        return kept
    progress(str(requirement))
    with staging(folder, "wheel") as fresh:
        # By name alone: what the requirement says of extras and markers is its asker's business.
        wanted = f"{requirement.name}{requirement.specifier}"
        try:
            run_pip(["download", "--no-deps", *PAGE_TARGET, "--dest", fresh, wanted], progress=progress)
        except ProgramError as error:
            message = f"pip found no wheel of {wanted} for pages ({PAGE_ABI}, {PAGE_PLATFORM}): {error}"
            raise BundleError(message, "Check the name and the network connection.") from error
        (wheel,) = fresh.glob("*.whl")
        return wheel.rename(folder / wheel.name)


def _kept_wheel(requirement: "Requirement", folder: Path) -> Path | None:
    from packaging.utils import canonicalize_name, parse_wheel_filename

    for wheel in sorted(folder.glob("*.whl"), reverse=True):
        name, version, _, _ = parse_wheel_filename(wheel.name)
        if name == canonicalize_name(requirement.name) and version in requirement.specifier:
            return wheel
    return None
