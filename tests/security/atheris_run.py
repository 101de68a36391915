"""Fuzzing by coverage, where `atheris` is installed: `python -m tests.security.atheris_run SECONDS`.

`make fuzz` runs it after the tests. Atheris is no dependency: it has no wheels for every system.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

from pedelec.errors import PedelecError


def main(seconds: int) -> int:
    """Fuzz the frame decoder and the local socket for so many seconds; atheris ends the process."""
    if importlib.util.find_spec("atheris") is None:
        sys.stdout.write("atheris is not installed: no fuzzing by coverage\n")
        return 0
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["pedelec", "pedelec_core"]):
        from pedelec_core.limits import CoreLimits
        from pedelec_core.registry import parse_args
        from tests.security.targets import Frames, LocalLines, Registry
    frames, registry = Frames(), Registry()
    lines = LocalLines(Path(tempfile.mkdtemp()))

    def one(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        frames.take(text)
        try:
            value = parse_args(text, CoreLimits().wire)
        except PedelecError:
            value = {}
        registry.take([value], json.dumps(value))
        lines.take(data)

    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096", "-rss_limit_mb=1024"], one)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
