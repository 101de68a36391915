"""Asks a person, on behalf of calls, and waits for the answer.

Owns the wait: what shows a question, what ends it (an answer at the page, one through the agent's client, a
cancelled call, time), and that Core hears of both ends. Which question is shown is decided in `questions`,
what an answer looks like in `forms`; the dialog is the host's or the page author's (`own_dialog`).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from pedelec.context import ToolContext
from pedelec.errors import Code, Effects, PedelecError
from pedelec.forms import Form
from pedelec.host import Dialog, Host
from pedelec.protocol import Message, ToolResumed, ToolWaiting
from pedelec.questions import Answer, Decision, Hide, Question, QuestionQueue, Show

MARGIN_SECONDS = 2.0
"""So long before the deadline a question is over, at most: the agent has to be told in time."""

_MARGIN_SHARE = 0.1


@dataclass(eq=False, slots=True, kw_only=True)
class Asked:
    """One question that waits, with all that waits for it. `send` takes messages for Core."""

    question: Question
    form: Form
    ctx: ToolContext
    dialog: Dialog
    send: Callable[[Message], None]
    answer: "asyncio.Future[Answer]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    hide: Callable[[], None] | None = None

    def hear(self, answer: Answer | None) -> None:
        """What the person says; None where the question cannot be shown. The first word counts."""
        if answer is None:
            self.fail(unanswered(self, "the page could not show the question"))
        elif answer.accepted and (problem := self.form.problem_with(answer.content)) is not None:
            self.fail(unanswered(self, f"the answer was no answer to it: {problem}"))
        elif not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, error: PedelecError) -> None:
        """The question is over without an answer."""
        if not self.answer.done():
            self.answer.set_exception(error)


class QuestionDesk:
    """Where all questions of one page are asked, whichever client and session they come from."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._queue = QuestionQueue()
        self._asked: dict[str, Asked] = {}
        self._watches = False

    async def ask(self, asked: Asked) -> Answer:
        """Ask, and wait for the answer.

        Raises:
            PedelecError: `TOOL_UNANSWERED` where nobody answers in time or nothing can be shown;
                `TOOL_CANCELLED` where the call is over before.
        """
        question, ctx = asked.question, asked.ctx
        self._watch_page()
        self._asked[question.id] = asked
        forget = ctx.cancelled.add_callback(lambda: asked.fail(_cancelled(asked)))
        late = unanswered(asked, "nobody answered in time")
        patience = asyncio.get_running_loop().call_later(_patience(ctx), asked.fail, late)
        try:
            if not asked.answer.done():
                self._announce(asked)
                self._carry_out(self._queue.ask(question))
            return await asked.answer
        finally:
            patience.cancel()
            forget()
            self._carry_out(self._queue.close(question.id))
            del self._asked[question.id]
            asked.send(ToolResumed(**_place(asked)))

    def answered_elsewhere(self, question_id: str, answer: Answer) -> None:
        """The agent's client brought an answer. One that does not fit is none: the dialog stays."""
        asked = self._asked.get(question_id)
        if asked is None or (answer.accepted and asked.form.problem_with(answer.content) is not None):
            return
        asked.hear(answer)

    def announce_all(self, session_id: str | None = None) -> None:
        """Tell Core again of every open question (of a session): it may have missed something."""
        for asked in self._asked.values():
            if session_id in (None, asked.ctx.session_id):
                self._announce(asked)

    def _announce(self, asked: Asked) -> None:
        question = asked.question
        asked.send(
            ToolWaiting(
                **_place(asked),
                kind=question.kind,
                message=question.message,
                arguments=question.arguments,
                schema=question.schema,
                name=question.name,
                hidden=self._host.is_hidden(),
            )
        )

    def _watch_page(self) -> None:
        if not self._watches:
            self._watches = True
            self._host.watch_visibility(self.announce_all)

    def _carry_out(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            asked = self._asked[decision.question.id]
            match decision:
                case Show(question) if not asked.answer.done():
                    asked.hide = asked.dialog.open(question, asked.hear)
                case Hide() if asked.hide is not None:
                    asked.hide()


_desks: "WeakKeyDictionary[Host, QuestionDesk]" = WeakKeyDictionary()


def desk_of(host: Host) -> QuestionDesk:
    """The one desk of a page."""
    desk = _desks.get(host)
    if desk is None:
        desk = _desks[host] = QuestionDesk(host)
    return desk


def denied(asked: Asked) -> PedelecError:
    """The person said no."""
    tool, message = asked.question.tool, asked.question.message
    if asked.question.kind == "approval":
        return PedelecError(Code.TOOL_DENIED, details={"tool": tool})
    return PedelecError(
        Code.TOOL_DENIED,
        f"The user did not want to answer {tool}, which asked: “{message}”",
        effects=Effects.UNKNOWN,
        details={"tool": tool, "question": message},
    )


def unanswered(asked: Asked, why: str) -> PedelecError:
    """There is no answer, and none will come."""
    question = asked.question
    return PedelecError(
        Code.TOOL_UNANSWERED,
        effects=Effects.NONE if question.kind == "approval" else Effects.UNKNOWN,
        details={"tool": question.tool, "question": question.message, "why": why},
    )


def _cancelled(asked: Asked) -> PedelecError:
    tool = asked.question.tool
    effects = Effects.NONE if asked.question.kind == "approval" else Effects.UNKNOWN
    message = f"{tool} was cancelled while it waited for the user."
    return PedelecError(Code.TOOL_CANCELLED, message, effects=effects, details={"tool": tool})


def _patience(ctx: ToolContext) -> float:
    """Seconds to wait for an answer."""
    left = ctx.remaining_ms / 1000
    return max(left * (1 - _MARGIN_SHARE), left - MARGIN_SECONDS)


def _place(asked: Asked) -> dict[str, str]:
    return {
        "session_id": asked.ctx.session_id,
        "tool_request_id": asked.ctx.tool_request_id,
        "question_id": asked.question.id,
    }
