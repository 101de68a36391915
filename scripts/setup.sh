#!/bin/sh
# Prepares this checkout: `scripts/setup.sh demo` or `scripts/setup.sh test`. Finds a Python; Python does the rest.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
python=$("$root/scripts/find_python.sh")
cd "$root"
# The set-up shares the bundle's code before anything is installed.
PYTHONPATH=$root/core_shim exec "$python" -m scripts.setup "$@"
