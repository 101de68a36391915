"""What a browser under test is: before it was found (`BrowserSpec`) and after (`Browser`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class BrowserError(Exception):
    """A browser under test is not to be had; the message says what to do."""


@dataclass(frozen=True)
class BrowserSpec:
    """What is to be known about one browser under test.

    Attributes:
        name: what the tests call it.
        engine: the attribute of a `Playwright` object that launches it.
        download: what to call it in `playwright install`, with options.
        programs: names on PATH, or absolute paths, of system browsers that Playwright can drive.
        debian_package: the package that brings a system browser.
        system_options: launch options that a system browser needs besides its `executable_path`.
        arguments: command-line arguments that every build needs.
    """

    name: str
    engine: str
    download: tuple[str, ...]
    programs: tuple[str, ...]
    debian_package: str
    system_options: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Browser:
    """A browser that has been started once: `getattr(playwright, engine).launch(**launch_options)`.

    Attributes:
        name: what the tests call it.
        engine: the attribute of a `Playwright` object that launches it.
        origin: `playwright` or `system`.
        launch_options: keyword arguments for `launch`.
        files: files and folders without which it cannot start.
    """

    name: str
    engine: str
    origin: str
    launch_options: Mapping[str, Any]
    files: tuple[str, ...]
