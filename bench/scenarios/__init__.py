"""The scenarios, in the order in which they run. One module each."""

from bench.model import Scenario
from bench.scenarios import command_line, encoding, journal, many_pages, round_trip, start_up

SCENARIOS: tuple[Scenario, ...] = (
    encoding.SCENARIO,
    round_trip.SCENARIO,
    journal.SCENARIO,
    command_line.SCENARIO,
    many_pages.SCENARIO,
    start_up.SCENARIO,
)
