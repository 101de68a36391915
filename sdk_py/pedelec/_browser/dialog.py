"""The page's dialog, as the SDK asks with it: `host.Dialog` for browsers.

Owns which questions the dialog shows. Their text crosses the border; dialog.mjs shows it.
"""

import itertools
import json
from collections.abc import Callable

from pedelec._browser.page import border, create_proxy
from pedelec.questions import Answer, Question

_keys = itertools.count(1)
_open: dict[int, Callable[[Answer | None], None]] = {}


class BrowserDialog:
    """Implements `host.Dialog`."""

    @property
    def can_show(self) -> bool:
        return border.has_document

    def open(self, question: Question, answered: Callable[[Answer | None], None]) -> Callable[[], None]:
        key = next(_keys)
        _open[key] = answered
        border.open_dialog(key, json.dumps(question.to_wire(), ensure_ascii=False))

        def close() -> None:
            del _open[key]
            border.close_dialog(key)

        return close


def _hear(key: int, accepted: object, content: str) -> None:
    answered = _open.get(key)
    if answered is not None:
        answered(Answer(accepted, json.loads(content)) if isinstance(accepted, bool) else None)


def hear_answers() -> None:
    """Hear what the person says from now on. The one proxy of this module, as long as the page."""
    border.on_answer(create_proxy(_hear))
