"""Whatever goes wrong at whichever moment: no result is lost, nothing runs twice, every call is answered."""

import pytest

from pedelec import connection
from tests.chaos.schedules import Group, groups
from tests.chaos.world import play_group

pytestmark = pytest.mark.anyio


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each group of schedules; their number is the option's."""
    if "group" in metafunc.fixturenames:
        number: int = metafunc.config.getoption("--chaos")
        metafunc.parametrize("group", groups(number), ids=lambda group: group.name)


@pytest.fixture(autouse=True)
def _pages_look_for_core_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RECONNECT_BASE_SECONDS", 0.02)
    monkeypatch.setattr(connection, "RECONNECT_CAP_SECONDS", 0.2)


async def test_nothing_is_lost_nothing_runs_twice_everything_is_answered(group: Group) -> None:
    complaints = await play_group(group)
    assert not complaints, "\n" + "\n".join(complaints)


def test_there_are_as_many_schedules_as_asked_for_and_each_is_another() -> None:
    for number in (1, 300, 700):
        schedules = [schedule for group in groups(number) for schedule in group.schedules]
        assert len(schedules) >= number
        assert len({schedule.seed for schedule in schedules}) == len(schedules)
    assert groups(300) == groups(300)
