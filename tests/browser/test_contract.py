"""The tool contract in real browsers, with the real Core and the real command line.

The scenarios are those of `tests/contract/scenarios`, which play over the in-memory transport too.
"""

import pytest

from tests.browser.browser_page import BrowserPage
from tests.contract.browser_stage import browser_stage
from tests.contract.scenarios import SCENARIOS, Scenario


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_scenario(shared: BrowserPage, scenario: Scenario) -> None:
    with browser_stage(shared) as stage:
        scenario(stage)
        assert stage.take_log() == ""
