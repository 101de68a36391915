"""A hostile page on another origin, in a real browser, against a real Core. No page here runs Python."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.other_site import OtherSite, serving
from tests.harness import CoreProcess, PageClient, run_core, tool
from tests.harness.core_process import WAIT_SECONDS

_SOCKET = """(url) => new Promise((resolve) => {
  const heard = [];
  const socket = new WebSocket(url);
  socket.onmessage = ({ data }) => {
    heard.push(JSON.parse(data));
    if (heard.length === 3) resolve(heard);
  };
  socket.onclose = () => resolve(heard);
  socket.onopen = () => {
    socket.send(JSON.stringify({ type: "hello", protocol: 1, pageInstanceId: "evil", sdkVersion: "" }));
    socket.send(JSON.stringify({ type: "get_approval_status", requestId: "a" }));
    socket.send(JSON.stringify({ type: "resume_session", requestId: "b", sessionId: given, lastSeq: 0 }));
  };
})"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    folder = tmp_path_factory.mktemp("core")
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("<title>Core's own site</title><h1>home</h1>")
    with CoreProcess(folder / "state", "--site", str(folder / "site")) as running:
        yield running
        assert "Traceback" not in running.log


@pytest.fixture
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherSite]:
    """An origin of each test's own: Core remembers who has asked."""
    with serving(tmp_path_factory.mktemp("evil")) as site:
        site.write("<h1>Win a prize</h1>")
        yield site


@pytest.fixture
def page(context: BrowserContext, evil: OtherSite) -> Page:
    page = context.new_page()
    page.goto(evil.origin)
    return page


def origins(core: CoreProcess) -> bytes:
    return run_core("origins", "--state-dir", str(core.state_dir)).stdout


def links(core: CoreProcess) -> list[str]:
    """The links to its approval page that Core has printed."""
    return re.findall(r"http://\S+/approve/\S+", core.log)


def new_link(core: CoreProcess, before: int) -> str:
    """The first link after that many."""
    until = time.monotonic() + WAIT_SECONDS
    while len(links(core)) <= before:
        assert time.monotonic() < until, "Core printed no link"
    return links(core)[before]


def outcome(page: Page, expression: str) -> Any:
    """What a promise came to: its value, or `refused`."""
    return page.evaluate(f"({expression}).then((value) => value, () => 'refused')")


def test_a_cross_site_socket_learns_that_core_is_there_and_nothing_else(
    core: CoreProcess, page: Page
) -> None:
    with PageClient(core.url) as own:
        session_id = own.create_session([tool("secret_tool")], app_name="Secret app")
        script = _SOCKET.replace("given", f'"{session_id}"')
        welcome, status, resumed = page.evaluate(f"({script})('{core.url.replace('http', 'ws')}/page')")
    assert (welcome["coreInstanceId"], welcome["coreVersion"]) == ("", "")
    assert status["result"]["approved"] is False
    assert resumed["error"]["code"] == "CREATE_SESSION_NOT_APPROVED"
    assert "ecret" not in str([welcome, status, resumed])


def test_no_answer_of_core_can_be_read(core: CoreProcess, page: Page) -> None:
    for path in ("/healthz", "/", "/pedelec.js", "/runtime/manifest.json", "/mcp", "/approve/x"):
        assert outcome(page, f"fetch('{core.url}{path}').then((answer) => answer.text())") == "refused", path
    opaque = (
        f"fetch('{core.url}/healthz', {{ mode: 'no-cors' }}).then(({{ type, status }}) => [type, status])"
    )
    assert outcome(page, opaque) == ["opaque", 0]
    assert outcome(page, f"fetch('{core.url}/', {{ mode: 'no-cors' }}).then(() => 'sent')") == "refused"
    for module in ("pedelec.mjs", "sdk/loader.mjs"):
        assert outcome(page, f"import('{core.url}/{module}')") == "refused"


def test_forms_images_and_simple_requests_change_nothing(core: CoreProcess, page: Page) -> None:
    before = origins(core)
    for path in ("/approve", "/mcp", "/page", "/"):
        sent = page.evaluate(
            """async (url) => {
              const image = new Promise((done) => {
                const shown = { onload: () => done("shown"), onerror: () => done("broken") };
                Object.assign(new Image(), { ...shown, src: url });
              });
              const body = '{"approve":true}';
              await fetch(url, { method: "POST", mode: "no-cors", body }).catch(() => {});
              const headers = { "Content-Type": "application/json", "X-Pedelec-Approval": "x" };
              const forging = fetch(url, { method: "POST", headers, body });
              const forged = await forging.then(() => "read", () => "refused");
              navigator.sendBeacon(url, body);
              return { image: await image, forged };
            }""",
            core.url + path,
        )
        assert sent == {"image": "broken", "forged": "refused"}, path
    form = f'<form method="post" enctype="text/plain" action="{core.url}/approve">'
    page.set_content(f'{form}<input name="x" value="y"></form>')
    with page.expect_navigation() as navigated:
        page.evaluate("document.forms[0].submit()")
    assert navigated.value is not None
    assert navigated.value.status == 403
    assert origins(core) == before


def test_rebound_names_are_misdirected(core: CoreProcess, page: Page) -> None:
    """Every name below `localhost` leads to this machine, as a rebinding DNS server would have it."""
    answer = page.goto(f"http://rebound.localhost:{core.port}/")
    assert answer is not None
    assert answer.status == 421
    socket = f"ws://rebound.localhost:{core.port}/page"
    opened = f"""new Promise((done) => {{
      const socket = new WebSocket("{socket}");
      socket.onopen = () => done("open");
      socket.onclose = () => done("closed");
    }})"""
    assert page.evaluate(opened) == "closed"


def test_a_sandboxed_frame_has_no_origin_and_gets_no_socket(core: CoreProcess, page: Page) -> None:
    script = f"""
      const socket = new WebSocket("ws://127.0.0.1:{core.port}/page");
      socket.onopen = () => parent.postMessage("open", "*");
      socket.onclose = () => parent.postMessage("closed", "*");
    """
    heard = page.evaluate(
        """(script) => new Promise((resolve) => {
          addEventListener("message", ({ data }) => resolve(data));
          const frame = document.createElement("iframe");
          frame.srcdoc = `<script>${script}</scr` + "ipt>";
          frame.sandbox = "allow-scripts";
          document.body.append(frame);
        })""",
        script,
    )
    assert heard == "closed"


def test_the_approval_page_can_be_neither_framed_nor_opened_by_another_page(
    core: CoreProcess, page: Page, evil: OtherSite, context: BrowserContext
) -> None:
    """As if the page had come to know its link, which it does not."""
    before = len(links(core))
    with PageClient(core.url, origin=evil.origin) as asking:
        asking.socket.send('{"type":"request_approval","requestId":"a","tools":[],"appName":"Prize"}')
        asking.socket.recv(20)
        link = new_link(core, before)
        page.evaluate(
            """(link) => new Promise((resolve) => {
              const frame = Object.assign(document.createElement("iframe"), { src: link, onload: resolve });
              document.body.append(frame);
            })""",
            link,
        )
        (framed,) = page.frames[1:]
        assert "Let it in" not in framed.content()
        with context.expect_page() as popup:
            page.evaluate("(link) => { open(link); }", link)
        popup.value.wait_for_load_state()
        assert popup.value.get_by_role("button").count() == 0
        person = context.new_page()
        person.goto(link)
        expect(person.get_by_role("button", name="Do not let it in")).to_be_enabled()
        assert evil.origin.encode() not in origins(core)
