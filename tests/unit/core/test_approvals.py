"""Requests of origins to be let in: how they end, how many there may be, what people are shown."""

from typing import Any

import pytest

from pedelec.errors import PedelecError
from pedelec_core.approvals import (
    MAX_DESCRIPTION_CHARS,
    MAX_NAME_CHARS,
    MAX_TOOLS_SHOWN,
    ApprovalLimits,
    Approvals,
    Claim,
    ClaimedTool,
    Settled,
    Verdict,
    claim_of,
)

A, B = "https://a.example", "https://b.example"
NOBODY = Claim()
LIMITS = ApprovalLimits(
    seconds=120, rejected_seconds=300, window_seconds=600, per_origin=4, in_all=20, pending=5
)


@pytest.fixture
def approvals() -> Approvals:
    return Approvals(LIMITS)


def refused(approvals: Approvals, origin: str, now: float) -> dict[str, Any]:
    with pytest.raises(PedelecError) as caught:
        approvals.ask(origin, NOBODY, "late", now)
    return caught.value.to_wire()


def code_of(settled: Settled | None) -> str | None:
    assert settled is not None
    error = settled.error()
    return None if error is None else error.code


def test_who_is_approved_may_go_on(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "w", 0)
    settled = approvals.settle(A, Verdict.APPROVED, 1)
    assert settled is not None
    assert settled.error() is None
    assert settled.pending.waiters == ["w"]
    assert approvals.pending == []


def test_who_is_rejected_is_told_and_not_asked_about_for_a_while(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "w", 0)
    assert code_of(approvals.settle(A, Verdict.REJECTED, 10)) == "APPROVAL_REJECTED"
    assert refused(approvals, A, 309)["code"] == "APPROVAL_REJECTED"
    assert approvals.ask(B, NOBODY, "w", 11)[1], "another origin is another matter"
    assert approvals.ask(A, NOBODY, "w", 310)[1]


def test_a_request_without_a_word_ends_after_two_minutes(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "w", 5)
    assert approvals.next_due() == 125
    assert approvals.tick(124.9) == []
    (settled,) = approvals.tick(125)
    assert code_of(settled) == "APPROVAL_TIMEOUT"
    assert approvals.next_due() is None
    assert approvals.ask(A, NOBODY, "w", 126)[1]


def test_the_default_is_two_minutes() -> None:
    assert ApprovalLimits().seconds == 120


def test_an_origin_has_one_request_and_everybody_in_it_hears_of_its_end(approvals: Approvals) -> None:
    first, is_new = approvals.ask(A, NOBODY, "one", 0)
    again, says_more = approvals.ask(A, NOBODY, "two", 60)
    assert (is_new, says_more, again) == (True, False, first)
    assert again.until == 120, "asking again does not make it longer"
    settled = approvals.settle(A, Verdict.APPROVED, 61)
    assert settled is not None
    assert settled.pending.waiters == ["one", "two"]


def test_a_page_that_goes_does_not_take_its_request_along(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "w", 0)
    approvals.leave("w")
    approvals.leave("unknown")
    assert [pending.waiters for pending in approvals.pending] == [[]]
    assert not approvals.ask(A, NOBODY, "reloaded", 1)[1]


def test_tools_that_are_told_later_are_shown_once(approvals: Approvals) -> None:
    later = Claim("Board", (ClaimedTool("move", "Moves."),))
    approvals.ask(A, NOBODY, "loader", 0)
    pending, says_more = approvals.ask(A, later, "page", 1)
    assert (says_more, pending.claim) == (True, later)
    assert not approvals.ask(A, Claim("Other", (ClaimedTool("x", "X."),)), "page", 2)[1]
    assert pending.claim == later


def test_a_word_that_comes_too_late_is_nobodys(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "w", 0)
    approvals.tick(120)
    assert approvals.settle(A, Verdict.APPROVED, 121) is None


def test_an_origin_that_was_approved_elsewhere_is_let_in(approvals: Approvals) -> None:
    approvals.ask(A, NOBODY, "a", 0)
    approvals.ask(B, NOBODY, "b", 0)
    (settled,) = approvals.settle_approved({B}.__contains__, 1)
    assert (settled.pending.origin, settled.verdict) == (B, Verdict.APPROVED)
    assert [pending.origin for pending in approvals.pending] == [A]


def test_a_revoked_origin_does_not_ask_at_once_again(approvals: Approvals) -> None:
    approvals.refuse(A, 0)
    assert refused(approvals, A, 1)["code"] == "APPROVAL_REJECTED"


def test_few_requests_wait_at_once(approvals: Approvals) -> None:
    for number in range(LIMITS.pending):
        approvals.ask(f"https://{number}.example", NOBODY, "w", number)
    error = refused(approvals, A, 10)
    assert (error["code"], error["class"], error["retryAfterSeconds"]) == (
        "CREATE_SESSION_NOT_APPROVED",
        "retryable",
        110,
    )
    approvals.tick(120)
    assert approvals.ask(A, NOBODY, "w", 120)[1]


def test_one_origin_cannot_ask_over_and_over(approvals: Approvals) -> None:
    for number in range(LIMITS.per_origin):
        approvals.ask(A, NOBODY, "w", number * 120)
        approvals.tick((number + 1) * 120)
    assert refused(approvals, A, 490)["retryAfterSeconds"] == 110
    assert approvals.ask(A, NOBODY, "w", 600)[1]


def test_many_origins_cannot_ask_over_and_over_either(approvals: Approvals) -> None:
    for number in range(LIMITS.in_all):
        origin = f"https://{number}.example"
        approvals.ask(origin, NOBODY, "w", number)
        approvals.settle(origin, Verdict.UNANSWERED, number)
    assert refused(approvals, A, 100)["class"] == "retryable"
    assert approvals.ask(A, NOBODY, "w", 600)[1]


def test_one_request_has_room_for_so_many_pages(approvals: Approvals) -> None:
    for number in range(LIMITS.waiters):
        approvals.ask(A, NOBODY, str(number), 0)
    assert refused(approvals, A, 0)["class"] == "retryable"


def test_what_a_page_claims_is_shown_on_lines_of_ours() -> None:
    claim = claim_of(
        "Bank\n\x1b[2J\u202egnp.\u2066\u200b \tof\u2028Everything",
        [{"name": "pay\r\nApproved!", "description": "Pays \x07now."}, {"name": 5}, {}],
    )
    assert claim.app_name == "Bank [2Jgnp. of Everything"
    assert claim.tools == (
        ClaimedTool("pay Approved!", "Pays now."),
        ClaimedTool("", ""),
        ClaimedTool("", ""),
    )


def test_what_a_page_claims_is_cut() -> None:
    manifests: list[Any] = [{"name": "n" * 500, "description": "d" * 5000}] * 300
    claim = claim_of("a" * 5000, manifests)
    assert len(claim.app_name) == MAX_NAME_CHARS
    assert (len(claim.tools), claim.more_tools) == (MAX_TOOLS_SHOWN, 300 - MAX_TOOLS_SHOWN)
    assert len(claim.tools[0].description) == MAX_DESCRIPTION_CHARS
    assert claim_of(None, []) == NOBODY
