"""Wakes the Python of a memory snapshot up in its page: what was fixed when that was made is set afresh.

Owns the list of what a snapshot must not share between pages, and the check that Python works. Not covered is
the seed of `hash()`, which every string in the snapshot has been hashed with.
"""

import asyncio
import logging
import os
import random
import sys
import time
from importlib.machinery import FileFinder
from typing import Any

from pedelec import json_safe
from pedelec.tools import define_tool

_model: Any = None
"""What pydantic is tried out with; None in a snapshot without it."""


def make_model() -> None:
    """Make what pydantic will be tried out with, before the snapshot is taken: to make a class takes long."""
    global _model
    import pydantic

    class Probe(pydantic.BaseModel):
        number: int

    _model = Probe


def wake_up(language: str) -> str | None:
    """Set everything random or timed afresh and try out what the snapshot is for.

    Args:
        language: the browser's, such as `en-US`.

    Returns:
        None, or what does not work.
    """
    _set_random_state()
    _set_clocks()
    os.environ.pop("PYTHONHASHSEED", None)
    os.environ["LANG"] = f"{language.replace('-', '_')}.UTF-8"
    asyncio.new_event_loop()  # Pyodide makes it the running one
    _forget_folders()
    return _try_out()


def _forget_folders() -> None:
    """Have folders listed anew. The archive of the standard library is what it was, and long to read."""
    for finder in sys.path_importer_cache.values():
        if isinstance(finder, FileFinder):
            finder.invalidate_caches()


def _set_random_state() -> None:
    random.seed()
    _set("tempfile", _name_sequence=None)
    # A clock sequence and a node that two pages share would give them the same uuid1().
    _set("uuid", _node=None, _last_timestamp=None, _last_timestamp_v6=None, _last_timestamp_v7=None)


def _set_clocks() -> None:
    _set_time_zone()
    logging._startTime = time.time_ns()  # type: ignore[attr-defined]


def _set_time_zone() -> None:
    """Set what `time.tzset()` would, which this Python lacks; `localtime()` asks the browser each time."""
    half_a_year = 365.25 * 24 * 60 * 60 / 2
    new_year = time.time() // (2 * half_a_year) * 2 * half_a_year
    zones = [time.localtime(moment) for moment in (new_year, new_year + half_a_year)]
    zones.sort(key=lambda zone: zone.tm_gmtoff or 0)  # daylight saving puts clocks forward
    standard, saving = ((zone.tm_zone, -(zone.tm_gmtoff or 0)) for zone in zones)
    (standard_name, time.timezone), (saving_name, time.altzone) = standard, saving
    time.tzname = (standard_name, saving_name)
    time.daylight = int(time.timezone != time.altzone)


def _set(module: str, **values: Any) -> None:
    """Set names of a module that is loaded and has them."""
    loaded = sys.modules.get(module)
    for name, value in values.items():
        if hasattr(loaded, name):
            setattr(loaded, name, value)


def _try_out() -> str | None:
    try:
        return _try_sdk() or (None if _model is None else _try_pydantic())
    except Exception as error:  # noqa: BLE001 - whatever it is, the page starts Python in the usual way
        return f"{type(error).__name__}: {error}"


def _try_sdk() -> str | None:
    tool = define_tool(name="probe", description="A.", args_schema={"type": "object"})
    if json_safe.encode({"tool": tool.name}, max_bytes=100).text != '{"tool":"probe"}':
        return "the SDK writes wrong JSON"
    return None


def _try_pydantic() -> str | None:
    from pydantic import ValidationError

    if _model.model_validate_json('{"number": 1}').model_dump() != {"number": 1}:
        return "pydantic reads wrong values"
    try:
        _model.model_validate({"number": "none"})
    except ValidationError as error:
        return None if error.error_count() == 1 else "pydantic reports wrong errors"
    return "pydantic accepts wrong values"
