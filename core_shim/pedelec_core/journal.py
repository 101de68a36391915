"""What outlives Core: sessions and invocations, in one SQLite file of the state folder.

Owns the file, its schema and its migrations, and that a batch of changes is written whole or not at all.
Decides nothing about calls; `records` says what of a session and an invocation is worth keeping.

Durable against the death of the process, at any moment: a committed batch is in the operating system's
hands. Against a power cut only up to the last checkpoint: waiting for the disk would cost each call more
than it is worth, for the pages are gone after a power cut anyway.
"""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from pedelec.errors import Code, Effects, PedelecError
from pedelec.json_text import RawJson
from pedelec_core.records import FIXED, HEAD_BYTES, LARGE_HEAD, InvocationRecord, SessionRecord, unpack

JOURNAL_NAME: Final = "journal.db"

_log = logging.getLogger(__name__)


_SESSION_FIELDS: Final = SessionRecord._fields
_INVOCATION_FIELDS: Final = InvocationRecord._fields
_NEVER_UNSET: Final = frozenset({"outcome", "late"})
"""Not written again where an invocation has let go of them."""

# One step a version; each brings a file of the version before up to its own. Never edited once released.
_MIGRATIONS: Final = (
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, origin TEXT NOT NULL, app_name TEXT, guidance TEXT NOT NULL,
        tools TEXT NOT NULL, auto_end INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
        ended_at_ms INTEGER, seq_base INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE invocations (
        id TEXT PRIMARY KEY, session_id TEXT NOT NULL, tool TEXT NOT NULL, args TEXT NOT NULL,
        args_key TEXT NOT NULL, timeout_ms INTEGER NOT NULL, exclusive INTEGER NOT NULL,
        safe_to_repeat INTEGER NOT NULL, call_id TEXT, joins INTEGER NOT NULL, turn_id TEXT NOT NULL,
        turn_started_at INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, instance_id TEXT,
        seq INTEGER NOT NULL, cancel_seq INTEGER NOT NULL, cancel_reason TEXT NOT NULL,
        settled_at_ms INTEGER, acknowledged INTEGER NOT NULL, answered_by_page INTEGER NOT NULL,
        outcome BLOB, late BLOB
    ) STRICT;
    CREATE INDEX invocations_by_session ON invocations (session_id);
    """,
    "ALTER TABLE invocations RENAME COLUMN answered_by_page TO given_up",
    "ALTER TABLE sessions ADD COLUMN pages TEXT NOT NULL DEFAULT '[]'",
    "DROP INDEX invocations_by_session",
    "ALTER TABLE invocations ADD COLUMN approval TEXT",
    # Found by number, which the journal knows by heart: an index by id would be written with each call.
    """
    CREATE TABLE numbered (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, session_id TEXT NOT NULL, tool TEXT NOT NULL,
        args_key TEXT NOT NULL, timeout_ms INTEGER NOT NULL, exclusive INTEGER NOT NULL,
        safe_to_repeat INTEGER NOT NULL, call_id TEXT, joins INTEGER NOT NULL, approval TEXT,
        turn_id TEXT NOT NULL, turn_started_at INTEGER NOT NULL, args TEXT NOT NULL,
        deadline_ms INTEGER NOT NULL, instance_id TEXT, seq INTEGER NOT NULL, cancel_seq INTEGER NOT NULL,
        cancel_reason TEXT NOT NULL, settled_at_ms INTEGER, acknowledged INTEGER NOT NULL,
        given_up INTEGER NOT NULL, outcome BLOB, late BLOB
    ) STRICT;
    INSERT INTO numbered SELECT
        rowid, id, session_id, tool, args_key, timeout_ms, exclusive, safe_to_repeat, call_id, joins,
        approval, turn_id, turn_started_at, args, deadline_ms, instance_id, seq, cancel_seq, cancel_reason,
        settled_at_ms, acknowledged, given_up, outcome, late
    FROM invocations ORDER BY rowid;
    DROP TABLE invocations;
    ALTER TABLE numbered RENAME TO invocations;
    """,
)

_CHECKPOINT_PAGES: Final = 4096
"""Of 4 KiB, in the write-ahead log: a checkpoint waits for the disk, and makes one call wait with it."""


def _insert(table: str, names: Sequence[str]) -> str:
    places = ", ".join("?" for _ in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - our own names


def _set(name: str) -> str:
    return f"{name} = coalesce(?, {name})" if name in _NEVER_UNSET else f"{name} = ?"


def _select(name: str) -> str:
    """A column as it is loaded: of a large outcome, its first bytes."""
    if name not in _NEVER_UNSET:
        return name
    head = f"substr({name}, 1, {HEAD_BYTES})"
    return f"CASE WHEN {head} = x'{LARGE_HEAD.hex()}' THEN {head} ELSE {name} END"


_SAVE_SESSION: Final = f"{_insert('sessions', _SESSION_FIELDS)} ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in _SESSION_FIELDS
)
_ADD_INVOCATION: Final = _insert("invocations", ("number", *_INVOCATION_FIELDS))
_CHANGE_INVOCATION: Final = (
    f"UPDATE invocations SET {', '.join(map(_set, _INVOCATION_FIELDS[FIXED:]))} WHERE number = ?"  # noqa: S608
)
_LOAD_SESSIONS: Final = f"SELECT {', '.join(_SESSION_FIELDS)} FROM sessions ORDER BY rowid"  # noqa: S608
_LOAD_INVOCATIONS: Final = (
    f"SELECT {', '.join(map(_select, _INVOCATION_FIELDS))} FROM invocations ORDER BY number"  # noqa: S608
)


class JournalError(PedelecError):
    """The journal's file cannot be read or written. The message names it."""

    def __init__(self, path: Path, problem: object, *, effects: Effects | None = None) -> None:
        super().__init__(
            Code.JOURNAL_UNAVAILABLE,
            f"The journal {path.name} cannot be used: {problem}.",
            recovery_steps=["Tell the user that Pedelec Core cannot use its state folder."],
            effects=effects,
        )
        self.path = path


@dataclass(slots=True)
class Batch:
    """Changes that are written together; a later change of the same thing takes the earlier one's place."""

    sessions: dict[str, SessionRecord] = field(default_factory=dict)
    invocations: dict[str, InvocationRecord] = field(default_factory=dict)
    forgotten_sessions: set[str] = field(default_factory=set)
    """Their invocations go with them, each named among `forgotten_invocations`."""
    forgotten_invocations: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(
            self.sessions or self.invocations or self.forgotten_sessions or self.forgotten_invocations
        )


class Journal:
    """An open journal. One process at a time may have it: the state folder's lock sees to that.

    Raises:
        JournalError: the file cannot be opened or was made by a newer Core. A file that is no journal, or a
            broken one, is put aside under another name and a new one begun.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL_NAME
        self._numbers: dict[str, int] = {}  # by invocation id: its row
        self._last_number = 0
        try:
            self._database = self._open()
        except sqlite3.DatabaseError as error:
            if _is_out_of_reach(error):
                raise JournalError(self.path, error) from None
            self._put_aside(error)
            self._database = self._open()
        self._cursor = self._database.cursor()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def write(self, batch: Batch) -> None:
        """Write a batch, whole or not at all.

        Raises:
            JournalError: nothing of it was written.
        """
        numbers = self._numbers
        new: dict[str, int] = {}
        due: list[tuple[str, Sequence[object]]] = [
            (_SAVE_SESSION, record) for record in batch.sessions.values()
        ]
        for invocation_id, record in batch.invocations.items():
            number = numbers.get(invocation_id)
            if number is not None:
                due.append((_CHANGE_INVOCATION, (*record[FIXED:], number)))
            else:
                new[invocation_id] = number = self._last_number + len(new) + 1
                due.append((_ADD_INVOCATION, (number, *record)))
        forgotten = [each for each in batch.forgotten_invocations if each in numbers]
        due += [("DELETE FROM invocations WHERE number = ?", (numbers[each],)) for each in forgotten]
        due += [("DELETE FROM sessions WHERE id = ?", (each,)) for each in batch.forgotten_sessions]
        self._carry_out(due)
        numbers |= new
        self._last_number += len(new)
        for each in forgotten:
            del numbers[each]

    def _carry_out(self, due: Sequence[tuple[str, Sequence[object]]]) -> None:
        execute = self._cursor.execute
        try:
            if len(due) == 1:  # is a transaction by itself
                execute(*due[0])
                return
            execute("BEGIN IMMEDIATE")
            for statement, values in due:
                execute(statement, values)
            execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                execute("ROLLBACK")
            raise JournalError(self.path, error) from None

    def load(self) -> list[tuple[SessionRecord, list[InvocationRecord]]]:
        """All sessions with their invocations, in the order in which they were made.

        Raises:
            JournalError: they cannot be read.
        """
        try:
            sessions = [SessionRecord(*row) for row in self._database.execute(_LOAD_SESSIONS)]
            invocations = defaultdict[str, list[InvocationRecord]](list)
            for row in self._database.execute(_LOAD_INVOCATIONS):
                record = InvocationRecord(*row)
                invocations[record.session_id].append(record)
        except sqlite3.Error as error:
            raise JournalError(self.path, error) from None
        return [(session, invocations[session.id]) for session in sessions]

    def result(self, invocation_id: str, *, late: bool = False) -> RawJson:
        """A result that was let go of in memory.

        Raises:
            JournalError: it cannot be read.
        """
        column = "late" if late else "outcome"
        select = f"SELECT {column} FROM invocations WHERE number = ?"  # noqa: S608 - one of two names
        try:
            row = self._database.execute(select, (self._numbers.get(invocation_id),)).fetchone()
        except sqlite3.Error as error:
            raise JournalError(self.path, error, effects=Effects.APPLIED) from None
        outcome = unpack(row[0]) if row else None
        if outcome is None or outcome.result is None:
            problem = f"the result of {invocation_id} is not there"
            raise JournalError(self.path, problem, effects=Effects.APPLIED)
        return outcome.result

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, isolation_level=None)
        try:
            self.path.chmod(0o600)
            # One process alone has it (the state folder's lock): no lock need be taken for each batch.
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            database.execute("PRAGMA synchronous = NORMAL")
            (broken,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if broken != "ok":
                raise sqlite3.DatabaseError(broken)
            self._migrate(database)
            numbers = database.execute("SELECT id, number FROM invocations ORDER BY number").fetchall()
            self._numbers = dict(numbers)
            self._last_number = max(self._numbers.values(), default=0)
        except BaseException:
            database.close()
            raise
        return database

    def _migrate(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > len(_MIGRATIONS):
            raise JournalError(self.path, "it was written by a newer version of Core")
        if version < 0:
            raise sqlite3.DatabaseError("it is of no version of Core")
        for number, script in enumerate(_MIGRATIONS[version:], start=version + 1):
            database.executescript(f"BEGIN; {script}; PRAGMA user_version = {number}; COMMIT;")
        for statement in (_LOAD_SESSIONS, _LOAD_INVOCATIONS):
            database.execute(
                f"{statement} LIMIT 0"
            )  # fails where a table is not ours, whatever version it claims

    def _put_aside(self, problem: Exception) -> None:
        number = 1
        while (aside := self.path.with_name(f"{JOURNAL_NAME}.broken-{number}")).exists():
            number += 1
        for suffix in ("", "-wal", "-shm"):
            part = self.path.with_name(JOURNAL_NAME + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        _log.error("the journal %s is broken (%s): kept as %s, a new one begun", self.path, problem, aside)


def _is_out_of_reach(error: sqlite3.DatabaseError) -> bool:
    """Whether the file cannot be used now and may be whole: no room, no permission, a disk that fails.

    SQL that does not fit what is in the file is an operational error too, and means that it is not ours.
    """
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR
