"""The journal's file: batches whole or not at all, damage put aside, versions."""

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pedelec.errors import PedelecError
from pedelec.json_text import RawJson, encode_value
from pedelec_core.invocation import Call, CallLimits, Instant, Invocation, Outcome, State
from pedelec_core.journal import _MIGRATIONS, Batch, Journal, JournalError
from pedelec_core.limits import CoreLimits
from pedelec_core.records import from_record, session_from_record, session_to_record, to_record
from pedelec_core.registry import ToolRegistry
from pedelec_core.sessions import Session, SessionTimes

NOW = Instant(1000.0, 1_700_000_000_000)


def an_invocation(number: int = 1, **changes: object) -> Invocation:
    invocation = Invocation(
        id=f"inv_{number}",
        call=Call(tool="move", args=RawJson('{"x":1}'), args_key="key", timeout_ms=60_000),
        turn_id="turn_1",
        turn_started_at=NOW.epoch_ms,
        deadline=NOW.seconds + 60,
    )
    for name, value in changes.items():
        setattr(invocation, name, value)
    return invocation


def settled(outcome: Outcome, number: int = 1) -> Invocation:
    return an_invocation(
        number,
        state=State.SETTLED,
        outcome=outcome,
        settled_at=NOW.seconds,
        instance_id="page",
    )


def a_session() -> Session:
    ids = itertools.count(1)
    return Session(
        "ses_1",
        origin="http://127.0.0.1:7420",
        app_name="Board",
        guidance="Look first.",
        registry=ToolRegistry.from_manifests(
            [{"name": "move", "description": "Move.", "argsSchema": {"type": "object"}, "readOnly": True}]
        ),
        auto_end=False,
        now=NOW,
        new_id=lambda prefix: f"{prefix}{next(ids)}",
        limits=CallLimits(),
        times=SessionTimes(),
    )


def batch(*invocations: Invocation) -> Batch:
    return Batch(
        sessions={"ses_1": session_to_record(a_session(), 0, NOW)},
        invocations={each.id: to_record(each, "ses_1", NOW) for each in invocations},
    )


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write(batch(an_invocation(1), settled(Outcome(result=RawJson('{"a":[1,null]}')), 2)))
    with Journal(tmp_path) as journal:
        ((session, invocations),) = journal.load()
    assert session == session_to_record(a_session(), 0, NOW)
    assert invocations == [
        to_record(an_invocation(1), "ses_1", NOW),
        to_record(settled(Outcome(result=RawJson('{"a":[1,null]}')), 2), "ses_1", NOW),
    ]


