"""The SDK in a browser: the only code that may import `js`, `pyodide` and the loader's `_pedelec_js`.

In a page or in a web worker: a worker has no document, so no scripts and no dialog.

Owns the border to JavaScript. JSON text crosses it, not live objects; a proxy never leaves this package,
apart from a JavaScript author's handler, which is wrapped here. Import it lazily: it exists in Pyodide alone.
"""

from functools import cache

from pedelec._browser.host import BrowserHost


@cache
def browser_host() -> BrowserHost:
    """This page as the SDK's host; one for each loaded page."""
    return BrowserHost()


__all__ = ["BrowserHost", "browser_host"]
