"""Packages added to a bundle on request: where each comes from, what it needs, what is refused."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pyodide_lock import PackageSpec

from pedelec_core.runtime.added import choose, parse
from pedelec_core.runtime.errors import BundleError
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
