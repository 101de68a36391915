"""A page whose Python runs in a web worker, as in JupyterLite: with no document, and no loader of ours."""

import textwrap
from pathlib import Path

from pedelec_core.runtime.locations import find_bundle
from tests.browser.browser_page import BrowserPage

_WORKER = """
import { loadPyodide } from "./runtime/pyodide.mjs";

const python = loadPyodide({ indexURL: new URL("./runtime/", import.meta.url).href });
addEventListener("message", async ({ data: source, ports: [port] }) => {
  try {
    const result = await (await python).runPythonAsync(source);
    port.postMessage({ result: Object(result) === result ? undefined : result });
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
});
"""

WITH_WORKER = """
<script type="module">
  const worker = new Worker("./worker.mjs", { type: "module" });
  worker.onerror = ({ message }) => console.error(`worker: ${message}`);
  globalThis.ask = (source) =>
    new Promise((resolve, reject) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data: { result, error } }) =>
        error === undefined ? resolve(result) : reject(new Error(error));
      worker.postMessage(source, [port2]);
    });
</script>"""


def put_worker(site: Path) -> None:
    """Put the worker's script on a site, which has a Pyodide at `/runtime/`."""
    (site / "worker.mjs").write_text(_WORKER, encoding="utf-8")


def put_runtime(site: Path) -> None:
    """Put Core's Pyodide on a site of another origin, and at `/own/` the SDK's wheel."""
    bundle = find_bundle()
    assert bundle is not None
    (site / "runtime").symlink_to(bundle / "runtime")
    (site / "own").symlink_to(bundle / "wheels")


def sdk_wheel() -> str:
    """The name of the SDK's wheel."""
    bundle = find_bundle()
    assert bundle is not None
    (wheel,) = (bundle / "wheels").glob("pedelec-*.whl")
    return wheel.name


def python(page: BrowserPage, source: str) -> object:
    """Run Python in the worker of a page; the value of its last expression, if that is plain.

    Raises:
        playwright.sync_api.Error: it raised.
    """
    page.wait_for("globalThis.ask")
    return page.run("return await ask(given)", textwrap.dedent(source))
