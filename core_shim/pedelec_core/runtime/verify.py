"""Is a bundle whole? A cheap answer for every start of Core, and a full one for `runtime verify`."""

from pathlib import Path

from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.manifest import MANIFEST_NAME, FileEntry, Manifest, read


def check_quickly(bundle: Path) -> Manifest:
    """Check that a bundle is finished: it has a manifest, and each file listed is there with its size.

    Reads no file but the manifest. Returns the manifest.

    Raises:
        BundleError: a file is missing or of another size, with the first such file named.
    """
    manifest = read(bundle)
    for name, entry in manifest.files.items():
        if (problem := _problem_with_size(bundle / name, entry)) is not None:
            raise BundleError(f"The Pyodide bundle in {bundle} is only half there: {name} {problem}.")
    return manifest


def find_problems(bundle: Path) -> list[str]:
    """Hash every file of a bundle; return all that is wrong, one sentence each. None: it is whole."""
    try:
        manifest = read(bundle)
    except BundleError as error:
        return [error.message]
    problems = []
    for name, entry in sorted(manifest.files.items()):
        problem = _problem_with_size(bundle / name, entry) or _problem_with_contents(bundle / name, entry)
        if problem is not None:
            problems.append(f"{name} {problem}.")
    return problems + [f"{name} is not in {MANIFEST_NAME}." for name in _unlisted(bundle, manifest)]


def _problem_with_size(path: Path, entry: FileEntry) -> str | None:
    try:
        size = path.stat().st_size
    except OSError:
        return "is missing"
    return None if size == entry.size else f"has {size} bytes instead of {entry.size}"


def _problem_with_contents(path: Path, entry: FileEntry) -> str | None:
    try:
        digest = sha256_file(path)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if digest == entry.sha256 else "has other contents than when the bundle was built"


def _unlisted(bundle: Path, manifest: Manifest) -> list[str]:
    present = (path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file())
    return sorted(set(present) - set(manifest.files) - {MANIFEST_NAME})
