"""Repairs how Pyodide 314 awaits promises, in the one page that the SDK runs in.

JavaScript may reject a promise with anything. Pyodide hands what is no `Error` to `Future.set_exception`,
which takes exceptions alone: the error goes to the console and whoever awaits the promise waits for ever.
"""

from typing import Any

from pedelec._browser.outcome import read_refusal
from pedelec._browser.page import Promised, border


def repair() -> None:
    """Let `await promise` raise for every rejection. Called again, does nothing."""
    if Promised.set_exception is not _set_exception:
        Promised.set_exception = _set_exception


def _set_exception(future: Any, rejection: object) -> None:
    if not _is_exception(rejection):
        rejection = read_refusal(border.describe(rejection))
    super(Promised, future).set_exception(rejection)


def _is_exception(rejection: object) -> bool:
    return isinstance(rejection, BaseException) or (
        isinstance(rejection, type) and issubclass(rejection, BaseException)
    )
