"""Make a bundle: fetch what is missing, lay it out in a temporary folder, check it, and rename it into place.

A bundle that exists is therefore whole. What has not changed is taken over from the bundle that is there.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pedelec_core.runtime import fetch
from pedelec_core.runtime.added import add_packages
from pedelec_core.runtime.digests import combine
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.licenses import license_texts, write_licenses
from pedelec_core.runtime.manifest import (
    LICENSES_DIR,
    MANIFEST_NAME,
    RUNTIME_DIR,
    SNAPSHOT_DIR,
    WHEELS_DIR,
    LicenseEntry,
    Manifest,
    list_files,
    read,
)
from pedelec_core.runtime.page_lock import audit, write_page_lock
from pedelec_core.runtime.page_python import PagePython, PagePythonUnderNode, page_side_files
from pedelec_core.runtime.pins import PAGE_WHEELS_LOCK, PYODIDE_FILES, PYODIDE_LOCK_NAME, PYODIDE_VERSION
from pedelec_core.runtime.progress import Progress
from pedelec_core.runtime.sdk_wheel import build_wheel, hash_inputs, hash_modules
from pedelec_core.runtime.staging import staging
from pedelec_core.runtime.verify import check_quickly, find_problems

_THOROUGH_COMPRESSION = 12
_QUICK_COMPRESSION = 9
"""Of what is made again with each change of the SDK."""


def runtime_inputs() -> str:
    """Return one hash over the pins and the code that decide what is in `runtime/` and `licenses/`."""
    here = Path(__file__).parent
    names = ("build", "licenses", "page_lock", "page_python", "pins")
    makers = [PAGE_WHEELS_LOCK, *(here / f"{name}.py" for name in names)]
    makers += [*license_texts(), *page_side_files()]
    return combine([path.read_bytes() for path in makers])


def is_current(bundle: Path, sdk: Path, packages: Sequence[str] = ()) -> bool:
    """Tell whether a finished bundle is there that these pins and this SDK source would give again.

    It may have more packages than are asked for.
    """
    try:
        manifest = check_quickly(bundle)
    except BundleError:
        return False
    inputs = (manifest.runtime_inputs, manifest.sdk_inputs)
    return inputs == (runtime_inputs(), hash_inputs(sdk)) and set(packages) <= set(manifest.packages)


def build_bundle(
    out: Path,
    sdk: Path,
    work_dir: Path,
    progress: Progress,
    page_python: PagePython | None = None,
    packages: Sequence[str] = (),
) -> None:
    """Make the bundle in `out`, or leave it alone when it is current.

    Args:
        out: the folder that becomes the bundle; a former bundle there is replaced at the end.
        sdk: the SDK's source folder.
        work_dir: where downloads and tools are kept.
        progress: told of each stage.
        page_python: makes what the page's Python has to make; Pyodide under Node if not given.
        packages: what it is to hold besides, as pip would be asked for it. What was asked for once stays.

    Raises:
        BundleError: a part cannot be had or is not as pinned; `out` is as before.
    """
    with _only_one(work_dir, progress):
        if is_current(out, sdk, packages):
            return
        with _replacing(out) as fresh:
            maker = page_python or PagePythonUnderNode(work_dir)
            _lay_out(fresh, out, sdk, packages, work_dir, maker, progress)


def extend_bundle(
    base: Path,
    out: Path,
    work_dir: Path,
    progress: Progress,
    packages: Sequence[str],
    page_python: PagePython | None = None,
) -> None:
    """Make in `out` the bundle that is in `base`, with more packages. Needs no sources; `base` may be `out`.

    Raises:
        BundleError: a package is not to be had; `out` is as before.
    """
    with _only_one(work_dir, progress):
        manifest = check_quickly(base)
        if base == out and set(packages) <= set(manifest.packages):
            return
        with _replacing(out) as fresh:
            shutil.copytree(base, fresh)
            maker = page_python or PagePythonUnderNode(work_dir)
            added = _add(fresh, manifest.packages, packages, work_dir, maker, progress)
            _finish(replace(manifest, licenses=(*manifest.licenses, *added)), packages, fresh)


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """Give a folder, not made yet, that takes the place of `out` when all went well."""
    if _holds_something_else(out):
        raise BundleError(f"{out} is not a bundle and not empty.", "Name another folder.")
    with staging(out.parent, out.name) as folder:
        yield folder / "bundle"
        if out.exists():
            out.rename(folder / "former")
        (folder / "bundle").rename(out)


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


def _lay_out(
    fresh: Path,
    former: Path,
    sdk: Path,
    packages: Sequence[str],
    work_dir: Path,
    page_python: PagePython,
    progress: Progress,
) -> None:
    fresh.mkdir()
    inputs = runtime_inputs()
    snapshot_inputs = combine([inputs, hash_modules(sdk)])
    kept = _sound(former, inputs)
    if kept is None:
        licenses = _make_runtime(fresh, work_dir, page_python, progress)
    else:
        licenses = kept.licenses
        _take_over(former, fresh, snapshot=kept.snapshot_inputs == snapshot_inputs)
    here = () if kept is None else kept.packages
    wanted = sorted({*_packages_of(former), *packages})
    added = _add(fresh, here, wanted, work_dir, page_python, progress)
    progress("building the SDK's wheel")
    wheel = build_wheel(sdk, fresh / WHEELS_DIR)
    if not (fresh / SNAPSHOT_DIR).exists():
        _make_snapshots(fresh, wheel, sdk, page_python, progress)
    page = json.loads((fresh / RUNTIME_DIR / PYODIDE_LOCK_NAME).read_text(encoding="utf-8"))["info"]
    manifest = Manifest(
        pyodide_version=PYODIDE_VERSION,
        python_version=page["python"],
        abi_version=page["abi_version"],
        sdk_wheel=wheel.name,
        compiled_sdk_wheel=next((fresh / SNAPSHOT_DIR).glob("*.whl")).name,
        runtime_inputs=inputs,
        sdk_inputs=hash_inputs(sdk),
        snapshot_inputs=snapshot_inputs,
        licenses=(*licenses, *added),
        packages=(),
        files={},
    )
    _finish(manifest, wanted, fresh)


def _add(
    fresh: Path,
    here: Sequence[str],
    wanted: Sequence[str],
    work_dir: Path,
    page_python: PagePython,
    progress: Progress,
) -> Sequence[LicenseEntry]:
    missing = [package for package in wanted if package not in here]
    return add_packages(fresh, missing, work_dir, page_python, progress) if missing else []


def _finish(manifest: Manifest, packages: Sequence[str], fresh: Path) -> None:
    """Write the manifest of a folder that holds everything else, with `packages` added to what it names."""
    named = tuple(sorted({*manifest.packages, *packages}))
    whole = replace(manifest, packages=named, files=list_files(fresh))
    (fresh / MANIFEST_NAME).write_text(whole.to_json(), encoding="utf-8")


def _packages_of(bundle: Path) -> Sequence[str]:
    try:
        return read(bundle).packages
    except BundleError:
        return ()


def _sound(former: Path, inputs: str) -> Manifest | None:
    """Return the manifest of a former bundle if its runtime needs no making again and is untouched."""
    try:
        manifest = read(former)
    except BundleError:
        return None
    return None if manifest.runtime_inputs != inputs or find_problems(former) else manifest


def _take_over(former: Path, fresh: Path, *, snapshot: bool) -> None:
    """Copy what a former bundle has; its snapshot and its compiled SDK only where that is wanted."""
    left_out = () if snapshot else (Path(SNAPSHOT_DIR).name,)
    shutil.copytree(former / RUNTIME_DIR, fresh / RUNTIME_DIR, ignore=shutil.ignore_patterns(*left_out))
    shutil.copytree(former / LICENSES_DIR, fresh / LICENSES_DIR)


def _make_snapshots(fresh: Path, wheel: Path, sdk: Path, page_python: PagePython, progress: Progress) -> None:
    runtime, out = fresh / RUNTIME_DIR, fresh / SNAPSHOT_DIR
    out.mkdir()
    wheels = wheels_of_snapshot(runtime)
    page_python.make_snapshots(runtime, wheel, sdk / "pedelec" / "static", wheels, out, progress)
    compressible = [path for path in sorted(out.iterdir()) if path.suffix != ".whl"]
    page_python.compress(compressible, _QUICK_COMPRESSION, progress)


def wheels_of_snapshot(runtime: Path) -> list[Path]:
    """Return the wheels that are in the bigger memory snapshot besides the SDK's."""
    # micropip keeps live objects of JavaScript, which no snapshot can hold.
    inside = fetch.pinned_names() - {"micropip"}
    return [path for path in sorted(runtime.glob("*.whl")) if path.name.partition("-")[0] in inside]


def _make_runtime(
    fresh: Path, work_dir: Path, page_python: PagePython, progress: Progress
) -> Sequence[LicenseEntry]:
    downloads = work_dir / "downloads"
    tarball = fetch.ensure_pyodide(work_dir, progress)
    published = fetch.page_wheels(downloads) or fetch.fetch_page_wheels(downloads, progress)
    progress("checking the page's wheels")
    audit(published)
    runtime = fresh / RUNTIME_DIR
    runtime.mkdir()
    progress("unpacking Pyodide")
    # Pyodide does not start without a lock file; its own is kept aside, for ours takes its place.
    fetch.unpack_pyodide(tarball, (*PYODIDE_FILES, PYODIDE_LOCK_NAME), runtime)
    original = Path(shutil.copy(runtime / PYODIDE_LOCK_NAME, fresh.parent))
    page_python.compile_wheels(runtime, published, runtime, progress)
    write_page_lock(original, sorted(runtime.glob("*.whl")), runtime / PYODIDE_LOCK_NAME)
    compressible = [runtime / name for name in PYODIDE_FILES if name.endswith((".mjs", ".wasm"))]
    page_python.compress(compressible, _THOROUGH_COMPRESSION, progress)
    return write_licenses(published, fresh)
