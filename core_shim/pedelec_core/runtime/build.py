"""Make a bundle: fetch what is missing, lay it out in a temporary folder, check it, and rename it into place.

A bundle that exists is therefore whole. What has not changed is taken over from the bundle that is there.
"""

import fcntl
import json
import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pedelec_core.runtime import fetch
from pedelec_core.runtime.digests import combine
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.licenses import write_licenses
from pedelec_core.runtime.manifest import (
    LICENSES_DIR,
    MANIFEST_NAME,
    RUNTIME_DIR,
    WHEELS_DIR,
    LicenseEntry,
    Manifest,
    list_files,
    read,
)
from pedelec_core.runtime.node import ensure_node
from pedelec_core.runtime.page_lock import audit, write_page_lock
from pedelec_core.runtime.pins import PAGE_WHEELS_LOCK, PYODIDE_FILES, PYODIDE_LOCK_NAME, PYODIDE_VERSION
from pedelec_core.runtime.progress import Progress
from pedelec_core.runtime.sdk_wheel import build_wheel, hash_inputs
from pedelec_core.runtime.staging import staging
from pedelec_core.runtime.verify import check_quickly, find_problems


def runtime_inputs() -> str:
    """Return one hash over the pins and the code that decide what is in `runtime/` and `licenses/`."""
    here = Path(__file__).parent
    makers = [PAGE_WHEELS_LOCK, *(here / f"{name}.py" for name in ("build", "licenses", "page_lock", "pins"))]
    return combine([path.read_bytes() for path in makers])


def is_current(bundle: Path, sdk: Path) -> bool:
    """Tell whether a finished bundle is there that these pins and this SDK source would give again."""
    try:
        manifest = check_quickly(bundle)
    except BundleError:
        return False
    return (manifest.runtime_inputs, manifest.sdk_inputs) == (runtime_inputs(), hash_inputs(sdk))


def build_bundle(out: Path, sdk: Path, work_dir: Path, progress: Progress) -> None:
    """Make the bundle in `out`, or leave it alone when it is current.

    Args:
        out: the folder that becomes the bundle; a former bundle there is replaced at the end.
        sdk: the SDK's source folder.
        work_dir: where downloads and tools are kept.
        progress: told of each stage.

    Raises:
        BundleError: a part cannot be had or is not as pinned; `out` is as before.
    """
    with _only_one(work_dir, progress):
        if is_current(out, sdk):
            return
        if _holds_something_else(out):
            raise BundleError(f"{out} is not a bundle and not empty.", "Name another folder.")
        with staging(out.parent, out.name) as folder:
            fresh = folder / "bundle"
            _lay_out(fresh, out, sdk, work_dir, progress)
            if out.exists():
                out.rename(folder / "former")
            fresh.rename(out)


@contextmanager
def _only_one(work_dir: Path, progress: Progress) -> Iterator[None]:
    """Hold a lock that the kernel drops when its holder dies; wait for another holder to finish."""
    work_dir.mkdir(parents=True, exist_ok=True)
    with (work_dir / "bundle.lock").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another build")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _holds_something_else(out: Path) -> bool:
    """Tell whether replacing `out` would delete files that no build of a bundle has put there."""
    if not out.exists() or any((out / name).exists() for name in (MANIFEST_NAME, RUNTIME_DIR)):
        return False
    return not out.is_dir() or any(out.iterdir())


def _lay_out(fresh: Path, former: Path, sdk: Path, work_dir: Path, progress: Progress) -> None:
    fresh.mkdir()
    inputs, sdk_inputs = runtime_inputs(), hash_inputs(sdk)
    kept = _take_over(former, fresh, inputs)
    licenses = _make_runtime(fresh, work_dir, progress) if kept is None else kept.licenses
    progress("building the SDK's wheel")
    wheel = build_wheel(sdk, fresh / WHEELS_DIR)
    page = json.loads((fresh / RUNTIME_DIR / PYODIDE_LOCK_NAME).read_text(encoding="utf-8"))["info"]
    manifest = Manifest(
        pyodide_version=PYODIDE_VERSION,
        python_version=page["python"],
        abi_version=page["abi_version"],
        sdk_wheel=wheel.name,
        runtime_inputs=inputs,
        sdk_inputs=sdk_inputs,
        licenses=tuple(licenses),
        files=list_files(fresh),
    )
    (fresh / MANIFEST_NAME).write_text(manifest.to_json(), encoding="utf-8")


def _take_over(former: Path, fresh: Path, inputs: str) -> Manifest | None:
    """Copy the parts that need no making again from a former bundle, if it has them and is untouched."""
    try:
        manifest = read(former)
    except BundleError:
        return None
    if manifest.runtime_inputs != inputs or find_problems(former):
        return None
    for name in (RUNTIME_DIR, LICENSES_DIR):
        shutil.copytree(former / name, fresh / name)
    return manifest


def _make_runtime(fresh: Path, work_dir: Path, progress: Progress) -> Sequence[LicenseEntry]:
    downloads = work_dir / "downloads"
    tarball = fetch.pyodide_tarball(downloads)
    if tarball is None:
        tarball = fetch.fetch_pyodide(downloads, ensure_node(work_dir, progress), progress)
    kept = fetch.page_wheels(downloads) or fetch.fetch_page_wheels(downloads, progress)
    runtime = fresh / RUNTIME_DIR
    runtime.mkdir()
    progress("unpacking Pyodide")
    original = _unpack(tarball, runtime, fresh.parent)
    wheels = [Path(shutil.copy(wheel, runtime)) for wheel in kept]
    progress("checking the page's wheels")
    audit(wheels)
    write_page_lock(original, wheels, runtime / PYODIDE_LOCK_NAME)
    return write_licenses(wheels, fresh)


def _unpack(tarball: Path, runtime: Path, aside: Path) -> Path:
    """Unpack Pyodide's files into `runtime`, and its own lock file into `aside`; return the latter."""
    with tarfile.open(tarball) as archive:
        for name in (*PYODIDE_FILES, PYODIDE_LOCK_NAME):
            member = archive.extractfile(f"package/{name}")
            assert member is not None, "the pinned tarball has these files"
            folder = aside if name == PYODIDE_LOCK_NAME else runtime
            with member, (folder / name).open("wb") as target:
                shutil.copyfileobj(member, target)
    return aside / PYODIDE_LOCK_NAME
