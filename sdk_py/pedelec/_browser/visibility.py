"""Whether anybody can see the page, and who wants to know when that changes."""

from collections.abc import Callable

from pedelec._browser.page import border, create_proxy

watchers: list[Callable[[], None]] = []
"""Called whenever the page is hidden or shown; for as long as the page."""


def is_hidden() -> bool:
    """Whether the page's tab is in the background, or its window minimised."""
    return border.is_hidden()


def _changed() -> None:
    for watcher in watchers:
        watcher()


def watch() -> None:
    """Hear of changes from now on. The one proxy of this module, as long as the page."""
    border.watch_visibility(create_proxy(_changed))
