"""However calls and frames come in, no more get through than the burst and the rate allow."""

from hypothesis import given
from hypothesis import strategies as st

from pedelec_core.limits import PageLimits, TokenBucket
from pedelec_core.pace import Paces

LIMITS = PageLimits(frames_per_second=100, frames_at_once=50)


@given(st.lists(st.floats(0, 0.5), max_size=200), st.integers(1, 50), st.integers(1, 20))
def test_a_bucket_never_lets_more_through_than_its_burst_and_its_rate(
    pauses: list[float], rate: int, burst: int
) -> None:
    bucket = TokenBucket(rate, burst)
    now, taken = 5.0, 0
    for pause in pauses:
        now += pause
        wait = bucket.take(now)
        taken += wait == 0
        assert wait <= 1 / rate + 1e-6
    assert taken <= burst + (now - 5.0) * rate + 1e-6


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 0.5)), max_size=100))
def test_no_more_is_read_than_the_burst_and_the_rate_let_through(reads: list[tuple[int, float]]) -> None:
    pace = Paces(LIMITS).join("https://a.example")
    now, read = 5.0, 0
    for frames, pause in reads:
        now += pace.spend(frames, 0, now) + pause
        read += frames
        assert read <= 50 + 30 + (now - 5.0) * 100 + 1e-6
