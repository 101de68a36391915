"""The Content-Security-Policies of docs/security.md, and the loader's hash: enough for a page, no more."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.browser_page import BrowserPage
from tests.browser.demo_page import DEMO
from tests.browser.other_site import OtherSite, serving
from tests.harness import CoreProcess, run_core

_ROOT = Path(__file__).resolve().parents[2]
_DOCUMENTED = "http://127.0.0.1:7420"


def policy_for(name: str, core_url: str = _DOCUMENTED) -> str:
    """A policy as the documentation has it, with this Core's address."""
    text = (_ROOT / "docs" / "security.md").read_text("utf-8")
    found = re.search(rf"<!-- policy: {name} -->\n```\n(.*?)```", text, re.DOTALL)
    assert found is not None, name
    policy = " ".join(found[1].split())
    return policy.replace(_DOCUMENTED, core_url).replace(
        "ws://127.0.0.1:7420", core_url.replace("http", "ws")
    )


def with_policy(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def without(policy: str, source: str) -> str:
    assert source in policy
    return policy.replace(source, "")


def tag_of(core_url: str) -> str:
    tag = run_core("runtime", "where", "--integrity", "--core-url", core_url).stdout.decode().strip()
    assert tag.startswith("<script src=")
    return tag


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherSite]:
    folder = tmp_path / "other"
    folder.mkdir()
    with serving(folder) as site:
        yield site


def test_a_loader_runs_with_its_printed_hash_and_not_once_it_was_changed(page: BrowserPage) -> None:
    tag = tag_of(page.core.url).replace("pedelec.js", "pedelec.js?attach")  # which starts no Python
    page.open(tag)
    assert page.run("return typeof pedelec") == "object"
    page.open(re.sub(r"sha384-.{8}", "sha384-AAAAAAAA", tag))
    assert page.run("return typeof pedelec") == "undefined"
    assert any("integrity" in error.lower() for error in page.take_errors())


def test_a_page_of_another_origin_runs_under_the_documented_policy(
    context: BrowserContext, other: OtherSite, tmp_path: Path
) -> None:
    with CoreProcess(tmp_path / "state", "--allow-origin", other.origin) as core:
        policy = with_policy(policy_for("other origin", core.url))
        page = BrowserPage(context, core, tmp_path)
        page.page.goto(other.write(f'{policy}<script src="{core.url}/pedelec.js"></script>'))
        page.run("await pedelec.ready; await new pedelec.Pedelec().createSession()")
        page.assert_quiet()


def test_a_page_whose_policy_keeps_it_from_core_is_told_what_to_add(
    context: BrowserContext, other: OtherSite, tmp_path: Path
) -> None:
    with CoreProcess(tmp_path / "state", "--allow-origin", other.origin) as core:
        socket = core.url.replace("http", "ws")
        policy = policy_for("other origin", core.url)
        for stricter in (without(policy, socket), policy.replace("connect-src", "connect-src 'none'; x")):
            page = BrowserPage(context, core, tmp_path)
            tag = f'<script src="{core.url}/pedelec.js"></script>'
            page.page.goto(other.write(f"{with_policy(stricter)}{tag}"))
            error = page.raised("await pedelec.ready")
            assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
            assert f"Add {core.url} {socket} to connect-src" in error["message"]
            page.take_errors()


def test_the_demo_runs_under_the_documented_policy_and_under_a_stricter_one_says_what_is_missing(
    page: BrowserPage, site: Path
) -> None:
    """That it runs is shown by every test of the demo: its policy stands in its head, broken nowhere."""
    policy = policy_for("own site")
    demo = (DEMO / "index.html").read_text("utf-8")
    assert with_policy(policy) in demo
    shutil.copytree(DEMO, site / "demo", dirs_exist_ok=True)
    (site / "demo" / "index.html").write_text(
        demo.replace(policy, without(policy, "'wasm-unsafe-eval'")), "utf-8"
    )
    page.page.goto(f"{page.core.url}/demo/")
    state = page.page.locator('#state[data-state="failed"]')
    expect(state).to_contain_text("Add 'wasm-unsafe-eval' to script-src")
    error = page.raised("await pedelec.ready")
    assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
    assert "'wasm-unsafe-eval' to script-src" in error["message"]
    page.take_errors()
