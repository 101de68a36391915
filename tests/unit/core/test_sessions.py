"""Which page of a session runs its calls, and when a session ends because its pages are gone."""

import itertools
from collections.abc import Sequence

from pedelec.json_text import RawJson
from pedelec_core.invocation import Answer, Call, CallLimits, Decision, Deliver, Instant
from pedelec_core.registry import ToolRegistry
from pedelec_core.sessions import Session, SessionTimes


def at(seconds: float) -> Instant:
    return Instant(seconds, round(seconds * 1000))


def a_session(*, auto_end: bool = True, tools: ToolRegistry | None = None, grace: float = 10) -> Session:
    ids = itertools.count(1)
    return Session(
        "ses_1",
        origin="http://127.0.0.1:7420",
        app_name=None,
        guidance="",
        registry=tools or ToolRegistry([]),
        auto_end=auto_end,
        now=at(0),
        new_id=lambda prefix: f"{prefix}{next(ids)}",
        limits=CallLimits(),
        times=SessionTimes(end_grace=grace, loss_grace=grace),
    )


def move(session: Session, now: float, *, timeout_ms: int = 60_000) -> list[Decision]:
    call = Call(tool="move", args=RawJson("{}"), args_key=f"k{now}", timeout_ms=timeout_ms)
    return session.calls.call(call, f"agent-{now}", at(now))


def delivered_to(decisions: Sequence[Decision]) -> list[str | None]:
    return [decision.invocation.instance_id for decision in decisions if isinstance(decision, Deliver)]


def codes(decisions: Sequence[Decision]) -> list[str]:
    return [
        decision.outcome.error.code
        for decision in decisions
        if isinstance(decision, Answer) and decision.outcome.error is not None
    ]


def test_the_first_page_runs_the_calls_and_the_second_only_watches() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(1))
    assert delivered_to(move(session, 2)) == ["one"]


def test_when_the_first_page_goes_the_second_takes_over() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(1))
    session.detach("c1", at(2))
    assert delivered_to(move(session, 3)) == ["two"]


def test_a_reloaded_page_cuts_off_at_once_what_the_old_one_ran() -> None:
    session = a_session()
    session.attach("old", "c1", 0, at(0))
    move(session, 1)
    session.detach("c1", at(2))
    assert codes(session.attach("new", "c2", 0, at(3))) == ["TOOL_INTERRUPTED"]


def test_a_page_that_only_lost_its_socket_goes_on_with_what_it_ran() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    (deliver,) = (decision for decision in move(session, 1) if isinstance(decision, Deliver))
    session.detach("c1", at(2))
    assert codes(session.attach("one", "c2", deliver.invocation.seq, at(3))) == []
    refused, decisions = session.calls.result(deliver.invocation.id, "one", RawJson("5"), at(4))
    assert refused is None
    assert [decision.outcome.result for decision in decisions if isinstance(decision, Answer)] == [
        RawJson("5")
    ]


def test_a_page_whose_old_socket_still_hangs_is_reached_through_the_new_one() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("one", "c2", 0, at(1))
    assert session.connection_of("one") == "c2"
    session.detach("c1", at(2))
    assert session.connections() == ["c2"]
    assert delivered_to(move(session, 3)) == ["one"]


def test_what_a_crashed_tab_ran_is_given_up_after_the_grace_though_another_tab_is_open() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(0))
    move(session, 1)
    session.detach("c1", at(2))
    assert session.next_due() == 12
    assert codes(session.tick(at(11.9))) == []
    assert codes(session.tick(at(12))) == ["TOOL_INTERRUPTED"]


def test_an_auto_ending_session_is_abandoned_only_after_the_grace() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    assert not session.is_abandoned(at(100))
    session.detach("c1", at(100))
    assert session.next_due() == 110
    assert not session.is_abandoned(at(109.9))
    assert session.is_abandoned(at(110))


def test_a_page_that_comes_back_within_the_grace_keeps_the_session() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.detach("c1", at(1))
    session.attach("new", "c2", 0, at(5))
    assert not session.is_abandoned(at(1000))


def test_a_session_that_does_not_end_by_itself_waits_a_day_for_its_page() -> None:
    session = a_session(auto_end=False)
    session.attach("one", "c1", 0, at(0))
    session.detach("c1", at(1))
    assert not session.is_abandoned(at(86_400))
    assert session.is_abandoned(at(86_401))


def test_ending_twice_does_nothing_more() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    move(session, 1)
    assert codes(session.end(at(2))) == ["TOOL_INTERRUPTED"]
    assert session.end(at(3)) == []
    assert not session.live


def test_an_ended_session_is_kept_as_long_as_its_results_can_be_asked_for() -> None:
    session = a_session()
    session.end(at(2))
    assert session.next_due() == 302
    assert not session.is_over(at(301))
    assert session.is_over(at(302))


def test_events_are_numbered_without_gaps_across_calls_and_cancellations() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    move(session, 1, timeout_ms=1000)
    session.tick(at(2))
    assert session.next_seq() == 3


def test_a_silent_page_gets_no_new_calls_and_keeps_what_it_runs() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    (running,) = (each for each in move(session, 1) if isinstance(each, Deliver))
    session.page_answers("c1", at(2), answers=False)
    assert delivered_to(move(session, 3)) == []
    _, decisions = session.calls.result(running.invocation.id, "one", RawJson("5"), at(4))
    assert [each.outcome.result for each in decisions if isinstance(each, Answer)] == [RawJson("5")]


def test_calls_that_waited_for_a_silent_page_run_once_it_answers() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.page_answers("c1", at(1), answers=False)
    move(session, 2)
    assert delivered_to(session.page_answers("c1", at(3), answers=True)) == ["one"]


