"""How fast the frames of a connection are read."""

import pytest

from pedelec.errors import Code
from pedelec_core.limits import PageLimits
from pedelec_core.pace import BYTES_PER_FRAME, Paces

LIMITS = PageLimits(frames_per_second=100, frames_at_once=50)


def test_a_burst_is_read_at_once_and_what_is_beyond_it_at_the_rate() -> None:
    pace = Paces(LIMITS).join("https://a.example")
    assert pace.spend(50, 0, now=1) == 0
    assert pace.spend(10, 0, now=1) == 0.1
    assert pace.spend(10, 0, now=1.1) == pytest.approx(0.1)
    assert pace.spend(10, 0, now=2) == 0


def test_a_large_frame_counts_as_several() -> None:
    pace = Paces(LIMITS).join("https://a.example")
    assert pace.spend(1, 59 * BYTES_PER_FRAME, now=1) == 0.1


def test_a_connection_is_told_once_and_again_after_it_was_quiet() -> None:
    pace = Paces(LIMITS).join("https://a.example")
    news = []
    for frames, now in ((40, 1.0), (40, 1.0), (40, 1.5), (1, 1.6), (0, 10.0), (60, 10.0)):
        pace.spend(frames, 0, now)
        news.append(pace.is_new)
    assert news == [False, True, False, False, False, True]
    error = pace.too_fast(0.1)
    assert (error.code, error.retry_after_seconds) == (Code.TOO_MANY_REQUESTS, 1)
    assert "100 frames a second" in error.message


def test_who_opens_many_connections_is_read_no_faster_and_slows_down_no_other_origin() -> None:
    paces = Paces(LIMITS)
    many = [paces.join("https://a.example") for _ in range(40)]
    other = paces.join("https://b.example")
    assert sum(1 for each in many for _ in range(50) if each.spend(1, 0, now=1) == 0) == 5 * 40
    assert other.spend(50, 0, now=1) == 0
    for each in many[1:]:
        each.leave()
    assert many[0].spend(50, 0, now=100) == 0


def test_nothing_is_remembered_of_connections_that_are_over() -> None:
    paces = Paces(LIMITS)
    for _ in range(2):
        paces.join("https://a.example").leave()
    assert paces.connections("https://a.example") == 0
