"""The scenarios, in the order in which they run. One module each."""

from bench.model import Scenario
from bench.scenarios import (
    alternatives,
    command_line,
    encoding,
    journal,
    many_pages,
    page_memory,
    round_trip,
    start_up,
)

SCENARIOS: tuple[Scenario, ...] = (
    encoding.SCENARIO,
    round_trip.SCENARIO,
    alternatives.SCENARIO,
    journal.SCENARIO,
    command_line.SCENARIO,
    many_pages.SCENARIO,
    start_up.SCENARIO,
    page_memory.SCENARIO,
)
