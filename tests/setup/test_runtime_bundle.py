"""A bundle on disk: found in order, checked cheaply and in full, taken over when nothing has changed."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pedelec_core.runtime import build, commands, locations
from pedelec_core.runtime.errors import BUILD_COMMAND, BundleError
from pedelec_core.runtime.manifest import MANIFEST_NAME, Manifest, list_files, read
from pedelec_core.runtime.progress import Progress, silent
from pedelec_core.runtime.sdk_wheel import build_wheel, hash_inputs
from pedelec_core.runtime.verify import check_quickly, find_problems

PAGE_LOCK = json.dumps({"info": {"python": "3.14.2", "abi_version": "2026_0"}, "packages": {}})


class Copier:
    """A `PagePython` that compiles nothing: what a wheel becomes is a copy under another tag."""

    def compile_wheels(self, pyodide: Path, wheels: Sequence[Path], out: Path, progress: Progress) -> None:
        for wheel in wheels:
            shutil.copy(wheel, out / wheel.name.replace("py3", "cp314"))

    def make_snapshots(
        self, pyodide: Path, sdk: Path, loader: Path, wheels: Sequence[Path], out: Path, progress: Progress
    ) -> None:
        self.compile_wheels(pyodide, [sdk], out, progress)
        (out / "full-0.bin").write_text(" ".join(wheel.name for wheel in wheels))

    def fetch_own(
        self, pyodide: Path, lock: Path, folder: Path, names: Sequence[str], progress: Progress
    ) -> None:
        raise AssertionError("no package was asked for")

    def compress(self, files: Sequence[Path], level: int, progress: Progress) -> None:
        for file in files:
            shutil.copy(file, f"{file}.zst")


def make_bundle(folder: Path) -> Path:
    """Make a small bundle, whole and current but for its SDK."""
    for name, text in {
        "runtime/pyodide.mjs": "export {}",
        "runtime/pyodide-lock.json": PAGE_LOCK,
        "wheels/pedelec-0.0.0-py3-none-any.whl": "old",
        "runtime/snapshot/pedelec-0.0.0-cp314-none-any.whl": "old",
        "licenses/pyodide.txt": "MPL",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    manifest = Manifest(
        pyodide_version="314.0.7",
        python_version="3.14.2",
        abi_version="2026_0",
        sdk_wheel="pedelec-0.0.0-py3-none-any.whl",
        compiled_sdk_wheel="pedelec-0.0.0-cp314-none-any.whl",
        packages=(),
        runtime_inputs=build.runtime_inputs(),
        sdk_inputs="old",
        snapshot_inputs="old",
        licenses=(),
        files=list_files(folder),
    )
    (folder / MANIFEST_NAME).write_text(manifest.to_json())
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return make_bundle(tmp_path / "bundle")


def remove(bundle: Path) -> None:
    (bundle / "runtime/pyodide.mjs").unlink()


def truncate(bundle: Path) -> None:
    (bundle / "runtime/pyodide.mjs").write_text("exp")


def tamper(bundle: Path) -> None:
    (bundle / "runtime/pyodide.mjs").write_text("export []")


def add(bundle: Path) -> None:
    (bundle / "runtime/extra.mjs").touch()


def lose_manifest(bundle: Path) -> None:
    (bundle / MANIFEST_NAME).unlink()


def cut_manifest(bundle: Path) -> None:
    path = bundle / MANIFEST_NAME
    path.write_text(path.read_text()[:100])


def age_manifest(bundle: Path) -> None:
    path = bundle / MANIFEST_NAME
    path.write_text(path.read_text().replace('"formatVersion": 4', '"formatVersion": 0'))


def test_a_whole_bundle_has_no_problems(bundle: Path) -> None:
    assert commands.verify(bundle) == []
    assert check_quickly(bundle).sdk_wheel == "pedelec-0.0.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (remove, "runtime/pyodide.mjs is missing."),
        (truncate, "runtime/pyodide.mjs has 3 bytes instead of 9."),
        (tamper, "runtime/pyodide.mjs has other contents than when the bundle was built."),
        (add, "runtime/extra.mjs is not in manifest.json."),
        (lose_manifest, "it has no manifest.json."),
        (cut_manifest, "is damaged or from another version"),
        (age_manifest, "format version 0, wanted 4"),
    ],
)
def test_verify_names_every_kind_of_damage(
    bundle: Path, damage: Callable[[Path], None], problem: str
) -> None:
    damage(bundle)
    problems = find_problems(bundle)
    assert len(problems) == 1
    assert problem in problems[0]


@pytest.mark.parametrize("damage", [remove, truncate, lose_manifest, cut_manifest, age_manifest])
def test_serving_a_half_downloaded_bundle_is_refused_with_the_command_that_mends_it(
    bundle: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(bundle)
    monkeypatch.setenv(locations.ENVIRONMENT_VARIABLE, str(bundle))
    with pytest.raises(BundleError) as caught:
        locations.require_bundle()
    assert str(bundle) in str(caught.value)
    assert BUILD_COMMAND in str(caught.value)


def test_with_no_bundle_the_error_names_the_places_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(locations.ENVIRONMENT_VARIABLE, str(tmp_path / "nowhere"))
    assert locations.find_bundle() is None
    with pytest.raises(BundleError, match=f"{tmp_path}/nowhere.*{BUILD_COMMAND}"):
        locations.require_bundle()


def test_the_named_folder_comes_first_and_alone(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(locations.ENVIRONMENT_VARIABLE, str(bundle))
    assert locations.candidates() == [bundle]
    assert commands.where() == bundle
    assert locations.require_bundle() == bundle


def test_the_checkouts_bundle_comes_before_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(locations.ENVIRONMENT_VARIABLE, raising=False)
    root = locations.checkout_root()
    assert root is not None
    first, second = locations.candidates()
    assert first == root / "build" / "runtime"
    assert second.name == "runtime"
    assert "pedelec" in second.parts


def test_an_installed_bundle_comes_before_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(locations.ENVIRONMENT_VARIABLE, raising=False)
    package = tmp_path / "pedelec_runtime"
    make_bundle(package / "bundle")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(locations, "__file__", str(tmp_path / "site-packages/pedelec_core/runtime/x.py"))
    installed, users = locations.candidates()
    assert installed == package / "bundle"
    assert locations.require_bundle() == installed
    assert users != installed


def test_the_users_bundle_comes_first_where_it_is_the_installed_one_with_more_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(locations.ENVIRONMENT_VARIABLE, raising=False)
    package = tmp_path / "pedelec_runtime"
    make_bundle(package / "bundle")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(locations, "__file__", str(tmp_path / "site-packages/pedelec_core/runtime/x.py"))
    users = make_bundle(tmp_path / "users")
    monkeypatch.setattr(locations, "_user_bundle", lambda: users)
    assert commands.where() == users
    manifest = users / MANIFEST_NAME
    manifest.write_text(manifest.read_text().replace('"sdk": "old"', '"sdk": "older"'))
    assert commands.where() == package / "bundle"


def test_outside_a_checkout_only_the_users_folder_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(locations.ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr(locations, "__file__", str(tmp_path / "site-packages/pedelec_core/runtime/x.py"))
    assert len(locations.candidates()) == 1
    assert locations.sdk_source() is None
    with pytest.raises(BundleError, match="source checkout"):
        commands.build(tmp_path / "out")


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """A small SDK to build a wheel from."""
    root = locations.sdk_source()
    assert root is not None
    source = tmp_path / "sdk_py"
    (source / "pedelec").mkdir(parents=True)
    shutil.copy(root / "pyproject.toml", source)
    (source / "pedelec/__init__.py").write_text("x = 1\n")
    return source


def test_a_changed_sdk_gets_a_new_wheel_and_leaves_the_rest_as_it_is(
    bundle: Path, sdk: Path, tmp_path: Path
) -> None:
    assert not build.is_current(bundle, sdk)
    before = read(bundle).files
    build.build_bundle(bundle, sdk, tmp_path / "work", silent, Copier())
    assert build.is_current(bundle, sdk)
    assert find_problems(bundle) == []
    after = read(bundle).files
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == {
        "wheels/pedelec-0.0.0-py3-none-any.whl",
        "wheels/pedelec-0.1.0-py3-none-any.whl",
        "runtime/snapshot/pedelec-0.0.0-cp314-none-any.whl",
        "runtime/snapshot/pedelec-0.1.0-cp314-none-any.whl",
        "runtime/snapshot/full-0.bin",
        "runtime/snapshot/full-0.bin.zst",
    }
    assert not list(tmp_path.glob(".pedelec-*"))
    (sdk / "pedelec/__init__.py").write_text("x = 2\n")
    assert not build.is_current(bundle, sdk)


def test_a_failed_build_leaves_the_former_bundle_alone(bundle: Path, sdk: Path, tmp_path: Path) -> None:
    (sdk / "pyproject.toml").write_text("[project]\nname = 'broken'\n")
    with pytest.raises(BundleError, match="could not be built"):
        build.build_bundle(bundle, sdk, tmp_path / "work", silent, Copier())
    assert find_problems(bundle) == []


def test_a_folder_with_other_things_in_it_is_not_replaced(sdk: Path, tmp_path: Path) -> None:
    precious = tmp_path / "home" / "thesis.txt"
    precious.parent.mkdir()
    precious.touch()
    with pytest.raises(BundleError, match="not a bundle and not empty"):
        build.build_bundle(precious.parent, sdk, tmp_path / "work", silent, Copier())
    assert precious.exists()


def test_the_sdks_wheel_is_the_same_bytes_every_time(sdk: Path, tmp_path: Path) -> None:
    first, second = (build_wheel(sdk, tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second


def test_compiled_python_does_not_change_the_sdks_hash(sdk: Path) -> None:
    before = hash_inputs(sdk)
    cache = sdk / "pedelec/__pycache__"
    cache.mkdir()
    (cache / "x.pyc").touch()
    assert hash_inputs(sdk) == before
    (sdk / "pedelec/static").mkdir()
    (sdk / "pedelec/static/pedelec.js").touch()
    assert hash_inputs(sdk) != before
