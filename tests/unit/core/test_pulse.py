"""When a page is pinged, when it counts as silent, and when it is gone."""

from pedelec_core.pulse import HEARTBEAT_SECONDS, Beat, Pulse

INTERVAL = 10.0


def a_pulse() -> Pulse:
    return Pulse(first_due=INTERVAL, interval=INTERVAL)


def beats(pulse: Pulse, count: int) -> list[Beat]:
    """So many beats, each when it is due."""
    return [pulse.beat(pulse.due) for _ in range(count)]


def test_a_page_that_answers_is_pinged_once_an_interval_and_nothing_else() -> None:
    pulse = a_pulse()
    for beat in range(1, 6):
        assert (pulse.due, pulse.beat(pulse.due)) == (beat * INTERVAL, Beat.PING)
        assert not pulse.heard()
        assert pulse.beat(pulse.due) is Beat.NOTHING


def test_a_page_that_stops_answering_is_first_silent_and_then_gone() -> None:
    pulse = a_pulse()
    seen = [(pulse.beat(pulse.due), pulse.silent) for _ in range(3)]
    assert seen == [(Beat.PING, False), (Beat.PROBE, True), (Beat.GONE, True)]


def test_a_page_is_gone_within_twenty_seconds_of_its_last_sign_of_life() -> None:
    pulse = Pulse(first_due=HEARTBEAT_SECONDS)
    while pulse.beat(now := pulse.due) is not Beat.GONE:
        pass
    assert now < 20 - 0.5  # the beats of many pages are taken together


def test_a_page_whose_browser_answers_stays_silent_and_is_never_gone() -> None:
    pulse = a_pulse()
    assert beats(pulse, 1) == [Beat.PING]
    for _ in range(100):
        assert beats(pulse, 1) == [Beat.PROBE]
        pulse.browser_answered()
        assert pulse.silent


def test_one_message_of_the_page_makes_up_for_all_its_silence() -> None:
    pulse = a_pulse()
    beats(pulse, 2)
    assert pulse.heard()
    assert not pulse.silent
    assert beats(pulse, 3) == [Beat.NOTHING, Beat.PING, Beat.PROBE]


def test_a_frozen_page_is_not_pinged_again_and_again() -> None:
    pulse = a_pulse()
    told = []
    for _ in range(10):
        told += beats(pulse, 1)
        pulse.browser_answered()
    assert told.count(Beat.PING) == 1


def test_after_a_sleep_of_core_itself_nobody_is_blamed_before_there_was_time_to_answer() -> None:
    pulse = a_pulse()
    beats(pulse, 1)
    woken = pulse.due + 3600
    assert pulse.beat(woken) is Beat.NOTHING
    assert not pulse.silent
    assert pulse.due > woken
    assert pulse.beat(pulse.due) is Beat.PROBE


def test_after_a_sleep_of_core_a_page_that_owes_no_answer_is_pinged() -> None:
    pulse = a_pulse()
    assert pulse.beat(pulse.due + 3600) is Beat.PING
