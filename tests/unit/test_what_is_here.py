"""What takes long has a room of its own: here are no searches, no processes, no databases and no sockets."""

import re
from pathlib import Path

_HERE = Path(__file__).parent
_IMPORTED = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
_ELSEWHERE = {
    "hypothesis": "tests/property",
    "mcp": "tests/integration",
    "multiprocessing": "tests/integration",
    "socket": "tests/integration",
    "sqlite3": "tests/integration",
    "subprocess": "tests/integration",
    "uvicorn": "tests/integration",
    "websockets": "tests/integration",
    "playwright": "tests/browser",
}


def test_no_unit_test_imports_what_takes_long() -> None:
    files = sorted(_HERE.rglob("*.py"))
    assert len(files) > 50
    found = {
        f"{path.relative_to(_HERE)}: {package} belongs to {_ELSEWHERE[package]}"
        for path in files
        for package in _IMPORTED.findall(path.read_text("utf-8"))
        if package in _ELSEWHERE
    }
    assert found == set()
