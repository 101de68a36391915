"""How limits are set, and how rates are counted."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pedelec_core.limits import CoreLimits, KeyedBuckets, TokenBucket, with_settings


def test_every_limit_can_be_set_by_its_name() -> None:
    for name, value in CoreLimits().by_name().items():
        assert with_settings([f"{name}={value}"]) == CoreLimits()
        assert with_settings([f"{name}={value}", f"{name}=7"]).by_name()[name] == 7


def test_a_setting_changes_its_own_limit_alone() -> None:
    changed = with_settings(["calls-per-second=0.5"])
    assert changed == CoreLimits(calls=replace(CoreLimits().calls, per_second=0.5))


@pytest.mark.parametrize(
    "setting",
    ["nope=1", "=1", "depth", "depth=", "depth=0", "depth=-1", "depth=1.5", "depth=٣", "stall-seconds=nan",
     "stall-seconds=inf", "stall-seconds=x", f"depth={2**31 + 1}", "depth=" + "9" * 5_000],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_refused_with_its_reason(setting: str) -> None:
    name = setting.partition("=")[0]
    with pytest.raises(ValueError, match=name or "there is no limit"):
        with_settings([setting])


def test_the_page_of_the_protocol_has_every_limit_with_its_default() -> None:
    text = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
    told = re.findall(r"^\| `([a-z-]+)` \| ([0-9.]+) \|", text, flags=re.MULTILINE)
    assert told == [(name, str(value)) for name, value in CoreLimits().by_name().items()]


def test_a_bucket_lets_a_burst_through_and_then_its_rate() -> None:
    bucket = TokenBucket(rate=10, burst=3)
    assert [bucket.take(100.0) for _ in range(3)] == [0, 0, 0]
    assert bucket.take(100.0) == pytest.approx(0.1)
    assert bucket.take(100.05) == pytest.approx(0.05)
    assert bucket.take(100.11) == 0
    assert bucket.take(100.11) > 0
    assert not bucket.is_full(100.2)
    assert bucket.is_full(101)


def test_a_clock_that_stands_still_gives_nothing_away() -> None:
    bucket = TokenBucket(rate=1, burst=1)
    assert bucket.take(10) == 0
    assert bucket.take(9) == 1
    assert bucket.take(10) == 1


def test_keys_are_counted_apart_and_forgotten_once_they_are_out_of_use() -> None:
    buckets = KeyedBuckets(rate=1, burst=1, most=2)
    assert buckets.take("a", 0) == 0
    assert buckets.take("b", 0) == 0
    assert buckets.take("a", 0) > 0
    assert buckets.take("c", 0.5) > 0, "no room for a third while two are in use"
    assert buckets.take("c", 2) == 0
    assert len(buckets) == 1
