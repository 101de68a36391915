"""`make screenshots`: the README's pictures and its recording, taken of the real demo in a real browser.

Owns what is shown. Runs a Core of its own in a temporary folder; writes `docs/images/`.
"""

import io
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, ViewportSize

from bench.browsers import open_browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PROGRAMS = Path(sys.executable).parent
SIZE: ViewportSize = {"width": 1280, "height": 900}
RECORDED_WIDTH = 960
STILL: ViewportSize = {"width": 1280, "height": 1240}
"""High enough for the first calls on the timeline."""
READING_MS = 1300
START_MS = 180_000
LAST_STAYS_MS = 3000
_READY = "ready "


class Recording:
    """The frames of a page, each with the time that it stays."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._shots: list[tuple[float, bytes]] = []

    def take(self) -> None:
        """Add the page as it is now, if it has changed."""
        shot = self._page.screenshot()
        if not self._shots or self._shots[-1][1] != shot:
            self._shots.append((time.monotonic(), shot))

    def write(self, path: Path) -> None:
        """Write it as an animated WebP, which goes round for ever."""
        begun = [at for at, _ in self._shots]
        times = [round(1000 * (end - at)) for at, end in itertools.pairwise(begun)]
        first, *others = [self._smaller(shot) for _, shot in self._shots]
        options: dict[str, Any] = {"quality": 60, "method": 4, "loop": 0, "minimize_size": True}
        first.save(path, save_all=True, append_images=others, duration=[*times, LAST_STAYS_MS], **options)

    @staticmethod
    def _smaller(shot: bytes) -> Image.Image:
        picture = Image.open(io.BytesIO(shot)).convert("RGB")
        height = round(picture.height * RECORDED_WIDTH / picture.width)
        return picture.resize((RECORDED_WIDTH, height), Image.Resampling.LANCZOS)


def main() -> int:
    """Take everything; return the exit status."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        # The page shows the commands that reach this Core: let them tell nothing of this machine.
        environment = {**os.environ, "HOME": home, "XDG_STATE_HOME": home}
        environment["PATH"] = f"{PROGRAMS}{os.pathsep}{environment['PATH']}"
        environment.pop("PEDELEC_STATE_DIR", None)
        command = [str(PROGRAMS / "pedelec-core"), "serve", "--port", "0", "--site", str(ROOT / "web_demo")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as core:
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
        page.locator("#watch:not([disabled])").wait_for(timeout=START_MS)
        _record(page)
        page.set_viewport_size(STILL)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=IMAGES / f"demo-{scheme}.png")
            _shrink(IMAGES / f"demo-{scheme}.png")


def _record(page: Page) -> None:
    """The agent at work that everybody can watch there."""
    recording = Recording(page)
    button = page.locator("#watch")
    title = button.inner_text()
    button.evaluate("(button, ms) => { button.dataset.readingMs = ms; }", READING_MS)
    recording.take()
    button.click()
    while button.inner_text() != title:
        recording.take()
    page.mouse.move(0, 0)
    recording.take()
    recording.write(IMAGES / "demo.webp")


def _shrink(path: Path) -> None:
    """A picture of few colours needs no more than 256 of them."""
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
