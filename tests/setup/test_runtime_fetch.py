"""Bringing the bundle's parts here: Node found by running it, nothing kept whose hash is not as pinned."""

import os
import shutil
from pathlib import Path

import pytest

from pedelec_core.runtime import fetch
from pedelec_core.runtime.digests import combine, integrity, sha256_file
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.node import Node, find_on_path
from pedelec_core.runtime.pins import (
    PAGE_PACKAGES,
    PYODIDE_INTEGRITY,
    PYODIDE_VERSION,
)
from pedelec_core.runtime.staging import staging


def put(path: Path, script: str) -> Path:
    """Put an executable shell script somewhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def put_node(folder: Path, version: str, npm: str = "exit 0") -> Path:
    put(folder / "npm", npm)
    return put(folder / "node", f"echo v{version}")


def use_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))


def test_a_node_that_is_new_enough_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = put_node(tmp_path, "24.0.0")
    use_path(monkeypatch, tmp_path)
    assert find_on_path() == Node(executable, (str(tmp_path / "npm"),), "24.0.0")


def test_a_node_too_old_or_broken_or_without_npm_is_passed_over_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_node(tmp_path / "old", "20.20.2")
    put(tmp_path / "shim/npm", "exit 0")
    put(tmp_path / "shim/node", "exit 127")
    put_node(tmp_path / "no-npm", "24.0.0", npm="exit 1")
    good = put_node(tmp_path / "good", "24.1.0")
    folders = [tmp_path / name for name in ("old", "shim", "no-npm", "good")]
    use_path(monkeypatch, *folders)
    found = find_on_path()
    assert found is not None
    assert found.executable == good
    use_path(monkeypatch, *folders[:3])
    assert find_on_path() is None


def test_npm_runs_under_the_node_that_was_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_node(tmp_path / "old", "20.0.0")
    put_node(tmp_path / "new", "24.0.0")
    use_path(monkeypatch, tmp_path / "old", tmp_path / "new")
    found = find_on_path()
    assert found is not None
    assert found.environment["PATH"].split(os.pathsep)[0] == str(tmp_path / "new")


def node_whose_npm(tmp_path: Path, does: str) -> Node:
    """Return a Node whose `npm pack` runs a script with the wanted file's path in `$file`."""
    npm = put(tmp_path / "bin/npm", f'file="$5/pyodide-{PYODIDE_VERSION}.tgz"\n{does}')
    return Node(tmp_path / "bin/node", (str(npm),), "24.0.0")


@pytest.mark.parametrize(
    ("does", "message"),
    [
        ('echo tampered >"$file"', f"not {PYODIDE_INTEGRITY}"),
        ("echo 'npm error network ENOTFOUND'; exit 1", "ENOTFOUND"),
        ("exit 0", "left no pyodide"),
    ],
)
def test_a_tarball_that_is_missing_or_not_the_pinned_one_is_not_kept(
    tmp_path: Path, does: str, message: str
) -> None:
    downloads = tmp_path / "downloads"
    with pytest.raises(BundleError) as caught:
        fetch.fetch_pyodide(downloads, node_whose_npm(tmp_path, does))
    assert message in caught.value.message
    assert caught.value.advice
    assert fetch.pyodide_tarball(downloads) is None
    assert list(downloads.iterdir()) == []


def test_a_kept_tarball_that_was_damaged_is_not_used(tmp_path: Path) -> None:
    (tmp_path / f"pyodide-{PYODIDE_VERSION}.tgz").write_text("half")
    assert fetch.pyodide_tarball(tmp_path) is None


def test_kept_wheels_are_used_only_if_all_are_there_and_as_pinned(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    lines = []
    for name in ("a", "b"):
        path = wheels / f"{name}-1-py3-none-any.whl"
        path.write_text(name)
        lines.append(f"{name}==1 --hash=sha256:{sha256_file(path)}\n")
    lock = tmp_path / "lock"
    lock.write_text("".join(lines))
    assert fetch.page_wheels(tmp_path, lock) == sorted(wheels.iterdir())
    (wheels / "b-1-py3-none-any.whl").write_text("tampered")
    assert fetch.page_wheels(tmp_path, lock) is None
    (wheels / "b-1-py3-none-any.whl").unlink()
    assert fetch.page_wheels(tmp_path, lock) is None
    shutil.rmtree(wheels)
    assert fetch.page_wheels(tmp_path, lock) is None


def test_the_lock_pins_every_package_that_the_page_is_promised() -> None:
    pinned = set(fetch.pinned_wheel_hashes().values())
    assert set(PAGE_PACKAGES) <= pinned


def test_integrity_is_written_as_npm_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert integrity(path) == (
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
    )


def test_a_combined_hash_knows_where_one_part_ends() -> None:
    assert combine(["ab", "c"]) != combine(["a", "bc"])


def test_a_staging_folder_is_removed_with_what_a_killed_process_left(tmp_path: Path) -> None:
    finished = 2**22 + 1  # above the largest process id
    leftover = tmp_path / f".pedelec-wheels-{finished}"
    alive = tmp_path / f".pedelec-wheels-{os.getppid()}"
    another = tmp_path / ".pedelec-wheels-of-mine"
    leftover.mkdir()
    alive.mkdir()
    another.mkdir()
    with staging(tmp_path, "wheels") as folder:
        assert folder.parent == tmp_path
        assert not leftover.exists()
        assert alive.exists()
        assert another.exists()
    assert not folder.exists()
