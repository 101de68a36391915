"""A page author's own way of asking, in place of the dialog (`Pedelec.on_question`).

Owns how the author's function is called and what its value says. When it is called, and that its question
may be over before it answers, is `asking`'s business.
"""

import json
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from pedelec.calls import as_awaitable
from pedelec.context import CancelSignal, ToolContext
from pedelec.forms import Form
from pedelec.handlers import Bound
from pedelec.host import Host
from pedelec.json_text import RawJson
from pedelec.questions import Answer, Question

logger = logging.getLogger("pedelec")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDialog:
    """The author's function, for one question. Implements `host.Dialog`.

    It is called with `(question, ctx)` or fewer, the question as `Question.to_wire` has it; `ctx.cancelled`
    is set when the question is over. It gives True or False for an approval. For a question it gives the
    answer (the option's value, or for several fields an object), or None where the person wants to give none.
    """

    handler: Bound
    form: Form
    ctx: ToolContext
    host: Host
    start: Callable[[Coroutine[Any, Any, None]], None]
    can_show: bool = True

    def open(self, question: Question, answered: Callable[[Answer | None], None]) -> Callable[[], None]:
        over = CancelSignal()
        self.start(self._run(question, replace(self.ctx, cancelled=over), answered))
        return lambda: over.set("answered")

    async def _run(
        self, question: Question, ctx: ToolContext, answered: Callable[[Answer | None], None]
    ) -> None:
        try:
            value = self.handler(question.to_wire(), ctx)
            while (awaitable := as_awaitable(value, self.host)) is not None:
                value = await awaitable
            answered(self._read(question, plain(value)))
        except BaseException as error:
            logger.error("The callback of on_question raised.", exc_info=error)
            answered(None)

    def _read(self, question: Question, value: Any) -> Answer:
        if question.kind == "approval":
            return Answer(value is True)
        return Answer(False) if value is None else Answer(True, self.form.content_of(value))


def plain(value: Any) -> Any:
    """A JavaScript function's value comes as JSON text."""
    return json.loads(value.text) if isinstance(value, RawJson) else value
