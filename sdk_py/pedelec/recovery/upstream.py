"""`upstream_error`: the failure of a service that the page relies on, as an error for the agent.

Owns the words around what `failures` recognises.
"""

import time

from pedelec.catalogue import Code
from pedelec.errors import ToolError
from pedelec.failures import classify

_UNNAMED = "the service"


def upstream_error(failure: object, *, service: str = _UNNAMED, now: float | None = None) -> ToolError:
    """What the agent is told of a service's failure, to be raised or returned.

    Args:
        failure: an exception or response of `httpx`, `requests`, `urllib`, `pyodide.http` or the browser's
            `fetch`; one of Python's own exceptions; or a text about the failure. It is recognised by its
            HTTP status, else by its type, else by its text; nothing of its text, URL, headers or body is
            passed on.
        service: what the service is called, as the agent and the user know it.
        now: seconds since the epoch, to reckon the date of a `Retry-After` with; unless given, the clock's.
    """
    known = classify(failure, time.time() if now is None else now)
    said = known.words(service)
    details: dict[str, object] = {} if service == _UNNAMED else {"service": service}
    if known.status is not None:
        details["status"] = known.status
    return ToolError(
        Code.UPSTREAM_FAILED, f"{said[:1].upper()}{said[1:]}.", details=details, **known.fields()
    )
