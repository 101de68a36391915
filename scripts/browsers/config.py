"""`playwright.config.py` as a module: its name has a dot, so that no import statement finds it."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

_PATH = Path(__file__).resolve().parents[2] / "playwright.config.py"


@cache
def load_config() -> ModuleType:
    """Return the module. Its `BROWSERS` and `find` are what tests and measurements need."""
    spec = importlib.util.spec_from_file_location("playwright_config", _PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
