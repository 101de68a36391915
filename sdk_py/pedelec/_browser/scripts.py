"""Runs the page's Python scripts for the loader (scripts.mjs).

Owns the namespace that they share, the names in their tracebacks, and what is told of one that fails.
"""

import ast
import sys
import textwrap
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import __main__
from pedelec._browser.page import evaluate
from pedelec.errors import clean_text, type_name_of


async def run_script(source: str, name: str) -> dict[str, Any] | None:
    """Run one script to its end, top-level `await` included.

    Args:
        source: its text; the indentation that all its lines have in common is taken away.
        name: its file name in tracebacks.

    Returns:
        None, or what went wrong: `type`, `message`, `line` (in the script, from 1, or None), `traceback`.
    """
    try:
        await evaluate(textwrap.dedent(source), vars(__main__), name)
    except SystemExit as error:
        return None if error.code in (None, 0) else _failure(error, name)
    except BaseException as error:  # noqa: BLE001 - whatever a script raises, the next one must run
        return _failure(error, name)
    return None


async def install(packages: list[str]) -> None:
    """Install packages by name, from Core's bundle where it has them, else as micropip finds them.

    Raises:
        ImportError: one is not to be had; says how Core comes to have it.
    """
    import micropip  # type: ignore[import-not-found]

    try:
        await micropip.install(packages)
    except Exception as error:
        wanted = " ".join(f"--with {package}" for package in packages)
        message = f"{error}\nTo have it in Core's bundle: pedelec-core runtime build {wanted}"
        raise ImportError(message) from error


def needs_of(source: str) -> dict[str, bool]:
    """What a script needs before it runs.

    A script that does not compile needs nothing; running it tells why.

    Returns:
        `pydantic`: it takes `tool` from `pedelec`, and pydantic is not here yet; `packages`: it imports what
        nobody has imported yet, so it may need any package.
    """
    try:
        nodes = list(ast.walk(ast.parse(textwrap.dedent(source))))
    except (SyntaxError, ValueError):
        nodes = []
    return {
        "pydantic": "pydantic" not in sys.modules and any(_takes_tool(node) for node in nodes),
        "packages": any(name.partition(".")[0] not in sys.modules for name in _imported(nodes)),
    }


def _imported(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module


def _takes_tool(node: ast.AST) -> bool:
    match node:
        case ast.ImportFrom(module="pedelec", names=names):
            return any(alias.name in {"tool", "*"} for alias in names)
        case ast.Attribute(value=ast.Name(id="pedelec"), attr="tool"):
            return True
        case _:
            return False


def _failure(error: BaseException, name: str) -> dict[str, Any]:
    own = _from_file(error.__traceback__, name)
    return {
        "type": type_name_of(error),
        "message": clean_text(str(error)),
        "line": _line(error, own, name),
        "traceback": "".join(traceback.format_exception(type(error), error, own)),
    }


def _from_file(trace: TracebackType | None, name: str) -> TracebackType | None:
    """The traceback from the script's own first frame on; what ran the script is of no use to its author."""
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    return trace


def _line(error: BaseException, trace: TracebackType | None, name: str) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    lines = [line for frame, line in traceback.walk_tb(trace) if frame.f_code.co_filename == name]
    return lines[-1] if lines else None
