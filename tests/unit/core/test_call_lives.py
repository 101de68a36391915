"""What is remembered of calls for people who watch them."""

from pedelec.json_text import RawJson
from pedelec_core.inspector.lives import MAX_ARGS_CHARS, CallLives, Life
from pedelec_core.invocation import Call, CallLimits, Decision, Instant
from pedelec_core.sessions import Session, SessionTimes
from tests.unit.core.offers import session as offer

START = Instant(100.0, 1_000_000)


def later(seconds: float) -> Instant:
    return Instant(START.seconds + seconds, START.epoch_ms + round(seconds * 1000))


def call(args: str = "{}", timeout_ms: int = 5000) -> Call:
    return Call(tool="move", args=RawJson(args), args_key=args, timeout_ms=timeout_ms)


class Watched:
    """A session with its page, whose decisions are observed."""

    def __init__(self, *, with_arguments: bool = False, limit: int = 10) -> None:
        self.session = Session(
            "ses_1",
            origin="http://a",
            app_name=None,
            guidance="",
            registry=offer("http://a", None, "move").registry,
            auto_end=True,
            now=START,
            new_id=self._new_id,
            limits=CallLimits(),
            times=SessionTimes(),
        )
        self.session.attach("page", "connection", 0, START)
        self.lives = CallLives(limit)
        self.with_arguments = with_arguments
        self._ids = 0

    def _new_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}{self._ids}"

    def see(self, decisions: list[Decision], now: Instant) -> None:
        for decision in decisions:
            self.lives.observe(self.session, decision, now, with_arguments=self.with_arguments)

    def call(self, args: str = "{}", now: Instant = START) -> str:
        self.see(self.session.calls.call(call(args), f"caller of {args}", now), now)
        return self.latest.invocation_id

    def answer(self, invocation_id: str, result: str, now: Instant) -> None:
        _, decisions = self.session.calls.result(invocation_id, "page", RawJson(result), now)
        self.see(decisions, now)

    @property
    def latest(self) -> Life:
        return self.lives.of("http://a")[-1]


def test_a_call_is_followed_from_acceptance_to_acknowledgement() -> None:
    watched = Watched()
    invocation_id = watched.call()
    assert watched.latest.state == "delivered"
    assert watched.latest.on_page
    watched.answer(invocation_id, "1", later(2))
    assert (watched.latest.state, watched.latest.on_page) == ("settled", False)
    watched.see(watched.session.calls.acknowledge(invocation_id), later(3))
    assert watched.latest.to_wire(with_arguments=True) == {
        "state": "acknowledged",
        "invocationId": invocation_id,
        "threadId": "ses_1",
        "tool": "move",
        "timeoutMs": 5000,
        "acceptedAt": 1_000_000,
        "deliveredAt": 1_000_000,
        "settledAt": 1_002_000,
        "acknowledgedAt": 1_003_000,
        "acknowledged": True,
        "onPage": False,
        "replays": 0,
    }


def test_a_call_without_a_page_waits_and_is_delivered_when_one_comes() -> None:
    watched = Watched()
    watched.see(watched.session.detach("connection", START), START)
    watched.call()
    assert (watched.latest.state, watched.latest.delivered_at) == ("accepted", None)
    watched.see(watched.session.attach("page", "again", 0, later(1)), later(1))
    assert watched.latest.delivered_at == 1_001_000


def test_a_time_out_leaves_the_page_at_work_until_its_late_result() -> None:
    watched = Watched()
    invocation_id = watched.call()
    watched.see(watched.session.tick(later(5)), later(5))
    life = watched.latest
    assert (life.code, life.cancel_reason, life.on_page) == ("TOOL_TIMEOUT", "timeout", True)
    watched.answer(invocation_id, "1", later(9))
    assert (life.late_at, life.on_page, life.settled_at) == (1_009_000, False, 1_005_000)


def test_the_code_of_an_error_that_the_page_made_is_told() -> None:
    watched = Watched()
    watched.answer(watched.call(), '{"error":{"code":"SHAPE_NOT_FOUND","message":"No."}}', later(1))
    assert watched.latest.code == "SHAPE_NOT_FOUND"


def test_a_replayed_answer_is_counted() -> None:
    watched = Watched()
    watched.answer(watched.call(), "1", later(1))
    watched.call(now=later(2))
    assert watched.latest.replays == 1


def test_arguments_are_remembered_only_where_somebody_asked_and_told_only_to_them() -> None:
    quiet = Watched()
    quiet.call('{"x":1}')
    assert quiet.latest.args is None
    asked = Watched(with_arguments=True)
    asked.call('{"x":1}')
    assert asked.latest.to_wire(with_arguments=True)["args"] == '{"x":1}'
    assert not {"args", "argsChars"} & asked.latest.to_wire(with_arguments=False).keys()


def test_of_long_arguments_only_their_length_is_kept() -> None:
    watched = Watched(with_arguments=True)
    args = '{"x":"%s"}' % ("y" * MAX_ARGS_CHARS)
    watched.call(args)
    assert (watched.latest.args, watched.latest.args_chars) == (None, len(args))


def test_the_oldest_lives_are_dropped() -> None:
    watched = Watched(limit=3)
    for number in range(5):
        watched.call(f'{{"n":{number}}}')
    assert len(watched.lives.of("http://a")) == 3


def test_an_origin_has_the_lives_of_its_own_sessions_alone() -> None:
    watched = Watched()
    watched.call()
    assert watched.lives.of("http://b") == []


def test_calls_made_before_anybody_watched_are_taken_up() -> None:
    before = Watched()
    done = before.call('{"n":1}')
    before.answer(done, "1", later(1))
    before.session.calls.acknowledge(done)
    before.call('{"n":2}', later(2))
    lives = CallLives()
    lives.take_up(before.session, later(3))
    first, second = lives.of("http://a")
    assert (first.state, first.accepted_at, first.settled_at) == ("acknowledged", 1_000_000, 1_001_000)
    assert (second.state, second.accepted_at) == ("delivered", 1_002_000)
