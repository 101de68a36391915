"""How long the searches of random examples look."""

import pytest
from hypothesis import settings


def pytest_configure(config: pytest.Config) -> None:
    """`--examples N` looks at N of them, where a test does not say itself how many there are to be."""
    settings.register_profile("here", max_examples=config.getoption("--examples"), deadline=None)
    settings.load_profile("here")
