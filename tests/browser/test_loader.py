"""The loader: how Python gets into a page, in which order scripts run, and what is told when it does not."""

from tests.browser.browser_page import LOADER, BrowserPage


def test_a_classic_tag_makes_python_ready(page: BrowserPage) -> None:
    page.start()
    assert page.run("return pedelec.version") == "0.1.0"
    assert len(page.events("ready")) == 1


def test_scripts_run_in_document_order_with_top_level_await(page: BrowserPage) -> None:
    page.write("second.py", "import asyncio\nawait asyncio.sleep(0)\norder.append('second')\n")
    page.open(
        f"""{LOADER}
        <script type="text/pedelec">
            import asyncio, js
            order = []
            await asyncio.sleep(0.05)
            order.append("first")
        </script>
        <script type="text/pedelec" src="second.py"></script>
        <script type="text/pedelec">
            order.append("third")
            js.order = ",".join(order)
        </script>"""
    )
    page.wait_for("globalThis.order")
    assert page.run("return order") == "first,second,third"
