"""The manifest of behaviours (`behaviours.toml`) and the tests hold to each other, both ways."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]
_MANIFEST: dict[str, Any] = tomllib.loads((_ROOT / "tests" / "behaviours.toml").read_text("utf-8"))
_BEHAVIOURS: list[dict[str, Any]] = _MANIFEST["behaviour"]
_LISTED = {test for behaviour in _BEHAVIOURS for test in behaviour["tests"]}

_NEW_BEHAVIOUR = """\
{test}
    shows no behaviour of tests/behaviours.toml. Add this line to the `tests` of the one that it shows:
    "{test}",
    or, where there is none yet, add the behaviour:
    [[behaviour]]
    id = "…"
    says = "…"
    source = "…"
    tests = ["{test}"]
"""


@cache
def _functions(path: str) -> frozenset[str]:
    """The functions of a file, methods as `Class::method`."""
    return frozenset(_names(ast.parse((_ROOT / path).read_text("utf-8")).body))


def _names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name
            case ast.ClassDef(name=name, body=members):
                yield from _names(members, f"{prefix}{name}::")


def _in_scope() -> Iterator[str]:
    scope = _MANIFEST["scope"]
    for path in _files(scope["tests"], "test_*.py"):
        yield from (f"{path}::{name}" for name in _functions(path) if _last(name).startswith("test_"))
    for path in _files(scope["scenarios"], "*.py"):
        yield from (f"{path}::{name}" for name in _functions(path) if not _last(name).startswith("_"))


def _files(folders: list[str], pattern: str) -> Iterator[str]:
    for folder in folders:
        found = sorted((_ROOT / folder).rglob(pattern))
        assert found, f"{folder} has no {pattern}"
        yield from (path.relative_to(_ROOT).as_posix() for path in found)


def _last(name: str) -> str:
    return name.rpartition("::")[2]


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    return (_ROOT / path).is_file() and name in _functions(path)


def _is_source(source: str) -> bool:
    if source == "TypeScript SDK" or re.fullmatch(r"RFC \d+", source):
        return True
    path, _, heading = source.partition(" § ")
    file = _ROOT / path
    if not file.is_file():
        return False
    headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
    return not heading or heading in headings


def test_every_test_of_the_manifest_exists() -> None:
    assert sorted(test for test in _LISTED if not _exists(test)) == []


def test_every_test_in_scope_shows_a_behaviour() -> None:
    missing = sorted(set(_in_scope()) - _LISTED)
    assert not missing, "\n" + "\n".join(_NEW_BEHAVIOUR.format(test=test) for test in missing)


def test_every_behaviour_is_shown_by_tests_that_are_listed_once() -> None:
    for behaviour in _BEHAVIOURS:
        assert behaviour["tests"], behaviour["id"]
        assert len(set(behaviour["tests"])) == len(behaviour["tests"]), behaviour["id"]


def test_every_behaviour_is_a_sentence_under_an_id_of_its_own() -> None:
    assert [one for one, count in Counter(item["id"] for item in _BEHAVIOURS).items() if count > 1] == []
    for behaviour in _BEHAVIOURS:
        assert behaviour.keys() == {"id", "says", "source", "tests"}, behaviour
        assert re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", behaviour["id"]), behaviour["id"]
        assert re.fullmatch(r"[A-Z`].*\.", behaviour["says"]), behaviour["id"]


def test_every_source_is_there() -> None:
    assert {item["id"]: item["source"] for item in _BEHAVIOURS if not _is_source(item["source"])} == {}
