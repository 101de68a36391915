"""How long Python takes to encode the result that encoding.mjs made. Runs in the page."""

# ruff: noqa: TID251

import json
import time

from js import bench
from pyodide.ffi import create_proxy

from pedelec.json_safe import encode

MAX_BYTES = 2_000_000

value = json.loads(bench.valueText)
contenders = {
    "dumps": lambda: json.dumps(value, allow_nan=False),
    "encode": lambda: encode(value, max_bytes=MAX_BYTES).text,
}
assert json.loads(contenders["encode"]()) == value


def measure(name):
    started = time.perf_counter()
    contenders[name]()
    return 1000 * (time.perf_counter() - started)


bench.python = create_proxy(measure)
bench.state = "ready"
