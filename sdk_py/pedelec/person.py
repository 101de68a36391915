"""The person at the page, as one session knows them.

Owns which of the session's calls wait to be approved, and that what asking takes (`consent`) is loaded when
somebody is asked for the first time, not when the page starts.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pedelec.context import ToolContext
from pedelec.handlers import Bound
from pedelec.protocol import ToolAnswer, ToolCall
from pedelec.tools import ApprovalRule

if TYPE_CHECKING:
    from pedelec.consent import Asker, Consent


class Person:
    """Whom a session's calls have to wait for.

    Args:
        asker: the client. session_id: the session. changed: told when the number of waiting calls changes.
    """

    def __init__(self, asker: "Asker", session_id: str, changed: Callable[[], None]) -> None:
        self._asker = asker
        self._session_id = session_id
        self._changed = changed
        self._rules: dict[str, ApprovalRule] = {}  # by tool
        self._pending: dict[str, ApprovalRule] = {}  # by call, until its handler is called
        self._loaded: Consent | None = None

    def decides_by(self, rules: dict[str, ApprovalRule]) -> None:
        """These are the tools whose calls have to be approved, and when."""
        self._rules = rules

    def expect(self, call: ToolCall) -> None:
        """A call has come: it may have to be approved."""
        rule = self._rules.get(call.tool) or ApprovalRule.undeclared(call.approval)
        if rule is not None:
            self._pending[call.tool_request_id] = rule

    def forget(self, request_id: str) -> None:
        """A call is over."""
        self._pending.pop(request_id, None)

    def guard(self, handler: Bound, ctx: ToolContext) -> Bound:
        """The handler of a call, or what asks first and then calls it."""
        rule = self._pending.pop(ctx.tool_request_id, None)
        return handler if rule is None else self._consent().guarded(handler, rule)

    async def ask(self, ctx: ToolContext, *question: Any) -> Any:
        """Ask for a handler; see `ToolContext.ask`."""
        return await self._consent().ask(ctx, *question)

    def waits(self) -> bool:
        """Whether a call waits for the person now."""
        return self._loaded is not None and self._loaded.waits()

    def answered(self, message: ToolAnswer) -> None:
        """The person answered through the agent's client."""
        if self._loaded is not None:
            self._loaded.answered(message)

    def tell_again(self) -> None:
        """The connection is new: tell Core again of what is asked."""
        if self._loaded is not None:
            self._loaded.tell_again()

    def _consent(self) -> "Consent":
        if self._loaded is None:
            from pedelec.consent import Consent

            self._loaded = Consent(self._asker, self._session_id, self._changed)
        return self._loaded
