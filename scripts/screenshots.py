"""`make screenshots`: the README's pictures and its recording, taken of the real demo in a real browser.

Owns what is shown. Runs a Core of its own in a temporary folder; writes `docs/images/`.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize

from bench.browsers import open_browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE: ViewportSize = {"width": 1280, "height": 1080}
RECORDED_WIDTH = 960
START_MS = 180_000
_READY = "ready "


class Recording:
    """The frames of a page, each with the time that it stays."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[Image.Image] = []
        self._times: list[int] = []

    def take(self, stays_ms: int) -> None:
        """Add the page as it is now."""
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        height = round(picture.height * RECORDED_WIDTH / picture.width)
        self._frames.append(picture.resize((RECORDED_WIDTH, height), Image.Resampling.LANCZOS))
        self._times.append(stays_ms)

    def write(self, path: Path) -> None:
        """Write it as an animated WebP, which goes round for ever."""
        first, *others = self._frames
        options: dict[str, Any] = {"quality": 70, "method": 6, "loop": 0, "minimize_size": True}
        first.save(path, save_all=True, append_images=others, duration=self._times, **options)


def main() -> int:
    """Take everything; return the exit status."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        program = Path(sys.executable).with_name("pedelec-core")
        command: list[str | Path] = [
            program,
            "serve",
            "--port",
            "0",
            "--state-dir",
            state,
            "--site",
            ROOT / "web_demo",
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as core:
            assert core.stdout is not None
            try:
                address = core.stdout.readline().removeprefix(_READY).strip()
                _take_all(address)
            finally:
                core.terminate()
    for image in sorted(IMAGES.iterdir()):
        print(f"{image.relative_to(ROOT)}: {image.stat().st_size // 1024} KiB")
    return 0


def _take_all(address: str) -> None:
    with open_browser("chromium") as browser:
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(address)
        page.locator('#state[data-state="ready"]').wait_for(timeout=START_MS)
        inspector = page.locator("pedelec-inspector")
        inspector.locator(".verdict").wait_for()
        _record(page, inspector)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=IMAGES / f"demo-{scheme}.png")
            _shrink(IMAGES / f"demo-{scheme}.png")


def _record(page: Page, inspector: Locator) -> None:
    recording = Recording(page)
    recording.take(1500)
    _call(inspector, "find_shape", {"name": "violet moon"})
    recording.take(1800)
    _begin(inspector, "move_shape", {"shapeId": "s1", "x": 120, "y": 80})
    for _ in range(4):
        recording.take(80)
    _settled(inspector)
    recording.take(1800)
    _begin(inspector, "export_board", {"pauseMs": 400})
    for _ in range(8):
        recording.take(220)
        page.wait_for_timeout(150)
    _settled(inspector)
    recording.take(1200)
    _call(inspector, "find_shape", {"name": "blue panel"})
    recording.take(3000)
    recording.write(IMAGES / "demo.webp")


def _begin(inspector: Locator, tool: str, args: dict[str, Any]) -> None:
    inspector.evaluate("(element, [tool, args]) => { element.call(tool, args); }", [tool, args])


def _settled(inspector: Locator) -> None:
    inspector.locator('.verdict:not([data-state="running"])').wait_for()


def _call(inspector: Locator, tool: str, args: dict[str, Any]) -> None:
    _begin(inspector, tool, args)
    _settled(inspector)


def _shrink(path: Path) -> None:
    """A picture of few colours needs no more than 256 of them."""
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
