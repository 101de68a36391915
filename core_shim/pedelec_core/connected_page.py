"""One connected page: what it has asked and not been answered, and how its answers go out.

Owns a page's counts and the one answer to each request, told once the journal has it. What a page may do
is `page_desk`'s.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from pedelec.protocol import (
    CoreMessage,
    CreateSession,
    EndSession,
    GetApprovalStatus,
    PageMessage,
    RequestApproval,
    Response,
    ResultsConfirmed,
    ResumeSession,
    SubmitToolResult,
    encode,
)
from pedelec_core.hub import Hub, PageConnection

COUNTED_REQUESTS: Final = (CreateSession, ResumeSession, EndSession, RequestApproval, GetApprovalStatus)
"""Requests of which a page may have some unanswered. Results are not among them: calls have limits."""

_CONFIRM_SECONDS: Final = 0.05
"""How long the confirmation of a result waits for others: nobody waits for it, and each frame costs the page
as much as a small call."""


@dataclass(slots=True)
class ConnectedPage:
    """What the desk knows of one connection, and the way of all that it is told."""

    connection: PageConnection
    hub: Hub
    number: int
    """Of its connection, in the order in which they were opened."""
    instance_id: str = ""
    hello_due: asyncio.TimerHandle | None = None
    """Cuts it off, unless it says hello before."""
    unanswered: int = 0
    """How many of its requests it has not been answered yet; results are not counted."""
    faults: int = 0
    """How many of its frames could not be read."""
    waiting: dict[str, str] = field(default_factory=dict)
    """By the ids of requests that wait for a person: what to call them to the approver."""
    confirmed: list[str] = field(default_factory=list)
    """The requests whose results are written, and not confirmed yet."""

    @property
    def key(self) -> tuple[str, str]:
        """What it shares with its earlier and later connections, and with no other origin's page."""
        return self.connection.origin, self.instance_id

    def send(self, message: CoreMessage) -> None:
        self.hub.tell(self.connection, message)

    def answer(self, request: PageMessage, response: Response) -> None:
        """Send the one response to a request."""

        def told() -> None:
            self.unanswered -= isinstance(request, COUNTED_REQUESTS)
            self.connection.send(encode(response))

        self.hub.commits.tell(told)

    def confirm(self, result: SubmitToolResult) -> None:
        """Confirm a result, together with others."""
        self.hub.commits.tell(lambda: self._confirm_soon(result.request_id))

    def _confirm_soon(self, request_id: str) -> None:
        if not self.confirmed:
            asyncio.get_running_loop().call_later(_CONFIRM_SECONDS, self._confirm)
        self.confirmed.append(request_id)

    def _confirm(self) -> None:
        request_ids, self.confirmed = self.confirmed, []
        self.connection.send(encode(ResultsConfirmed(request_ids=request_ids)))

    def close(self, code: int, reason: str) -> None:
        """Close once everything said before is sent."""
        self.hub.commits.tell(lambda: self.connection.close(code, reason))
