"""Results on their way to Core, kept until Core confirms them.

Owns their order, their bound, and which of them have gone out on the present connection. Does no I/O.
"""

from dataclasses import dataclass

MAX_ENTRIES = 256
MAX_BYTES = 32 * 1024 * 1024


@dataclass(slots=True)
class Entry:
    """One result.

    `connection`: on which it last went out, 0 for none. `watch`: how often somebody had begun to wait for
    confirmations by then.
    """

    request_id: str
    session_id: str
    tool_request_id: str
    frame: str
    connection: int = 0
    watch: int = 0
    reported: bool = False


class Outbox:
    """Keeps each entry until `take`; over the bound the oldest ones are given up."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> list[Entry]:
        """Keep an entry. Returns those that had to go for it."""
        self._entries[entry.request_id] = entry
        self._size += len(entry.frame)
        dropped = []
        while len(self._entries) > 1 and (len(self._entries) > MAX_ENTRIES or self._size > MAX_BYTES):
            dropped.append(self._remove(next(iter(self._entries))))
        return dropped

    def take(self, request_id: str) -> Entry | None:
        """Core has answered: the entry leaves. None where it is not here."""
        return self._remove(request_id) if request_id in self._entries else None

    def of_session(self, session_id: str) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.session_id == session_id]

    def of_call(self, tool_request_id: str) -> Entry | None:
        return next(
            (entry for entry in self._entries.values() if entry.tool_request_id == tool_request_id), None
        )

    def overdue(self, watch: int) -> list[Entry]:
        """Entries that went out before that watch began, and were not reported yet."""
        return [
            entry
            for entry in self._entries.values()
            if entry.connection and entry.watch < watch and not entry.reported
        ]

    def drop_session(self, session_id: str) -> None:
        for entry in self.of_session(session_id):
            self._remove(entry.request_id)

    def _remove(self, request_id: str) -> Entry:
        entry = self._entries.pop(request_id)
        self._size -= len(entry.frame)
        return entry
