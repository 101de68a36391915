"""An agent that does what errors say gets where it can be got to, and stops where it cannot."""

import sys
from typing import Any

import pytest

from pedelec import Code
from pedelec.catalogue import CATALOGUE
from pedelec_core.hub import Hub
from tests.literal_agent import asking_scenarios, core_scenarios, kit_scenarios, page_scenarios
from tests.literal_agent.agent import LiteralAgent, Report, reduced
from tests.literal_agent.calls import Call, Command, actions_in
from tests.literal_agent.scenarios import SCENARIOS, Scenario
from tests.literal_agent.stage import Stage

LOADED = (core_scenarios, page_scenarios, kit_scenarios, asking_scenarios)

NOT_OF_A_CALL = {
    *("SUBMIT_TOOL_RESULT_FAILED", "INVALID_INPUT", "SESSION_ENDED", "SESSION_ERROR", "END_SESSION_FAILED"),
    *("THREAD_ACCESS_DENIED", "CREATE_SESSION_NOT_APPROVED", "NOT_SUPPORTED", "SDK_BRIDGE_TIMEOUT"),
    *("SDK_TRANSPORT_ERROR", "SDK_PROTOCOL_ERROR", "CORE_RUNTIME_UNAVAILABLE", "MESSAGE_TOO_LARGE"),
    *("USAGE_ERROR", "INTERNAL_ERROR", "JOURNAL_UNAVAILABLE"),
    *("APPROVAL_REJECTED", "APPROVAL_TIMEOUT", "LOCAL_NETWORK_DENIED", "TOO_MANY_REQUESTS", "LIMIT_REACHED"),
    *("INVOCATION_NOT_FOUND", "TOOL_RESULT_PENDING"),  # of a command about a call
}
"""Codes that no answer to a tool call has, or that need a Core that is broken."""


async def play(scenario: Scenario, *, whole: bool = True) -> tuple[bool, Report]:
    """Whether the agent got there, and how."""
    stage = Stage(Hub())
    try:
        goal = await scenario.prepare(stage)
        agent = LiteralAgent(stage, scenario.user, (lambda problem: problem) if whole else reduced)
        report = await agent.pursue(goal)
        return report.reached(scenario.through or (goal.tool,)), report
    finally:
        await stage.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_doing_what_the_errors_say_leads_as_far_as_it_can(scenario: Scenario) -> None:
    reached, report = await play(scenario)
    assert report.codes[0] == scenario.code
    assert reached is scenario.reachable, report
    if not scenario.reachable and not report.waited:
        assert report.repeats == 0, report


async def test_with_code_and_message_alone_it_gets_less_far(capsys: pytest.CaptureFixture[str]) -> None:
    reachable = [scenario for scenario in SCENARIOS if scenario.reachable]
    whole = [(await play(scenario))[0] for scenario in reachable]
    alone = [(await play(scenario, whole=False))[0] for scenario in reachable]
    with capsys.disabled():
        sys.stdout.write(
            f"\nliteral agent: recovered {sum(whole)} of {len(reachable)} reachable scenarios; "
            f"{sum(alone)} of {len(reachable)} with code and message alone\n"
        )
    assert all(whole)
    assert sum(alone) < len(reachable) / 2


def test_every_code_of_a_call_has_a_scenario() -> None:
    played = {scenario.code for scenario in SCENARIOS}
    assert set(Code) - played == NOT_OF_A_CALL
    assert len(SCENARIOS) >= 40
    assert set(CATALOGUE) >= NOT_OF_A_CALL


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        (
            'Call move(id="s1", at=[1, 2], ok=true) now',
            [Call("move", {"id": "s1", "at": [1, 2], "ok": True})],
        ),
        ('move({"a b": "x) y"})', [Call("move", {"a b": "x) y"})]),
        ("look(); then see a(b=1), c()", [Call("look"), Call("a", {"b": 1}), Call("c")]),
        ("pedelec-cli tool-result inv_1 or look()", [Command("tool-result", "inv_1"), Call("look")]),
        ("no call (really), and none(here", []),
    ],
)
def test_calls_are_read_out_of_sentences(text: str, actions: list[Any]) -> None:
    assert actions_in(text) == actions
