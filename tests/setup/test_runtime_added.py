"""Packages added to a bundle on request: where each comes from, what it needs, what is refused."""

import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pyodide_lock import PackageSpec

from pedelec_core.runtime import fetch
from pedelec_core.runtime.added import add_packages, choose, parse
from pedelec_core.runtime.digests import integrity, sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.pins import PYODIDE_LOCK_NAME, PYODIDE_VERSION
from pedelec_core.runtime.progress import Progress, silent
from tests.setup.test_runtime_bundle import Copier
from tests.setup.test_runtime_page_lock import make_wheel


def own(name: str, version: str, *depends: str) -> PackageSpec:
    """A package of Pyodide's own distribution."""
    file = f"{name}-{version}-py3-none-any.whl"
    return PackageSpec(
        name=name, version=version, file_name=file, install_dir="site", sha256="", depends=list(depends)
    )


@pytest.fixture
def index(tmp_path: Path) -> dict[str, Path]:
    """A package index: `plot` needs `array`, and `shapes` in its extra `fast`; all are of version 1.0."""
    needs = {"plot": ["array>=1", 'shapes; extra == "fast"', 'curses; sys_platform == "win32"'], "shapes": []}
    return {name: make_wheel(tmp_path, name, *needs[name]) for name in needs}


def chosen(
    wanted: Sequence[str],
    index: dict[str, Path],
    distribution: Sequence[PackageSpec] = (),
    present: dict[str, str] | None = None,
) -> tuple[list[str], list[str]]:
    specs = {spec.name: spec for spec in distribution}
    names, wheels = choose(parse(wanted), present or {}, specs, lambda one: index[one.name], "3.14.2")
    return names, [wheel.name.partition("-")[0] for wheel in wheels]


def test_pyodides_own_packages_come_first_with_all_that_they_need(index: dict[str, Path]) -> None:
    distribution = [own("array", "2.0", "blas"), own("blas", "1.0"), own("shapes", "1.0")]
    assert chosen(["plot"], index, distribution) == (["array", "blas"], ["plot"])


def test_a_version_that_pyodide_does_not_have_comes_from_the_package_index(index: dict[str, Path]) -> None:
    assert chosen(["shapes==1.0"], index, [own("shapes", "0.9")]) == ([], ["shapes"])


def test_extras_bring_what_they_need(index: dict[str, Path]) -> None:
    assert chosen(["plot[fast]"], index, [own("array", "2.0")]) == (["array"], ["plot", "shapes"])


def test_what_the_bundle_has_is_not_fetched_again(index: dict[str, Path]) -> None:
    assert chosen(["plot"], index, present={"array": "1.5"}) == ([], ["plot"])


def test_another_version_than_the_bundle_has_is_refused(index: dict[str, Path]) -> None:
    with pytest.raises(BundleError, match=r"array>=1 is wanted, but array 0\.5 is in the bundle"):
        chosen(["plot"], index, present={"array": "0.5"})


@pytest.mark.parametrize("wanted", ["", "two words", "-r", "x @ https://example.org/x.whl"])
def test_what_names_no_package_is_refused(wanted: str) -> None:
    with pytest.raises(BundleError):
        parse([wanted])


def test_a_name_is_read_as_pip_reads_it() -> None:
    assert parse(["a_b[c]>=1,<2"]) == [Requirement("a_b[c]<2,>=1")]


# --- into a bundle --------------------------------------------------------------------------------------

_INFO = {
    "info": {"platform": "emscripten_5_0_3", "python": "3.14.2", "arch": "wasm32", "abi_version": "2026_0"}
}


class Distribution(Copier):
    """A `PagePython` that has the wheels of a folder for Pyodide's own, whatever its lock says."""

    def __init__(self, wheels: Path) -> None:
        self._wheels = wheels

    def fetch_own(
        self, pyodide: Path, lock: Path, folder: Path, names: Sequence[str], progress: Progress
    ) -> None:
        folder.mkdir(exist_ok=True)
        for name in names:
            (wheel,) = self._wheels.glob(f"{name}-*.whl")
            shutil.copy(wheel, folder)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Where the wheels of Pyodide's own distribution are."""
    folder = tmp_path / "distribution"
    folder.mkdir()
    return folder


@pytest.fixture
def work_dir(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Downloads: a Pyodide whose own distribution has `array`, and a wheel of `plot` from the index."""
    downloads = tmp_path / "work" / "downloads"
    (downloads / "added").mkdir(parents=True)
    make_wheel(downloads / "added", "plot", "array>=1")
    array = make_wheel(wheels, "array")
    spec = {"name": "array", "version": "1.0", "file_name": array.name, "install_dir": "site"}
    spec |= {"sha256": sha256_file(array)}
    lock = tmp_path / PYODIDE_LOCK_NAME
    lock.write_text(json.dumps(_INFO | {"packages": {"array": spec}}))
    tarball = downloads / f"pyodide-{PYODIDE_VERSION}.tgz"
    with tarfile.open(tarball, "w:gz") as archive:
        archive.add(lock, f"package/{PYODIDE_LOCK_NAME}")
    monkeypatch.setattr(fetch, "PYODIDE_INTEGRITY", integrity(tarball))
    return tmp_path / "work"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle without packages that is being made."""
    folder = tmp_path / "bundle"
    (folder / "runtime").mkdir(parents=True)
    (folder / "licenses").mkdir()
    (folder / "runtime" / PYODIDE_LOCK_NAME).write_text(json.dumps(_INFO | {"packages": {}}))
    return folder


def test_packages_get_into_the_runtime_its_lock_and_the_licences(
    bundle: Path, work_dir: Path, wheels: Path
) -> None:
    entries = add_packages(bundle, ["plot"], work_dir, Distribution(wheels), silent)
    packages = json.loads((bundle / "runtime" / PYODIDE_LOCK_NAME).read_text())["packages"]
    assert packages.keys() == {"array", "plot"}
    assert packages["plot"]["depends"] == ["array"]
    for package in packages.values():
        assert sha256_file(bundle / "runtime" / package["file_name"]) == package["sha256"]
    texts = [(entry.part, (bundle / entry.file).is_file()) for entry in entries]
    assert texts == [("array", True), ("plot", True)]


def test_a_package_that_is_not_as_pyodides_lock_pins_it_is_refused(
    bundle: Path, work_dir: Path, wheels: Path
) -> None:
    make_wheel(wheels, "array", "something-else")
    with pytest.raises(BundleError, match="array of Pyodide's own distribution did not arrive"):
        add_packages(bundle, ["array"], work_dir, Distribution(wheels), silent)
    assert not list((bundle / "runtime").glob("*.whl"))
