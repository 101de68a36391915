"""What the loader asks for before anything has come is what the start will need, all of it and no more."""

import re
from importlib.resources import files

STATIC = files("pedelec") / "static"
IMPORTED = re.compile(r'^import .*"\./(\w+)\.mjs";$', re.MULTILINE)


def needed_by(module: str, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """A module and all that it imports, directly or not."""
    known |= {module}
    for imported in IMPORTED.findall((STATIC / f"{module}.mjs").read_text()):
        if imported not in known:
            known = needed_by(imported, known)
    return known


def test_the_tag_asks_at_once_for_every_module_of_the_start() -> None:
    source = (STATIC / "pedelec.js").read_text()
    (listed,) = re.findall(r"const NEEDED = \[(.*)\];", source)
    assert set(re.findall(r'"(\w+)"', listed)) | {"choice"} == needed_by("loader") | needed_by("choice")
