"""The README's pages work as they stand when they are pasted into a file."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.harness import CoreProcess

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
DOCUMENTED_URL = "http://127.0.0.1:7420"


def example(name: str) -> tuple[str, str, str, str]:
    """An example's page, and the tool, arguments and answer of the call that the README shows for it."""
    match = re.search(
        rf"<!-- example: {name} -->\n```html\n(.*?)```\n\n"
        r"```console\n\$ \.venv/bin/pedelec-cli tool-call (\S+) '(.*?)'\n(.*?)\n```",
        README,
        re.DOTALL,
    )
    assert match is not None, f"the README has no example called {name}"
    return match[1], match[2], match[3], match[4]


@pytest.fixture(params=["python", "javascript"])
def shown(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[CoreProcess, str, str, str]]:
    """A Core that serves a README page, and the call that the README makes."""
    page, tool, args, answer = example(request.param)
    site = tmp_path / "site"
    site.mkdir()
    with CoreProcess(tmp_path / "state", "--site", str(site)) as core:
        assert DOCUMENTED_URL in page
        (site / "index.html").write_text(page.replace(DOCUMENTED_URL, core.url), encoding="utf-8")
        yield core, tool, args, answer


def test_a_pasted_page_answers_the_call_that_the_readme_shows(
    shown: tuple[CoreProcess, str, str, str], browser: Browser
) -> None:
    core, tool, args, answer = shown
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(core.url)
    page.wait_for_function("globalThis.pedelec")
    page.evaluate("globalThis.pedelec.ready")
    told = call_when_offered(core, tool, args)
    assert re.fullmatch(re.escape(answer).replace("…", r"[\w-]+"), told)
    assert errors == []
    page.close()


def call_when_offered(core: CoreProcess, tool: str, args: str) -> str:
    """Call the tool; while the page's session is not there yet, Core says so at once: ask again."""
    for _ in range(100):
        result = core.cli("tool-call", tool, args)
        if b"PEDELEC_THREAD_ID_NOT_FOUND" not in result.stdout:
            return result.stdout.decode().rstrip("\n")
    raise AssertionError("the page offered no tools")
