"""The tool contract over the in-memory transport; `tests/browser/test_contract.py` plays it in browsers."""

import pytest

from tests.contract.memory_stage import memory_stage
from tests.contract.scenarios import SCENARIOS, Scenario
from tests.contract.stage import RECONNECT_CAP_SECONDS


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_scenario(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pedelec.connection.RECONNECT_CAP_SECONDS", RECONNECT_CAP_SECONDS)
    with memory_stage() as stage:
        scenario(stage)
        assert stage.take_log() == ""