def test_a_changed_invocation_takes_the_place_of_what_it_was(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write(batch(an_invocation()))
        journal.write(batch(settled(Outcome(result=RawJson("1")))))
        ((_, (record,)),) = journal.load()
    assert from_record(record, NOW).outcome == Outcome(result=RawJson("1"))


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write(batch(an_invocation(1), an_invocation(2)))
        journal.write(Batch(forgotten_invocations={"inv_1"}))
        ((_, invocations),) = journal.load()
        assert [each.id for each in invocations] == ["inv_2"]
        journal.write(Batch(forgotten_sessions={"ses_1"}, forgotten_invocations={"inv_2"}))
        assert journal.load() == []
        journal.write(Batch(sessions=batch().sessions))
        assert [invocations for _, invocations in journal.load()] == [[]]


def test_a_batch_that_fails_leaves_nothing_of_itself(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write(batch(an_invocation(1)))
        failing = batch(an_invocation(2), an_invocation(3))
        failing.invocations["inv_3"] = failing.invocations["inv_3"]._replace(seq="no number")  # type: ignore[arg-type]
        with pytest.raises(JournalError, match=r"journal\.db"):
            journal.write(failing)
        ((_, invocations),) = journal.load()
        assert [each.id for each in invocations] == ["inv_1"]
        journal.write(batch(an_invocation(2)))


def test_nobody_else_gets_at_a_journal_that_is_open(tmp_path: Path) -> None:
    with (
        Journal(tmp_path),
        closing(sqlite3.connect(tmp_path / "journal.db", timeout=0)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("SELECT * FROM sessions")


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be looked at" * 40, b"\0" * 4096]
)
def test_a_file_that_is_no_journal_is_put_aside_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with Journal(tmp_path) as journal:
        assert journal.load() == []
    assert (tmp_path / "journal.db.broken-1").read_bytes() == content


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE sessions (name TEXT);",
        "CREATE TABLE sessions (name TEXT); PRAGMA user_version = 2;",
        f"CREATE TABLE other (name TEXT); PRAGMA user_version = {len(_MIGRATIONS)};",
        "PRAGMA user_version = -1;",
    ],
)
def test_a_database_that_is_no_journal_is_put_aside_too(tmp_path: Path, statements: str) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.db")) as other:
        other.executescript(statements)
    with Journal(tmp_path) as journal:
        journal.write(batch(an_invocation()))
        assert len(journal.load()) == 1
    assert (tmp_path / "journal.db.broken-1").exists()


def test_a_journal_that_cannot_be_opened_now_is_left_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    with pytest.raises(JournalError, match=r"journal\.db"):
        Journal(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["journal.db"]


def test_a_second_broken_file_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / "journal.db").write_bytes(b"broken" * 1000 + bytes([number]))
        with Journal(tmp_path):
            pass
    assert {path.name for path in tmp_path.glob("*.broken-*")} == {
        "journal.db.broken-1",
        "journal.db.broken-2",
    }


def test_a_journal_of_a_newer_core_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal._database.execute("PRAGMA user_version = 99")
    with pytest.raises(JournalError, match="newer"):
        Journal(tmp_path)
    assert [path.name for path in tmp_path.glob("*.broken-*")] == []


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        assert journal.path.stat().st_mode & 0o777 == 0o600


def test_a_restored_session_offers_the_same_and_counts_on_from_above() -> None:
    record = session_to_record(a_session(), 7, NOW)
    session = session_from_record(record, [], new_id=str, limits=CoreLimits(), times=SessionTimes(), now=NOW)
    assert session_to_record(session, 7, NOW) == record
    assert session.next_seq() > 1_000_000


def test_a_large_result_is_kept_small_and_survives() -> None:
    large = Outcome(result=RawJson(encode_value(["x" * 1000] * 1000)))
    record = to_record(settled(large), "ses_1", NOW)
    assert record.outcome is not None
    assert len(record.outcome) < 100_000
    assert from_record(record, NOW).outcome == large


def test_an_error_survives_word_for_word() -> None:
    error = PedelecError("TOOL_TIMEOUT", "Too late.", recovery_steps=["Wait."], details={"a": 1})
    record = to_record(settled(Outcome(error=error)), "ses_1", NOW)
    restored = from_record(record, NOW).outcome
    assert restored is not None
    assert restored.error is not None
    assert restored.error.to_wire() == error.to_wire()


def test_what_a_person_has_to_approve_survives() -> None:
    call = Call(tool="move", args=RawJson("{}"), args_key="key", timeout_ms=1, approval="always")
    assert from_record(to_record(an_invocation(call=call), "ses_1", NOW), NOW).call == call


def test_a_deadline_goes_on_while_core_is_away() -> None:
    record = to_record(an_invocation(), "ses_1", NOW)
    ten_seconds_later = Instant(5.0, NOW.epoch_ms + 10_000)
    assert from_record(record, ten_seconds_later).deadline == pytest.approx(55.0)


def test_a_wall_clock_set_back_gives_no_call_more_time_than_it_had() -> None:
    record = to_record(an_invocation(), "ses_1", NOW)
    an_hour_earlier = Instant(5.0, NOW.epoch_ms - 3_600_000)
    assert from_record(record, an_hour_earlier).deadline == pytest.approx(65.0)


def a_large_result() -> Outcome:
    return Outcome(result=RawJson(encode_value("x" * 100_000)))


def test_a_large_result_leaves_memory_and_is_read_from_the_journal(tmp_path: Path) -> None:
    invocation = settled(a_large_result())
    with Journal(tmp_path) as journal:
        journal.write(batch(invocation))
        invocation.spill(65_536)
        assert invocation.size == 0
        assert invocation.answered_by_page
        invocation.acknowledged = True
        journal.write(batch(invocation))
        assert Outcome(result=journal.result(invocation.id)) == a_large_result()


def test_a_large_result_does_not_come_into_memory_at_the_start(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.write(batch(settled(a_large_result()), settled(Outcome(result=RawJson("1")), 2)))
        ((_, records),) = journal.load()
        restored = [from_record(record, NOW) for record in records]
        assert [each.outcome for each in restored] == [Outcome(spilled=True), Outcome(result=RawJson("1"))]
        assert Outcome(result=journal.result("inv_1")) == a_large_result()


def test_a_result_that_is_not_there_is_told_as_the_journals_failure(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal, pytest.raises(JournalError, match=r"journal\.db"):
        journal.result("inv_none")


def test_a_journal_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "journal.db")
    database.executescript(f"{_MIGRATIONS[0]}; PRAGMA user_version = 1;")
    database.execute(
        "INSERT INTO sessions VALUES ('ses_1', 'http://a', NULL, '', '[]', 1, 0, NULL, 0)",
    )
    database.commit()
    database.close()
    with Journal(tmp_path) as journal:
        ((session, _),) = journal.load()
        assert session.pages == "[]"


@pytest.mark.parametrize(("deadline_in", "expected"), [(30, 30), (-3600, 20), (5, 20), (86_400, 60)], ids=str)
def test_a_call_that_outlived_core_has_time_for_its_page_and_no_more_than_it_ever_had(
    deadline_in: float, expected: float
) -> None:
    record = to_record(an_invocation(deadline=NOW.seconds + deadline_in), "ses_1", NOW)
    assert from_record(record, NOW, patience=20).deadline == NOW.seconds + expected


def test_the_calls_of_a_journal_of_an_earlier_version_are_taken_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.db")) as database:
        database.executescript(";".join((*_MIGRATIONS[:5], "PRAGMA user_version = 5")))
        for record in batch(an_invocation(2), an_invocation(1)).invocations.values():
            names = ", ".join(record._fields)
            places = ", ".join("?" for _ in record)
            database.execute(f"INSERT INTO invocations ({names}) VALUES ({places})", record)
        session = batch().sessions["ses_1"]
        names, places = ", ".join(session._fields), ", ".join("?" for _ in session)
        database.execute(f"INSERT INTO sessions ({names}) VALUES ({places})", session)
        database.commit()
    with Journal(tmp_path) as journal:
        journal.write(Batch(forgotten_invocations={"inv_2"}))
        journal.write(batch(settled(Outcome(result=RawJson("1"))), an_invocation(3)))
        ((_, records),) = journal.load()
    assert [from_record(each, NOW).outcome for each in records] == [Outcome(result=RawJson("1")), None]
