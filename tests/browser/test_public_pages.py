"""A page of the public internet and the browser's permission for this machine (Local Network Access).

In Chromium, which can take a local server for a public one. Python runs in the page, served by the page's own
site, as it is where the SDK is hosted with the app.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from pedelec_core.runtime.locations import require_bundle
from tests.browser.conftest import _config
from tests.browser.other_site import OtherSite, serving
from tests.harness import CoreProcess, run_core

NAME = "app.test"
_STATIC = Path(__file__).resolve().parents[2] / "sdk_py" / "pedelec" / "static"
_PAGE = '<script src="pedelec.js"></script><button>Connect</button>'
_WATCH = (
    "globalThis.__stages = []; addEventListener('pedelec:progress', (e) => __stages.push(e.detail.stage));"
)
_NOTHING_LISTENS = "http://127.0.0.1:1"


def host_the_sdk(folder: Path) -> None:
    """Put the loader and the bundle on a site, as an app would that hosts them itself."""
    bundle = require_bundle()
    shutil.copytree(_STATIC, folder / "sdk")
    shutil.copy(_STATIC / "pedelec.js", folder)
    for part in ("runtime", "wheels"):
        shutil.copytree(bundle / part, folder / part)
    shutil.copy(bundle / "manifest.json", folder / "runtime")


@pytest.fixture(scope="module")
def public_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherSite]:
    folder = tmp_path_factory.mktemp("public")
    host_the_sdk(folder)
    with serving(folder) as site:
        yield OtherSite(site.origin.replace("127.0.0.1", NAME), folder)


@pytest.fixture(scope="module")
def chromium(playwright: Playwright, public_site: OtherSite) -> Iterator[Browser]:
    """A Chromium to which the site is a public one that it reached by HTTPS."""
    options = _config.find("chromium").launch_options
    port = public_site.origin.rpartition(":")[2]
    args = [
        *options.get("args", ()),
        f"--ip-address-space-overrides=127.0.0.1:{port}=public",
        f"--host-resolver-rules=MAP {NAME} 127.0.0.1",
        f"--unsafely-treat-insecure-origin-as-secure={public_site.origin}",
    ]
    browser = playwright.chromium.launch(**{**options, "args": args})
    yield browser
    browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    fresh = chromium.new_context()
    yield fresh
    fresh.close()


@pytest.fixture
def core(tmp_path: Path) -> Iterator[CoreProcess]:
    with CoreProcess(tmp_path / "state") as running:
        yield running


def set_permission(page: Page, setting: str) -> None:
    """What the person chose for the site."""
    browser = page.context.browser
    assert browser is not None
    info = page.context.new_cdp_session(page).send("Target.getTargetInfo")["targetInfo"]
    browser.new_browser_cdp_session().send(
        "Browser.setPermission",
        {
            "permission": {"name": "loopback-network"},
            "setting": setting,
            "origin": page.evaluate("location.origin"),
            "browserContextId": info["browserContextId"],
        },
    )


def create_session(page: Page, core_url: str) -> Any:
    """Create a session; its id, or the error."""
    return page.evaluate(
        """async (coreUrl) => {
          await pedelec.ready;
          const creating = new pedelec.Pedelec({ coreUrl }).createSession();
          return await creating.then(({ sessionId }) => sessionId, (error) => ({ ...error }));
        }""",
        core_url,
    )


def test_no_permission_no_core_and_no_approval_are_told_apart(
    context: BrowserContext, public_site: OtherSite, core: CoreProcess
) -> None:
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.goto(public_site.write(_PAGE))

    set_permission(page, "denied")
    error = create_session(page, core.url)
    assert error["code"] == "LOCAL_NETWORK_DENIED"
    assert error["class"] == "userInput"
    assert "site settings" in str(error["recoverySteps"])

    set_permission(page, "granted")
    error = create_session(page, _NOTHING_LISTENS)
    assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
    assert "pedelec-core serve" in str(error["recoverySteps"])

    state = ("--state-dir", str(core.state_dir))
    run_core("approve", public_site.origin, *state)
    assert create_session(page, core.url).startswith("ses_")
    run_core("revoke", public_site.origin, *state)
    error = create_session(page, core.url)
    assert error["code"] == "APPROVAL_REJECTED"


def test_the_browser_is_made_to_ask_when_the_person_does_something(
    context: BrowserContext, public_site: OtherSite, core: CoreProcess
) -> None:
    page = context.new_page()
    page.add_init_script(_WATCH)
    # In a script of the page's own: what Playwright runs counts as something that the person did.
    script = f"""<script>
      const doorway = globalThis[Symbol.for("pedelec.page")].doorway();
      globalThis.invited = doorway.then((door) => door.invitation("{core.url}")).then(() => "invited");
      globalThis.explained = () => doorway.then((door) => door.explain("{core.url}"));
    </script>"""
    page.goto(public_site.write(_PAGE.replace(".js", ".js?attach") + script, "attach.html"))
    page.wait_for_function("__stages.includes('permission')")
    assert page.evaluate("explained().then(({ code }) => code)") == "LOCAL_NETWORK_DENIED"
    assert (
        page.evaluate("Promise.race([invited, new Promise((done) => setTimeout(done, 0, 'waits'))])")
        == "waits"
    )
    page.get_by_role("button").click()
    assert page.evaluate("invited") == "invited"
    # Without a window there is nobody to ask: this browser answers its own question with a no.
    error = page.evaluate("explained().then(({ code, message }) => ({ code, message }))")
    assert error["code"] == "LOCAL_NETWORK_DENIED"
    assert "blocked" in error["message"]


def test_a_page_without_an_origin_is_told_that_core_runs_and_does_not_let_it_in(
    context: BrowserContext, public_site: OtherSite, core: CoreProcess
) -> None:
    page = context.new_page()
    inner = public_site.write('<script src="pedelec.js?attach"></script>', "inner.html")
    frame = f'<iframe sandbox="allow-scripts" allow="loopback-network" src="{inner}"></iframe>'
    page.goto(public_site.write(frame, "sandboxed.html"))
    set_permission(page, "granted")
    (sandboxed,) = page.frames[1:]
    sandboxed.wait_for_function("globalThis.pedelec !== undefined")
    code = sandboxed.evaluate(
        """(coreUrl) => globalThis[Symbol.for("pedelec.page")].doorway()
          .then((door) => door.explain(coreUrl)).then(({ code }) => code)""",
        core.url,
    )
    assert code in {"CREATE_SESSION_NOT_APPROVED", "LOCAL_NETWORK_DENIED"}
