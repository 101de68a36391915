"""The headings of the page on troubleshooting are messages that the product has."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADINGS = re.findall(
    r"^## (.+)$", (ROOT / "docs" / "troubleshooting.md").read_text("utf-8"), flags=re.MULTILINE
)


def _texts() -> str:
    """All string constants of the product's Python, and its JavaScript as it stands."""
    parts = [
        node.value
        for folder in ("sdk_py/pedelec", "core_shim/pedelec_core")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    for folder in ("sdk_py/pedelec/static", "core_shim/pedelec_core/inspector/static"):
        parts += [path.read_text("utf-8").replace("\\`", "`") for path in (ROOT / folder).glob("*.*js")]
    return re.sub(r"\{\w+\}", "\n", "\n".join(parts))


TEXTS = _texts()


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_is_a_message(heading: str) -> None:
    for part in heading.split("…"):
        if len(words := part.strip(" .()")) > 1:
            assert words in TEXTS, words
