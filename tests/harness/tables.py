"""Tables whose rows one test goes through.

As a test of its own, a row costs pytest a hundred times what it takes to check it. A table of many rows is
therefore one test, which tries all of them and names those that fail.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

type Check = Callable[..., Any]

_SHOWN_CHARS = 120


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Check], Check]:
    """Check every row of a table in one test, where `pytest.mark.parametrize` makes one of each.

    What fixtures give is there for the whole table: it must not matter which row comes first.

    Args:
        names: of the parameters that a row is for.
        rows: their values; with one name, bare ones.
    """
    given = [names] if isinstance(names, str) else list(names)
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]

    def decorate(check: Check) -> Check:
        signature = inspect.signature(check)

        if inspect.iscoroutinefunction(check):

            @functools.wraps(check)
            async def through(**fixtures: Any) -> None:
                failures = _Failures(len(table))
                for number, row in enumerate(table):
                    with failures.of(number, row):
                        await check(**fixtures, **dict(zip(given, row, strict=True)))
                failures.tell()
        else:

            @functools.wraps(check)
            def through(**fixtures: Any) -> None:
                failures = _Failures(len(table))
                for number, row in enumerate(table):
                    with failures.of(number, row):
                        check(**fixtures, **dict(zip(given, row, strict=True)))
                failures.tell()

        others = [value for name, value in signature.parameters.items() if name not in given]
        through.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return through

    return decorate


class _Failures:
    """What went wrong, row by row."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._names: list[str] = []
        self._found: list[Exception] = []

    @contextmanager
    def of(self, number: int, row: tuple[Any, ...]) -> Iterator[None]:
        """Keep the failure of a row."""
        try:
            yield
        except pytest.fail.Exception as failed:  # no `Exception`, and what `pytest.raises` raises
            self._keep(AssertionError(failed.msg).with_traceback(failed.__traceback__), number, row)
        except Exception as failed:  # noqa: BLE001 - all are told in the end
            self._keep(failed, number, row)

    def _keep(self, failed: Exception, number: int, row: tuple[Any, ...]) -> None:
        name = f"row {number}: {_shown(row)}"
        failed.add_note(name)
        self._names.append(name)
        self._found.append(failed)

    def tell(self) -> None:
        """Fail with all that was kept.

        Raises:
            ExceptionGroup: of each failure, with the number and the values of its row.
        """
        if self._found:
            told = f"{len(self._found)} of {self._rows} rows fail: {'; '.join(self._names)}"
            raise ExceptionGroup(told, self._found)


def _shown(row: tuple[Any, ...]) -> str:
    parts = [repr(value) for value in row]
    return ", ".join(part if len(part) <= _SHOWN_CHARS else part[:_SHOWN_CHARS] + "…" for part in parts)
