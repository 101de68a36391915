"""The page's lock file and licence texts, from small wheels made here."""

import json
import zipfile
from pathlib import Path

import pytest

from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.licenses import LINKED, write_licenses
from pedelec_core.runtime.page_lock import audit, write_page_lock


def make_wheel(
    folder: Path, name: str, *requires: str, license_text: str | None = "free", tag: str = "py3-none-any"
) -> Path:
    """Make a wheel with one module and, if wanted, a licence."""
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-{tag}.whl"
    metadata = ["Metadata-Version: 2.4", f"Name: {name.replace('_', '-')}", "Version: 1.0"]
    metadata += [f"Requires-Dist: {requirement}" for requirement in requires]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", "\n".join([*metadata, "License-Expression: MIT", "", ""]))
        if license_text is not None:
            archive.writestr(f"{info}/licenses/LICENSE", license_text)
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """Pyodide's own lock file, with a package that the bundle lacks."""
    info = {"platform": "emscripten_5_0_3", "python": "3.14.2", "arch": "wasm32", "abi_version": "2026_0"}
    numpy = {"name": "numpy", "version": "2", "file_name": "numpy-2-py3-none-any.whl", "install_dir": "site"}
    path = tmp_path / "original.json"
    path.write_text(json.dumps({"info": info, "packages": {"numpy": numpy}}))
    return path


def test_the_lock_lists_the_wheels_beside_it_and_nothing_else(tmp_path: Path, original: Path) -> None:
    first = make_wheel(
        tmp_path, "big_model", "core-part>=1", 'other; sys_platform == "win32"', 'extra_one; extra == "x"'
    )
    second = make_wheel(tmp_path, "core_part", 'big-model; sys_platform == "emscripten"')
    target = tmp_path / "pyodide-lock.json"
    write_page_lock(original, [first, second], target)
    lock = json.loads(target.read_text())
    assert lock["info"]["python"] == "3.14.2"
    assert list(lock["packages"]) == ["big-model", "core-part"]
    assert lock["packages"]["big-model"]["depends"] == ["core-part"]
    assert lock["packages"]["core-part"]["depends"] == ["big-model"]
    assert lock["packages"]["core-part"]["file_name"] == second.name
    assert lock["packages"]["core-part"]["imports"] == ["core_part"]


def test_compiled_packages_and_modules_are_listed_as_importable(tmp_path: Path, original: Path) -> None:
    wheel = make_wheel(tmp_path, "first", tag="cp314-none-any")
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("second/__init__.pyc", "second/part/__init__.pyc", "third.pyc", "data/file.txt"):
            archive.writestr(name, "")
        archive.writestr("first-1.0.dist-info/METADATA", "Name: first\nVersion: 1.0\n\n")
    target = tmp_path / "pyodide-lock.json"
    write_page_lock(original, [wheel], target)
    assert json.loads(target.read_text())["packages"]["first"]["imports"] == ["second", "third"]


def test_a_wheel_whose_dependency_is_not_in_the_bundle_is_refused(tmp_path: Path, original: Path) -> None:
    wheel = make_wheel(tmp_path, "big_model", "core-part")
    with pytest.raises(BundleError, match="needs core-part"):
        write_page_lock(original, [wheel], tmp_path / "lock.json")


def test_a_compiled_wheel_for_another_platform_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "big_model", tag="cp314-cp314-manylinux_2_28_x86_64")
    with pytest.raises(BundleError, match="not for the page's platform"):
        audit([wheel])


def test_every_part_travels_with_its_licence(tmp_path: Path) -> None:
    wheels = [
        make_wheel(tmp_path, "micropip", license_text="the MPL"),
        make_wheel(tmp_path, "typing_extensions", license_text="the PSF licence"),
    ]
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    entries = write_licenses(wheels, bundle)
    linked = [linked.part for linked in LINKED]
    parts = ["pyodide", "cpython", *linked, "micropip", "typing_extensions"]
    assert [entry.part for entry in entries] == parts
    texts = {entry.part: (bundle / entry.file).read_text() for entry in entries}
    assert texts["pyodide"].endswith("the MPL")
    assert "unaltered" in texts["pyodide"]
    assert texts["cpython"].endswith("the PSF licence")
    assert texts["hiwire"].endswith("the MPL")
    assert texts["micropip"].startswith("Made from micropip-1.0-py3-none-any.whl")
    assert texts["micropip"].endswith("the MPL")


def test_a_wheel_without_a_licence_is_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    with pytest.raises(BundleError, match="carries no licence text"):
        write_licenses([make_wheel(tmp_path, "micropip", license_text=None)], bundle)
