"""One line in the log for each call that ended: which, how it ended, how long it took, how large it was.

Owns what is told of calls there. Arguments and results are not, unless somebody asked for them when Core was
started: they are the user's, and logs are copied about.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from pedelec_core.call_watch import code_of
from pedelec_core.invocation import Accept, Decision, Invocation, Outcome
from pedelec_core.sessions import Session

PAYLOADS_WARNING: Final = "--log-payloads: arguments and results of all calls are written to this log"

_log = logging.getLogger(__name__)


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
        if payloads:
            _log.warning(PAYLOADS_WARNING)

    def __call__(self, session: Session, decision: Decision) -> None:
        """Hear of a decision."""
        invocation, outcome = decision.invocation, decision.invocation.outcome
        if isinstance(decision, Accept):
            self._open[invocation.id] = (self._clock(), invocation.call.args.text)
        elif outcome is not None and invocation.id in self._open:
            began, args = self._open.pop(invocation.id)
            seconds = self._clock() - began
            # Once the agent has its answer: that is waited for, and a line costs a tenth of a call.
            loop = asyncio.get_running_loop()
            loop.call_later(0, self._ended, session, invocation, outcome, seconds, args)

    def _ended(
        self, session: Session, invocation: Invocation, outcome: Outcome, seconds: float, args: str
    ) -> None:
        result = "" if outcome.result is None else outcome.result.text
        _log.info(
            "call %s session %s tool %s: %s, %.1f ms, %d characters in, %d out",
            invocation.id,
            session.id,
            invocation.call.tool,
            code_of(outcome) or "ok",
            1_000 * seconds,
            len(args),
            len(result),
        )
        if self._payloads:
            _log.info("call %s arguments %s result %s", invocation.id, args, result or None)
