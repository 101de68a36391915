"""The licence texts of what is inside Pyodide's files, in a bundle and in what is published."""

import re
import shutil
from pathlib import Path

import pytest

from pedelec_core.runtime import build, licenses
from pedelec_core.runtime.licenses import LINKED, LINKED_DIR, Linked, license_texts, write_licenses
from pedelec_core.runtime.locations import require_bundle
from pedelec_core.runtime.manifest import RUNTIME_DIR, read
from scripts.release import LICENSE_OF_BUNDLE
from tests.harness.tables import each_row
from tests.setup.test_runtime_page_lock import make_wheel

_ROOT = Path(__file__).resolve().parents[2]

_HOLDERS = {
    "bzip2": "1996-2010 Julian R Seward",
    "compiler_rt": "The compiler_rt library is dual licensed",
    "cpython_incorporated": "Makoto Matsumoto and Takuji Nishimura",
    "divsufsort": "Yuta Mori",
    "dlmalloc": "Doug Lea and released to the public domain",
    "emscripten": "Emscripten authors",
    "expat": "Thai Open Source Software Center Ltd and Clark Cooper",
    "hacl": "INRIA, CMU and Microsoft Corporation",
    "hiwire": "Mozilla Public License",
    "libcxx": "The libc++ library is dual licensed",
    "libcxxabi": "The libc++abi library is dual licensed",
    "libffi": "Anthony Green, Red Hat, Inc and others",
    "liblzma": "liblzma is in the public domain",
    "libmpdec": "Stefan Krah",
    "libunwind": "The libunwind library is dual licensed",
    "llvm_libc": "The LLVM Project is under the Apache License v2.0",
    "mimalloc": "Microsoft Corporation, Daan Leijen",
    "mini_lz4": "Pierre Curto",
    "musl": "Rich Felker, et al.",
    "musl_sources": "Ville Laurikari",
    "sqlite": "The author disclaims copyright to this source code",
    "stackframe": "Eric Wendelin",
    "zlib": "Jean-loup Gailly and Mark Adler",
    "zstd": "Meta Platforms, Inc. and affiliates",
}
"""Of each library, who holds the rights in it, or who has given them up, in the words of its text."""


@each_row("linked", LINKED)
def test_each_library_inside_pyodide_comes_with_its_own_text(linked: Linked) -> None:
    bundle = require_bundle()
    (entry,) = (entry for entry in read(bundle).licenses if entry.file == f"{LINKED_DIR}/{linked.part}.txt")
    notice, text = (bundle / entry.file).read_text(encoding="utf-8").split("\n\n", 1)
    assert (entry.part, entry.license) == (linked.part, linked.license)
    assert all(words in notice for words in (linked.version, linked.file, linked.source))
    assert _HOLDERS[linked.part] in text


def test_the_libraries_have_the_versions_that_pyodides_files_name() -> None:
    wasm = (require_bundle() / RUNTIME_DIR / "pyodide.asm.wasm").read_bytes()
    versions = {linked.part: linked.version for linked in LINKED if linked.version}
    assert len(versions) > 6
    missing = [part for part, version in versions.items() if version.encode() not in wasm]
    assert missing == []


def test_no_text_is_kept_for_what_is_not_there() -> None:
    # hiwire's is in micropip's wheel.
    assert {path.stem for path in license_texts()} == {linked.part for linked in LINKED} - {"hiwire"}


def test_a_wheel_named_like_a_library_keeps_its_own_text(tmp_path: Path) -> None:
    names = ("micropip", "typing_extensions", "zstd")
    wheels = [make_wheel(tmp_path, name, license_text=f"of {name}'s wheel") for name in names]
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    files = [entry.file for entry in write_licenses(wheels, bundle) if entry.part == "zstd"]
    library, wheel = ((bundle / file).read_text(encoding="utf-8") for file in files)
    assert "Meta Platforms" in library
    assert wheel.endswith("of zstd's wheel")


def test_a_changed_text_makes_the_bundle_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tmp_path / "texts"
    shutil.copytree(licenses.LICENSE_TEXTS, texts)
    before = build.runtime_inputs()
    monkeypatch.setattr(licenses, "LICENSE_TEXTS", texts)
    assert build.runtime_inputs() == before
    (texts / "zlib.txt").write_text("another")
    assert build.runtime_inputs() != before


def test_what_is_published_and_the_notice_name_every_licence() -> None:
    named = {
        name
        for linked in LINKED
        for name in re.split(r" (?:AND|OR) ", linked.license.replace("(", "").replace(")", ""))
    }
    assert [name for name in named if name not in LICENSE_OF_BUNDLE] == []
    notice = (_ROOT / "NOTICE").read_text(encoding="utf-8")
    rows = [line.split() for line in notice.splitlines()]
    assert [linked.part for linked in LINKED if not any(row[:1] == [linked.part] for row in rows)] == []
    assert [linked.part for linked in LINKED if linked.license not in notice] == []
