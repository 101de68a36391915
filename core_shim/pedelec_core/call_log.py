"""One line in the log for each call that ended: which, how it ended, how long it took, how large it was.

Owns what is told of calls there. Arguments and results are not, unless somebody asked for them when Core was
started: they are the user's, and logs are copied about.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from pedelec_core.call_watch import code_of
from pedelec_core.invocation import Accept, Decision, Invocation, Outcome
from pedelec_core.sessions import Session

PAYLOADS_WARNING: Final = "--log-payloads: arguments and results of all calls are written to this log"

_WAIT_SECONDS: Final = 0.05
"""How long a line waits for others: agents wait for their answers, and a line costs a tenth of a call."""

_log = logging.getLogger(__name__)


class _EndedCall(NamedTuple):
    session_id: str
    invocation: Invocation
    outcome: Outcome
    seconds: float
    args: str


class CallLog:
    """Hears of the decisions about calls (`Hub.observe`).

    Args:
        clock: seconds, monotonic.
        payloads: whether arguments and results are told, too.
    """

    def __init__(self, clock: Callable[[], float], *, payloads: bool = False) -> None:
        self._clock = clock
        self._payloads = payloads
        self._open: dict[str, tuple[float, str]] = {}  # by invocation id: when it began, and its arguments
        self._ended: list[_EndedCall] = []
        if payloads:
            _log.warning(PAYLOADS_WARNING)

    def __call__(self, session: Session, decision: Decision) -> None:
        """Hear of a decision."""
        invocation = decision.invocation
        if isinstance(decision, Accept):
            self._open[invocation.id] = (self._clock(), invocation.call.args.text)
        elif invocation.outcome is not None and invocation.id in self._open:
            began, args = self._open.pop(invocation.id)
            seconds = self._clock() - began
            if not self._ended:
                asyncio.get_running_loop().call_later(_WAIT_SECONDS, self.flush)
            self._ended.append(_EndedCall(session.id, invocation, invocation.outcome, seconds, args))

    def flush(self) -> None:
        """Write the lines that wait."""
        ended, self._ended = self._ended, []
        for each in ended:
            self._write(each)

    def _write(self, ended: _EndedCall) -> None:
        result = "" if ended.outcome.result is None else ended.outcome.result.text
        _log.info(
            "call %s session %s tool %s: %s, %.1f ms, %d characters in, %d out",
            ended.invocation.id,
            ended.session_id,
            ended.invocation.call.tool,
            code_of(ended.outcome) or "ok",
            1_000 * ended.seconds,
            len(ended.args),
            len(result),
        )
        if self._payloads:
            _log.info("call %s arguments %s result %s", ended.invocation.id, ended.args, result or None)
