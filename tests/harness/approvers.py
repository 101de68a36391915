"""Approvers for a page desk without a Core around it."""

from collections.abc import Callable

from pedelec.errors import PedelecError
from pedelec_core.approvals import Claim


class EveryOrigin:
    """Implements `page_desk.Approver`: all pages are let in."""

    def is_approved(self, origin: str) -> bool:
        return True

    def ask(
        self, origin: str, claim: Claim, decided: Callable[[PedelecError | None], None]
    ) -> tuple[str, float]:
        raise AssertionError("nobody needs to ask")

    def leave(self, waiter: str) -> None:
        raise AssertionError("nobody waits")
