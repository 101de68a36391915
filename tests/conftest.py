"""Fixtures that every room of the suite may use."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--chaos N` plays at least N schedules of faults."""
    parser.addoption("--chaos", type=int, default=300, metavar="N", help="schedules of faults to play")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, as the product does."""
    return "asyncio"
