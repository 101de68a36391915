"""When silence means that Core is gone."""

from pedelec.heartbeat import Heartbeat, Verdict


def test_two_quiet_beats_are_fine_at_the_third_core_is_asked_and_at_the_fourth_it_is_gone() -> None:
    heartbeat = Heartbeat()
    assert [heartbeat.beat() for _ in range(4)] == [
        Verdict.FINE,
        Verdict.FINE,
        Verdict.ASK,
        Verdict.GONE,
    ]


def test_whatever_arrives_makes_core_alive_again() -> None:
    heartbeat = Heartbeat()
    for _ in range(3):
        heartbeat.beat()
    heartbeat.heard()
    assert heartbeat.beat() is Verdict.FINE
