"""A page's question to a person, as others may be shown it. The words are a page's: they are cut and cleaned.

Owns what of a `tool_waiting` is passed on. Whether the call may ask is decided in `invocations`.
"""

from typing import Final

from pedelec import forms
from pedelec.protocol import ProtocolError, ToolWaiting
from pedelec.shown_text import MAX_ARGUMENTS_CHARS, shown_text
from pedelec_core.invocation import OpenQuestion
from pedelec_core.page_text import MAX_ID_CHARS

_KINDS: Final = {"approval", "question"}


def open_question(message: ToolWaiting) -> OpenQuestion:
    """The question in a message.

    Raises:
        PedelecError: `INVALID_INPUT` for a form that nobody could be shown, `SDK_PROTOCOL_ERROR` for a kind
            that there is not and for names that are too long.
    """
    if message.kind not in _KINDS:
        raise ProtocolError(f"{message.type}.kind must be one of {', '.join(sorted(_KINDS))}.")
    if max(len(message.question_id), len(message.name or "")) > MAX_ID_CHARS:
        raise ProtocolError(f"A question's names must not be longer than {MAX_ID_CHARS} characters.")
    return OpenQuestion(
        id=message.question_id,
        kind=message.kind,
        message=shown_text(message.message),
        arguments=None if message.arguments is None else shown_text(message.arguments, MAX_ARGUMENTS_CHARS),
        schema=forms.received(message.schema).schema,
        name=message.name,
        hidden=message.hidden,
    )
