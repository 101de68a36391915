"""What the authors of pages may ask of Core: what is wrong with their tools, and how a call failed.

Owns the log of failures that this needs. What is wrong is decided in `lint`, what is told of a failing call
in `evals`.
"""

from weakref import WeakKeyDictionary

from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue
from pedelec_core import call_errors
from pedelec_core.evals.case import Case
from pedelec_core.failure_log import Failure, FailureLog
from pedelec_core.lint import lint
from pedelec_core.sessions import Session


class AuthorDesk:
    """Remembers the failures of every session while it lives, and tells authors of them."""

    def __init__(self) -> None:
        self._logs: WeakKeyDictionary[Session, FailureLog] = WeakKeyDictionary()

    def log_of(self, session: Session) -> FailureLog:
        """Where the failures of a session are noted."""
        log = self._logs.get(session)
        if log is None:
            log = self._logs[session] = FailureLog()
        return log

    def lint(self, session: Session) -> JsonObject:
        """The findings on a session's tools and on the errors that its page gave since Core started."""
        registry = session.registry
        tools: list[JsonValue] = [registry.get(name).to_wire() for name in registry.names()]
        failures = list(self.log_of(session).of_the_page())
        findings: list[JsonValue] = [
            finding.to_wire() for finding in lint(tools, [failure.result for failure in failures])
        ]
        errors: list[JsonValue] = [
            {"invocationId": failure.invocation_id, "tool": failure.tool} for failure in failures
        ]
        return {"threadId": session.id, "tools": len(tools), "errors": errors, "findings": findings}

    def case(self, invocation_id: str) -> JsonObject:
        """A failing call as a test case, redacted.

        Raises:
            PedelecError: `INVOCATION_NOT_FOUND` where no such failure is remembered, `INVALID_INPUT` where
                its arguments were too long to keep.
        """
        failure = self._failure(invocation_id)
        if failure is None:
            raise call_errors.unknown_failure(invocation_id)
        if failure.args is None:
            raise PedelecError(
                Code.INVALID_INPUT,
                f"The arguments of {failure.tool} were too long to keep, so the call cannot be replayed.",
                recovery_steps=["Make the same call with shorter arguments, and add that one."],
            )
        return Case.of_failure(failure).to_wire()

    def _failure(self, invocation_id: str) -> Failure | None:
        found = (log.get(invocation_id) for log in self._logs.values())
        return next((failure for failure in found if failure is not None), None)
