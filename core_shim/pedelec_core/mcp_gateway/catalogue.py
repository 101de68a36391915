"""Under which names agents find the pages' tools: one list over all sessions, the same for every client.

Owns which sessions are one app, the apps' order, the tools' public names, and which session answers a call.
Sessions go in, entries come out: does no I/O and remembers nothing, so that the same open pages always have
the same names.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pedelec_core.registry import Tool
from pedelec_core.sessions import Session

MAX_NAME_CHARS: Final = 128
"""Of a tool's name (MCP 2025-11-25, server/tools)."""

_HASH_CHARS: Final = 6


@dataclass(frozen=True, slots=True)
class App:
    """An origin's app, with all its tabs.

    Attributes:
        origin: where its pages come from.
        name: what it calls itself, as claimed, or "".
        label: goes before the names of its tools where they are not its alone.
        sessions: the one that answers calls first: one whose page is here before others, then the newest.
    """

    origin: str
    name: str
    label: str
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool under its public name, and the session that answers its calls."""

    name: str
    tool: Tool
    app: App
    session: Session


class Catalogue:
    """What the live sessions offer.

    Where two apps offer a tool of one name, it is that of the app whose origin ranks first; the others' is
    `label.name`. A second tab of an app changes no name.

    Args:
        sessions: the live ones.
        rank: the place of an origin among the approved ones, the first approved first.
        reserved: names that are not the pages' to have.
    """

    def __init__(
        self, sessions: Iterable[Session], rank: Callable[[str], int], reserved: Collection[str] = ()
    ) -> None:
        self.apps: list[App] = _apps(sessions, rank)
        self.entries: dict[str, Entry] = {}
        for app in self.apps:
            for session, tool in _tools(app):
                name = next(name for name in _names(app, tool.name) if self._is_free(name, reserved))
                self.entries[name] = Entry(name, tool, app, session)

    def _is_free(self, name: str, reserved: Collection[str]) -> bool:
        return name not in self.entries and name not in reserved

    def entry_of(self, session: Session, tool: str) -> Entry | None:
        """The entry of a tool that a session knows by its own name for it."""
        mine = (each for each in self.entries.values() if each.tool.name == tool)
        return next((each for each in mine if session in each.app.sessions), None)

    def signature(self) -> list[object]:
        """Equal exactly where clients see the same list of tools."""
        return [(entry.name, entry.app.label, entry.tool.to_wire()) for entry in self.entries.values()]


def _apps(sessions: Iterable[Session], rank: Callable[[str], int]) -> list[App]:
    groups: dict[tuple[str, str], list[Session]] = {}
    for session in sessions:
        groups.setdefault((session.origin, _slug(session.app_name or "")), []).append(session)
    apps: list[App] = []
    labels: set[str] = set()
    for origin, slug in sorted(groups, key=lambda key: (rank(key[0]), key)):
        tabs = sorted(groups[origin, slug], key=_preference)
        label = slug or _slug(origin.partition("://")[2])
        if label in labels:
            label = f"{label}-{_hash(origin, slug)}"
        labels.add(label)
        apps.append(App(origin, tabs[0].app_name or "", label, tuple(tabs)))
    return apps


def _preference(session: Session) -> tuple[bool, int, str]:
    return (session.page_count == 0, -session.created_at_ms, session.id)


def _tools(app: App) -> Iterator[tuple[Session, Tool]]:
    """Each tool of an app once, in the order in which its pages declare them."""
    seen: set[str] = set()
    for session in app.sessions:
        for name in session.registry.names():
            if name not in seen:
                seen.add(name)
                yield session, session.registry.get(name)


def _names(app: App, name: str) -> Iterator[str]:
    """The names that a tool may have, the best first; the last is nobody else's."""
    yield name
    yield _joined(app.label, name)
    yield _joined(_hash(app.origin, app.label), name)


def _joined(label: str, name: str) -> str:
    room = MAX_NAME_CHARS - 1 - _HASH_CHARS
    if len(name) > room:
        name = f"{name[: room - _HASH_CHARS - 1]}-{_hash(name)}"
    return f"{label[: MAX_NAME_CHARS - 1 - len(name)]}.{name}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_HASH_CHARS]
