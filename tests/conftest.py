"""Fixtures that every room of the suite may use."""

import pytest
from hypothesis import settings

# What every run can afford. `--hypothesis-profile deep` looks longer.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("deep", max_examples=2_000, deadline=None)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--chaos N` plays at least N schedules of faults."""
    parser.addoption("--chaos", type=int, default=300, metavar="N", help="schedules of faults to play")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"
