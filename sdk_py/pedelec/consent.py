"""What one session asks of a person: approval of calls, and its handlers' questions.

Owns which calls need approval, how a question is put, and how many calls wait for an answer. The asking
itself is `asking`'s business.
"""

import itertools
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from pedelec import forms
from pedelec.asking import Asked, denied, desk_of
from pedelec.calls import as_awaitable
from pedelec.context import ToolContext
from pedelec.errors import Code, Effects, PedelecError, ToolError
from pedelec.forms import Form
from pedelec.handlers import Bound
from pedelec.host import Dialog, Host
from pedelec.json_text import JsonObject
from pedelec.own_dialog import OwnDialog, plain
from pedelec.protocol import Message, ToolAnswer
from pedelec.questions import Answer, Kind, Question
from pedelec.shown_text import shown_arguments, shown_text
from pedelec.tools import ApprovalRule

logger = logging.getLogger("pedelec")

_question_numbers = itertools.count(1)


class Asker(Protocol):
    """What asking needs of the client."""

    @property
    def host(self) -> Host: ...

    @property
    def question_handler(self) -> Bound | None:
        """The page author's own way of asking, if there is one."""

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None: ...

    def send(self, message: Message) -> None: ...


class Consent:
    """Asks for the calls of one session.

    Args:
        asker: the client.
        session_id: the session.
        changed: told when the number of waiting calls changes.
    """

    def __init__(self, asker: Asker, session_id: str, changed: Callable[[], None]) -> None:
        self._asker = asker
        self._session_id = session_id
        self._changed = changed
        self._waiting: Counter[str] = Counter()

    def waits(self) -> bool:
        """Whether a call waits for a person."""
        return bool(self._waiting)

    def guarded(self, handler: Bound, rule: ApprovalRule) -> Bound:
        """The handler, for calls that have to be approved before it is called."""

        async def ask_first(args: JsonObject, ctx: ToolContext) -> Any:
            if await self._covers(rule, args, ctx):
                await self.approve(args, ctx)
            return handler(args, ctx)

        return ask_first

    async def _covers(self, rule: ApprovalRule, args: JsonObject, ctx: ToolContext) -> bool:
        """Whether a call has to be approved. What cannot be told is taken for consequential."""
        if rule.predicate is None:
            return True
        try:
            value = rule.predicate(args, ctx)
            while (awaitable := as_awaitable(value, self._asker.host)) is not None:
                value = await awaitable
        except Exception as error:
            logger.error("consequential() of %s raised, so the user is asked.", ctx.tool, exc_info=error)
            return True
        return plain(value) is not False

    async def approve(self, args: JsonObject, ctx: ToolContext) -> None:
        """Have the person approve a call.

        Raises:
            PedelecError: `TOOL_DENIED`, `TOOL_UNANSWERED` or `TOOL_CANCELLED`: it must not run.
        """
        message = f"An AI agent wants to use “{shown_text(ctx.tool)}” on this page. Allow it?"
        await self._ask(ctx, "approval", message, forms.confirmation(), arguments=shown_arguments(args))

    async def ask(self, ctx: ToolContext, message: str, options: Any, schema: Any, name: str | None) -> Any:
        """Have the person answer a handler's question; see `ToolContext.ask`."""
        form = form_of(message, options, schema, name)
        answer = await self._ask(ctx, "question", shown_text(message), form, name=name)
        return form.value_of(answer.content)

    def answered(self, message: ToolAnswer) -> None:
        """A person answered through the agent's client."""
        answer = Answer(message.action == "accept", message.content or {})
        desk_of(self._asker.host).answered_elsewhere(message.question_id, answer)

    def tell_again(self) -> None:
        """Tell Core again of what it may have missed."""
        desk_of(self._asker.host).announce_all(self._session_id)

    async def _ask(
        self, ctx: ToolContext, kind: Kind, message: str, form: Form, **more: str | None
    ) -> Answer:
        question = Question(
            id=f"q{next(_question_numbers)}",
            kind=kind,
            tool=ctx.tool,
            message=message,
            schema=form.schema,
            **more,
        )
        dialog = self._dialog(form, ctx)
        if not dialog.can_show:
            raise _nothing_to_show_on(kind)
        asked = Asked(question=question, form=form, ctx=ctx, dialog=dialog, send=self._asker.send)
        self._waiting[ctx.tool_request_id] += 1
        self._changed()
        try:
            answer = await desk_of(self._asker.host).ask(asked)
        finally:
            self._waiting[ctx.tool_request_id] -= 1
            self._waiting += Counter()  # drops those at zero
            self._changed()
        if not answer.accepted:
            raise denied(asked)
        return answer

    def _dialog(self, form: Form, ctx: ToolContext) -> Dialog:
        asker, handler = self._asker, self._asker.question_handler
        if handler is None:
            return asker.host.dialog
        return OwnDialog(handler=handler, form=form, ctx=ctx, host=asker.host, start=asker.start)


def _nothing_to_show_on(kind: Kind) -> PedelecError:
    return ToolError.not_configured(
        "a way to ask the user from a web worker",
        "In the Python that offers the tool, give `client.on_question` a handler: a worker shows no dialog.",
        effects=Effects.NONE if kind == "approval" else Effects.UNKNOWN,
    )


def form_of(message: object, options: Any, schema: Any, name: object) -> Form:
    """The form of a handler's question, from what `ToolContext.ask` was given.

    Raises:
        PedelecError: `INVALID_INPUT` for a blank question, or options and a schema at once.
    """
    if not isinstance(message, str) or not message.strip():
        raise _invalid("question", "ask() needs a question.")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise _invalid("name", "The name of a question must be a string.")
    if options is not None and schema is not None:
        raise _invalid("schema", "ask() takes options or a schema, not both.")
    if options is not None:
        return forms.choice(options)
    return forms.text() if schema is None else forms.fields(schema)


def _invalid(field: str, problem: str) -> PedelecError:
    return PedelecError(Code.INVALID_INPUT, problem, details={"field": field})
