"""What a page is told when Python cannot come: Core or its bundle missing, damaged, forbidden."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Route

from pedelec_core.runtime.locations import find_bundle
from pedelec_core.runtime.manifest import list_files
from pedelec_core.runtime.manifest import read as manifest_of
from tests.browser.browser_page import LOADER, PLAIN_LOADER, BrowserPage
from tests.harness import CoreProcess

_TELL = """
const message = ({ code, message }) => ({ code, message });
const error = await pedelec.ready.then(() => null, message);
const client = new pedelec.Pedelec();
return {
  error,
  method: await client.createSession().then(() => null, message),
  resumed: await client.resumeSession("x").then(() => null, message),
  approval: await client.getApprovalStatus(),
  available: (await client.checkAvailability()).available,
};
"""


def _failure(page: BrowserPage) -> str:
    """How the page was told, by each way there is; the message."""
    told = page.run(_TELL)
    error = told["error"]
    assert error is not None
    assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
    assert told["method"] == told["resumed"] == error
    assert told["approval"]["installed"] is False
    assert told["available"] is False
    (failed,) = page.events("failed")
    assert (failed["script"], failed["line"]) == (None, None)
    assert page.events("ready") == []
    ours = [text for text in page.take_errors() if "[pedelec]" in text or "unhandled" in text]
    assert len(ours) == 1
    assert error["message"] in ours[0]
    return str(error["message"])


type Damage = Callable[[Path], None]


def _remove(file: str, bundle: Path) -> None:
    (bundle / file).unlink()


def _replace(file: str, change: Callable[[bytes], bytes], bundle: Path) -> None:
    """Change a file of a bundle whose files are links to those of the true one."""
    data = (bundle / file).read_bytes()
    (bundle / file).unlink()
    (bundle / file).write_bytes(change(data))


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


_IN_CHROMIUM = pytest.mark.browsers("chromium")

_WHEEL = "runtime/snapshot/pedelec-0.1.0-cp314-none-any.whl"
_WASM = "runtime/pyodide.asm.wasm.zst"
_DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "no bundle": (shutil.rmtree, LOADER, "runtime build"),
    "no manifest": (partial(_remove, "manifest.json"), LOADER, "runtime build"),
    "half a manifest": (partial(_replace, "manifest.json", _half), LOADER, "runtime build"),
    "no WebAssembly": (partial(_remove, _WASM), PLAIN_LOADER, "pyodide.asm.wasm"),
    "a flipped bit in the WebAssembly": (partial(_replace, _WASM, _flipped), LOADER, "damaged"),
    "a longer standard library": (
        partial(_replace, "runtime/python_stdlib.zip", lambda data: data + b"x"),
        PLAIN_LOADER,
        "python_stdlib.zip",
    ),
    "no wheel of the SDK": (partial(_remove, _WHEEL), PLAIN_LOADER, "pedelec-0.1.0"),
}


_ENGINES_DIFFER = {"no bundle", "a flipped bit in the WebAssembly"}
"""What an engine's own loading meets; the rest is decided before it has anything to load."""


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(case, id=name, marks=() if name in _ENGINES_DIFFER else (_IN_CHROMIUM,))
        for name, case in _DAMAGES.items()
    ],
)
def test_a_damaged_bundle_is_told_with_what_to_do(
    context: BrowserContext, site: Path, tmp_path: Path, damage: tuple[Damage, str, str]
) -> None:
    inflict, loader, mention = damage
    with CoreProcess(tmp_path / "state", "--site", str(site), env=_damaged(tmp_path, inflict)) as core:
        page = BrowserPage(context, core, site)
        page.open(loader)
        assert mention in _failure(page)


def _damaged(folder: Path, inflict: Damage) -> dict[str, str]:
    """The environment of a Core that serves a damaged bundle, made in `folder`."""
    bundle = folder / "bundle"
    shutil.copytree(_intact(), bundle, copy_function=os.link)
    inflict(bundle)
    return {"PEDELEC_RUNTIME_DIR": str(bundle)}


def _intact() -> Path:
    bundle = find_bundle()
    assert bundle is not None
    return bundle


def _of_another_build(bundle: Path) -> None:
    """Give the snapshots another build's id, with a manifest that agrees."""
    for kind in ("light", "full"):
        for suffix in ("", ".zst"):
            (bundle / f"runtime/snapshot/{kind}.json{suffix}").unlink()
        record = json.loads((_intact() / f"runtime/snapshot/{kind}.json").read_text())
        (bundle / f"runtime/snapshot/{kind}.json").write_text(json.dumps({**record, "buildId": "other"}))
    manifest = manifest_of(bundle)
    (bundle / "manifest.json").unlink()
    (bundle / "manifest.json").write_text(replace(manifest, files=list_files(bundle)).to_json())


def _flipped_in(kind: str) -> Damage:
    return partial(_replace, f"runtime/snapshot/{kind}-1.bin.zst", _flipped)


_SCRIPT = "import js, pedelec; js.ran = True"
_TYPED = "import js; from pedelec import tool; js.ran = True"


@pytest.mark.parametrize(
    ("damage", "script", "reason"),
    [
        pytest.param(_flipped_in("light"), _SCRIPT, "damaged", id="a flipped bit"),
        pytest.param(_flipped_in("full"), _TYPED, "damaged", id="a flipped bit in the bigger one"),
        pytest.param(_of_another_build, _SCRIPT, "the build is", id="another build", marks=_IN_CHROMIUM),
    ],
)
def test_a_snapshot_that_does_not_match_is_done_without_and_told(
    context: BrowserContext, site: Path, tmp_path: Path, damage: Damage, script: str, reason: str
) -> None:
    with CoreProcess(tmp_path / "state", "--site", str(site), env=_damaged(tmp_path, damage)) as core:
        page = BrowserPage(context, core, site)
        page.start(f'<script type="text/pedelec">{script}</script>')
        page.wait_for("globalThis.ran")
        last = [step for step in page.events("progress") if step["stage"] == "sdk"][-1]
        assert last["path"] == "plain"
        assert reason in last["reason"]
        assert any(reason in line for line in page.console if line.startswith("warning"))
        assert len(page.events("ready")) == 1


def test_a_core_that_dies_while_the_page_loads_is_told(
    context: BrowserContext, site: Path, tmp_path: Path
) -> None:
    with CoreProcess(tmp_path / "state", "--site", str(site)) as core:
        page = BrowserPage(context, core, site)

        def die(route: Route) -> None:
            core.kill()
            route.continue_()

        page.page.route("**/runtime/manifest.json", die)
        page.open(LOADER)
        assert "pedelec-core serve" in _failure(page)
        core.start()


def _with_policy(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def test_a_page_that_may_not_run_webassembly_is_told_how_to_allow_it(page: BrowserPage) -> None:
    page.open(LOADER, head=_with_policy("script-src 'self'"))
    assert "'wasm-unsafe-eval' to script-src" in _failure(page)


def test_a_page_with_a_strict_policy_works(page: BrowserPage) -> None:
    policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:"
    page.open(
        f'{LOADER}<script type="text/pedelec">import js; js.ran = True</script>', head=_with_policy(policy)
    )
    page.wait_for("globalThis.ran")