def test_a_call_that_a_frozen_page_never_saw_did_not_run() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.page_answers("c1", at(1), answers=False)
    move(session, 2, timeout_ms=1000)
    (answer,) = (each for each in session.tick(at(3)) if isinstance(each, Answer))
    assert answer.outcome.error is not None
    assert (answer.outcome.error.code, answer.outcome.error.effects) == ("TOOL_PAGE_UNAVAILABLE", "none")
    assert "frozen" in answer.outcome.error.message
    assert delivered_to(session.page_answers("c1", at(4), answers=True)) == []


def test_the_lease_goes_to_a_page_that_answers_and_stays_there() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(0))
    session.page_answers("c1", at(1), answers=False)
    assert delivered_to(move(session, 2)) == ["two"]
    session.page_answers("c1", at(3), answers=True)
    assert delivered_to(move(session, 4)) == ["two"]


def test_where_no_page_answers_the_first_that_does_again_runs_the_calls() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(0))
    session.page_answers("c1", at(1), answers=False)
    session.page_answers("c2", at(1), answers=False)
    move(session, 2)
    assert delivered_to(session.page_answers("c1", at(3), answers=True)) == ["one"]


def test_a_page_that_connects_again_answers() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.page_answers("c1", at(1), answers=False)
    session.attach("one", "c2", 0, at(2))
    assert delivered_to(move(session, 3)) == ["one"]


def test_a_result_from_a_page_that_was_taken_for_gone_is_a_late_one() -> None:
    session = a_session()
    session.attach("old", "c1", 0, at(0))
    (running,) = (each for each in move(session, 1) if isinstance(each, Deliver))
    session.detach("c1", at(2))
    session.attach("new", "c2", 0, at(3))
    refused, _ = session.calls.result(running.invocation.id, "old", RawJson("5"), at(4))
    assert refused is not None
    assert refused.code == "SUBMIT_TOOL_RESULT_FAILED"
    assert running.invocation.late is not None
    assert running.invocation.late.result == RawJson("5")


def a_restored_session(pages: list[str]) -> Session:
    """One whose Core died while each page ran a call."""
    before = a_session()
    calls = []
    for number, page in enumerate(pages):
        before.attach(page, f"c{number}", 0, at(0))
        decisions = move(before, number / 10)
        calls += [each.invocation for each in decisions if isinstance(each, Deliver)]
        before.detach(f"c{number}", at(1))
    session = a_session()
    session.restore(calls, pages=pages, created_at_ms=0, ended_at=None, seq=100, now=at(100))
    return session


def interrupted(session: Session) -> list[str | None]:
    """The pages whose calls were cut off."""
    found = [session.calls.get(each) for each in session.calls.ids()]
    return [each.instance_id for each in found if each is not None and each.given_up]


def test_after_a_restart_the_only_page_that_is_missing_is_the_one_that_was_reloaded() -> None:
    session = a_restored_session(["one"])
    session.attach("new", "c9", 0, at(101))
    assert interrupted(session) == ["one"]


def test_after_a_restart_a_new_page_cuts_off_nobody_while_several_are_missing() -> None:
    session = a_session()
    session.restore([], pages=["one", "two"], created_at_ms=0, ended_at=None, seq=100, now=at(100))
    session.attach("new", "c9", 0, at(101))
    assert session.pages == ["new", "one", "two"]
    session.attach("one", "c1", 0, at(102))
    assert session.pages == ["new", "one"]


def test_after_a_restart_pages_have_longer_to_come_back_than_after_a_loss() -> None:
    session = a_restored_session(["one"])
    assert not session.is_abandoned(at(119.9))
    assert session.is_abandoned(at(120))


def test_after_a_restart_pages_have_as_long_as_after_a_loss_where_that_is_longer() -> None:
    session = a_session(grace=60)
    session.restore([], pages=["one", "two"], created_at_ms=0, ended_at=None, seq=100, now=at(100))
    session.attach("one", "c1", 0, at(101))
    session.tick(at(159.9))
    assert session.pages == ["one", "two"]
    session.tick(at(160))
    assert session.pages == ["one"]


def test_a_page_that_comes_back_after_a_restart_and_is_lost_again_has_the_usual_grace() -> None:
    session = a_restored_session(["one"])
    session.attach("one", "c1", 0, at(101))
    session.detach("c1", at(102))
    assert session.is_abandoned(at(112))


def offer(*names: str) -> ToolRegistry:
    return ToolRegistry.from_manifests(
        [{"name": name, "description": "Does.", "argsSchema": {"type": "object"}} for name in names]
    )


def test_what_a_page_offers_besides_takes_the_place_of_what_it_offered_before() -> None:
    session = a_session(tools=offer("draw"))
    session.attach("one", "c1", 0, at(0))
    session.offer("one", offer("search", "zoom"))
    assert session.registry.names() == ["draw", "search", "zoom"]
    session.offer("one", offer("zoom"))
    assert session.registry.names() == ["draw", "zoom"]
    assert session.declared.names() == ["draw"]


def test_pages_offer_side_by_side_until_they_are_given_up() -> None:
    session = a_session()
    session.attach("one", "c1", 0, at(0))
    session.attach("two", "c2", 0, at(0))
    session.offer("one", offer("zoom"))
    session.offer("two", offer("zoom", "search"))
    assert session.registry.names() == ["zoom", "search"]
    session.detach("c2", at(1))
    assert session.registry.names() == ["zoom", "search"]
    session.tick(at(12))
    assert session.registry.names() == ["zoom"]
