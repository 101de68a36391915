"""What a scenario of the contract plays on: a page with the SDK in it, and an agent that calls its tools.

Owns the interface that both sides implement (`memory_stage`, `browser_stage`) and the Python that every page
begins with. Knows no browser and no Core.
"""

from abc import ABC, abstractmethod
from typing import Any, Protocol

RECONNECT_CAP_SECONDS = 0.05
"""What a stage sets `pedelec.connection.RECONNECT_CAP_SECONDS` to, so that nobody waits for a way back."""

PRELUDE = """
import asyncio
from pedelec import Pedelec, PedelecError, ToolError, define_tool

names_before = set(globals())
clients = []


class Heard(list):
    def __init__(self):
        self.changed = asyncio.Event()

    def note(self, *what):
        self.append(list(what))
        self.changed.set()

    async def until(self, *what):
        while list(what) not in self:
            self.changed.clear()
            await self.changed.wait()


heard = Heard()


def new_client(**options):
    clients.append(Pedelec(**options))
    return clients[-1]


def listen(session):
    session.on_error(lambda error: heard.note("error", error.code, (error.details or {}).get("cause")))
    session.on_status(lambda status: heard.note("status", status))
    session.on_ended(lambda: heard.note("ended"))
    return session


async def open_session(*names, client=None, **inline):
    schema = {"type": "object"}
    tools = [
        define_tool(name=name, description=f"The tool {name}.", args_schema=schema, handler=handler)
        for name, handler in {**dict.fromkeys(names), **inline}.items()
    ]
    return listen(await (client or new_client()).create_session(tools=tools))
"""
"""Makes `open_session`, which declares tools (those given by keyword with their handlers), and `heard`, which
holds what its sessions' callbacks were told: `["error", code, cause]`, `["status", status]`, `["ended"]`."""

EPILOGUE = """
for client in clients:
    client.close()
await asyncio.sleep(0)
for name in set(globals()) - names_before - {"names_before"}:
    del globals()[name]
del name, names_before
"""
"""Leaves nothing of what the prelude and the scenario have made."""


class Call(Protocol):
    """A call that an agent has made."""

    def answer(self) -> Any:
        """Wait for the agent's answer: `{"ok": true, "result": …}` or `{"ok": false, "error": …}`."""


class Stage(ABC):
    """One page and its agent. Every wait is bounded."""

    @abstractmethod
    def run(self, source: str) -> None:
        """Run Python in the page, with top-level `await`; its names stay. An error fails the scenario."""

    @abstractmethod
    def read(self, expression: str) -> Any:
        """The value of a Python expression in the page, as JSON carries it."""

    @abstractmethod
    def start_call(
        self, tool: str, args: object = None, *, session: str = "session", timeout_ms: int = 20_000
    ) -> Call:
        """Call a tool of the session that the page's variable holds, without waiting for the answer."""

    @abstractmethod
    def lose_connection(self) -> None:
        """Cut all of the page's connections, and let it make no new one."""

    @abstractmethod
    def find_connection(self) -> None:
        """Let the page connect again."""

    @abstractmethod
    def sent(self, kind: str, *, session: str = "session") -> list[Any]:
        """The frames of a type that the page has sent for a session."""

    @abstractmethod
    def take_log(self) -> str:
        """The warnings and errors that the page has logged since the last time: they were expected."""

    @abstractmethod
    def decide(self, *, accepted: bool, **content: str) -> None:
        """Be the person at the page: wait for a question in its dialog, and answer it."""

    @abstractmethod
    def is_asking(self) -> bool:
        """Whether the page's dialog is open."""

    def call(self, tool: str, args: object = None, *, session: str = "session") -> Any:
        """Call a tool; the result, which may hold an error of the page."""
        answer = self.start_call(tool, args, session=session).answer()
        assert answer["ok"] is True, answer
        return answer["result"]

    def heard(self, kind: str) -> list[Any]:
        """What the page's callbacks of a kind were told so far."""
        return [what[1:] for what in self.read("heard") if what[0] == kind]
