"""When a lost connection is sought again, and how long a request waits for its answer."""

import inspect

import pytest

from pedelec import Pedelec
from tests.unit.sdk.scripted_core import ScriptedCore, open_session, settle


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Between which delays each attempt is drawn; the attempts themselves are made at once."""
    drawn: list[tuple[float, float]] = []

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return 0.0

    monkeypatch.setattr("pedelec.connection.random.uniform", draw)
    return drawn


async def fail(core: ScriptedCore, attempts: int) -> None:
    """Lose the connection and refuse it until so many attempts to get it back were drawn."""
    core.refuse_connections = True
    before = len(core.transports)
    core.transport.core_close("cut")
    while len(core.transports) < before + attempts:
        await settle()
    core.refuse_connections = False


async def test_attempts_are_drawn_from_a_range_that_doubles_up_to_ten_seconds(
    bounds: list[tuple[float, float]],
) -> None:
    core = ScriptedCore()
    await open_session(core)
    await fail(core, 7)
    assert bounds[:7] == [(0, 0.5), (0, 1.0), (0, 2.0), (0, 4.0), (0, 8.0), (0, 10.0), (0, 10.0)]


async def test_a_connection_that_was_found_begins_anew(bounds: list[tuple[float, float]]) -> None:
    core = ScriptedCore()
    session = await open_session(core)
    await fail(core, 3)
    await core.until(lambda: len(core.sent("resume_session")) == 1)
    await settle()
    assert session.get_status() == "idle"
    bounds.clear()
    await fail(core, 1)
    assert bounds[0] == (0, 0.5)


def test_a_request_waits_for_thirty_seconds_unless_told_otherwise() -> None:
    assert inspect.signature(Pedelec).parameters["bridge_timeout_ms"].default == 30_000
