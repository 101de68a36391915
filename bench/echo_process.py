"""The echo server (`bench.echo_server`) as a process of its own, and how it is asked to measure itself."""

import contextlib
import json
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator

from bench.browsers import READY_SECONDS, ROOT


@contextlib.contextmanager
def echo_server() -> Iterator[str]:
    """The address of an echo server that runs as a process of its own."""
    command = [sys.executable, "-m", "bench.echo_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.startswith("ready "):
                raise RuntimeError("The echo server did not start.")
            yield line.removeprefix("ready ").strip()
        finally:
            process.kill()


def ask_echo_server(url: str, **parameters: int) -> float:
    """A measurement of the echo server."""
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f"{url}?{query}", timeout=READY_SECONDS) as response:
        return float(json.load(response))
