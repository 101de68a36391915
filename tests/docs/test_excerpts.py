"""What the pages show of a file stands in that file; what runs there runs in the tests of that file."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXCERPT = re.compile(r"<!-- from: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
EXCERPTS = [
    (page.name, source, text)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for source, text in EXCERPT.findall(page.read_text("utf-8"))
]


def text_of(file: Path) -> str:
    """What a file says; of a notebook its cells."""
    text = file.read_text("utf-8")
    if file.suffix != ".ipynb":
        return text
    return "".join("".join(cell["source"]) + "\n" for cell in json.loads(text)["cells"])


@pytest.mark.parametrize(("page", "source", "text"), EXCERPTS)
def test_an_excerpt_stands_in_its_file(page: str, source: str, text: str) -> None:
    assert text in text_of(ROOT / source), page


def test_the_pages_that_begin_with_pages_show_some_of_each() -> None:
    shown = {source for page, source, _ in EXCERPTS if page == "getting-started.md"}
    names = ("form.html", "javascript.html", "pyscript.html", "jupyterlite.ipynb")
    assert shown >= {f"examples/{name}" for name in names}


def test_the_pictures_are_small_enough_for_a_readme() -> None:
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert {picture.name for picture in pictures} == {"demo-dark.png", "demo-light.png", "demo.webp"}
    assert sum(picture.stat().st_size for picture in pictures) < 1_000_000
