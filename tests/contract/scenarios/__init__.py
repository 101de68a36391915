"""The tool contract as scenarios, each written once and played on every stage (`stage.Stage`).

A scenario is a public function of a module here; its name is the sentence that it shows.
"""

from collections.abc import Callable
from importlib import import_module
from inspect import isfunction

import pytest

from tests.contract.stage import Stage

type Scenario = Callable[[Stage], None]

_NAMES = [f"{__name__}.{name}" for name in ("handlers", "answers", "life", "asking")]
pytest.register_assert_rewrite(
    *_NAMES
)  # before they are imported, so that a failed assertion shows its values

SCENARIOS: dict[str, Scenario] = {
    name: function
    for module in map(import_module, _NAMES)
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
"""All scenarios by name."""

__all__ = ["SCENARIOS", "Scenario"]
