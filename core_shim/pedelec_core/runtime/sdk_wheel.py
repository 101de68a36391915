"""Build the SDK's wheel from its sources, the same bytes every time. What changes it is hashed here too."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from pedelec_core.runtime.digests import combine
from pedelec_core.runtime.errors import BundleError
from pedelec_core.runtime.process import ProgramError, run

# The earliest time a zip can hold; any fixed one would do.
_SOURCE_DATE_EPOCH = "315532800"


def hash_inputs(source: Path) -> str:
    """Return one hash over everything in the SDK's folder that its wheel is made from."""
    return _hash_files(source, [*source.iterdir(), *(source / "pedelec").rglob("*")])


def hash_modules(source: Path) -> str:
    """Return one hash over what Python sees of the SDK: its modules and its metadata, not its JavaScript."""
    return _hash_files(source, [source / "pyproject.toml", *(source / "pedelec").rglob("*.py")])


def _hash_files(source: Path, files: Iterable[Path]) -> str:
    parts: list[str | bytes] = []
    for path in sorted(files):
        if path.is_file() and "__pycache__" not in path.parts:
            parts += [path.relative_to(source).as_posix(), path.read_bytes()]
    return combine(parts)


def build_wheel(source: Path, destination: Path) -> Path:
    """Build the wheel of the SDK in `source` into `destination` and return it.

    Raises:
        BundleError: the sources do not build, or the build tool is not installed.
    """
    command: list[str | Path] = [
        sys.executable,
        "-I",
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        destination,
    ]
    try:
        output = run(command, cwd=source, env={"SOURCE_DATE_EPOCH": _SOURCE_DATE_EPOCH})
    except ProgramError as error:
        message = f"The SDK's wheel could not be built from {source}: {error}"
        raise BundleError(message, "Mend what the build names, then try again.") from error
    built = re.search(r"pedelec-\S+\.whl", output)
    assert built is not None, "hatchling prints the file it has written"
    return destination / Path(built[0]).name
