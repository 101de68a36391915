"""The pages are one site: every link leads somewhere, and every page is found from the first."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
LINK = re.compile(r"(?:\]\(|src(?:set)?=\")([\w./-]*)(?:#([\w-]+))?[)\"]")


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in addresses."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(without_code(page)):
        if target.startswith("/"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_every_page_is_found_from_the_first_and_leads_back() -> None:
    first = (ROOT / "docs" / "README.md").read_text("utf-8")
    others = [page for page in DOCS if page.name != "README.md"]
    assert {page.name for page in others} == set(
        re.findall(r"^\| \[[^]]+\]\((.+?)\)", first, flags=re.MULTILINE)
    )
    assert [page.name for page in others if "[All pages](README.md)" not in page.read_text("utf-8")] == []
    assert "(docs/README.md)" in (ROOT / "README.md").read_text("utf-8")
