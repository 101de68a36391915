"""The kinds of failures of libraries and services that are known, and by what each is recognised.

Owns these tables: HTTP statuses, names of types, words. Attributes and the names of types decide, so that no
library is imported for it: `httpx`, `requests`, `urllib`, `pyodide.http`, the browser's `fetch` and
`Response`, and Python's own exceptions. Holds data alone; `failures` looks things up.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from pedelec.catalogue import Effects, ErrorClass, ErrorType


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, understood.

    `reason` has `{service}` where the service's name belongs; `effects` is `none` where the service cannot
    have done anything.
    """

    error_type: ErrorType
    error_class: ErrorClass
    reason: str
    effects: Effects = Effects.UNKNOWN
    retry_after_seconds: float | None = None
    status: int | None = None

    def words(self, service: str = "the service") -> str:
        """The reason in words, the status with it."""
        said = self.reason.format(service=service)
        return said if self.status is None else f"{said} (HTTP {self.status})"

    def fields(self) -> dict[str, Any]:
        """As keywords of `PedelecError`. Of the handler's own effects this says nothing: they stay out."""
        return {
            "error_type": self.error_type,
            "error_class": self.error_class,
            "reason": self.words(),
            "retry_after_seconds": self.retry_after_seconds,
        }


RATE_LIMITED = Failure(
    ErrorType.RATE_LIMITED,
    ErrorClass.RETRYABLE,
    "{service} gets too many requests",
    Effects.NONE,
    retry_after_seconds=30,
)
AUTH = Failure(
    ErrorType.AUTH, ErrorClass.AUTH_REQUIRED, "{service} does not accept the page's access", Effects.NONE
)
FORBIDDEN = replace(AUTH, reason="{service} does not permit access")
TIMEOUT = Failure(
    ErrorType.TIMEOUT, ErrorClass.RETRYABLE, "{service} gave no answer in time", retry_after_seconds=5
)
UNREACHABLE = Failure(
    ErrorType.UPSTREAM_5XX, ErrorClass.RETRYABLE, "{service} could not be reached", retry_after_seconds=5
)
UNTRUSTED = Failure(
    ErrorType.UNKNOWN, ErrorClass.PERMANENT, "{service} could not be reached safely", Effects.NONE
)
DOWN = Failure(
    ErrorType.UPSTREAM_5XX, ErrorClass.RETRYABLE, "{service} has a fault of its own", retry_after_seconds=10
)
ABORTED = Failure(ErrorType.ABORTED, ErrorClass.PERMANENT, "the request to {service} was broken off")
REFUSED = Failure(
    ErrorType.UPSTREAM_4XX, ErrorClass.PERMANENT, "{service} refuses this request", Effects.NONE
)
MISSING = replace(REFUSED, reason="{service} has nothing of that name")
NOT_CONFIGURED = Failure(
    ErrorType.NOT_CONFIGURED, ErrorClass.USER_INPUT, "access to {service} is not set up", Effects.NONE
)
UNKNOWN = Failure(ErrorType.UNKNOWN, ErrorClass.PERMANENT, "{service} failed in a way that is not known here")

BY_STATUS = {
    401: AUTH,
    403: FORBIDDEN,
    404: MISSING,
    407: AUTH,
    408: TIMEOUT,
    410: MISSING,
    425: RATE_LIMITED,
    429: RATE_LIMITED,
    501: replace(DOWN, error_class=ErrorClass.PERMANENT, reason="{service} cannot do this"),
    503: replace(DOWN, reason="{service} is not available for the moment"),
    504: replace(DOWN, reason="{service} got no answer in time itself"),
    505: replace(DOWN, error_class=ErrorClass.PERMANENT, reason="{service} cannot do this"),
}

BY_TYPE_NAME = {
    "TimeoutError": TIMEOUT,
    "TimeoutException": TIMEOUT,  # httpx
    "Timeout": TIMEOUT,  # requests
    "ConnectTimeout": replace(TIMEOUT, effects=Effects.NONE),  # httpx and requests
    "PoolTimeout": replace(TIMEOUT, effects=Effects.NONE),  # httpx
    "XHRTimeoutError": TIMEOUT,  # pyodide.http.pyxhr
    "AbortError": ABORTED,
    "CancelledError": ABORTED,
    "PermissionError": FORBIDDEN,
    "NotAllowedError": FORBIDDEN,  # a DOMException
    "SecurityError": FORBIDDEN,  # likewise
    "ConnectionRefusedError": replace(UNREACHABLE, effects=Effects.NONE),
    "ConnectError": replace(UNREACHABLE, effects=Effects.NONE),  # httpx
    "ConnectionError": UNREACHABLE,  # Python's own and that of requests
    "NetworkError": UNREACHABLE,  # httpx, and a DOMException
    "RemoteProtocolError": UNREACHABLE,  # httpx
    "ProxyError": UNREACHABLE,  # httpx and requests
    "ChunkedEncodingError": UNREACHABLE,  # requests
    "IncompleteRead": UNREACHABLE,  # http.client
    "SSLError": UNTRUSTED,  # ssl and requests
    "URLError": UNREACHABLE,
    "XHRNetworkError": UNREACHABLE,
    "gaierror": replace(UNREACHABLE, effects=Effects.NONE),
}

NETWORK_TEXT = re.compile(
    r"failed to fetch|networkerror when attempting|load failed|network (?:error|request failed)"
    r"|connection (?:refused|reset|aborted|closed)|could not connect|name resolution"
    r"|(?:host|network) (?:is )?unreachable|no route to host",
    re.IGNORECASE,
)
STATUS_TEXT = re.compile(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?(?: error)?|status(?: code)?|error code)[\s:=(#]*([45]\d\d)\b", re.IGNORECASE
)
BY_TEXT = (
    (
        re.compile(r"rate.?limit|too many requests|quota (?:is )?exceeded|throttl", re.IGNORECASE),
        RATE_LIMITED,
    ),
    (
        re.compile(
            r"(?:api.?key|token|credentials?) (?:is |are )?(?:missing|not (?:set|configured|found))"
            r"|(?:missing|no) (?:api.?key|token|credentials)|not configured",
            re.IGNORECASE,
        ),
        NOT_CONFIGURED,
    ),
    (
        re.compile(
            r"unauthori[sz]ed|unauthenticated|not (?:signed|logged) in"
            r"|(?:invalid|expired) (?:api.?key|token|credentials|session)"
            r"|(?:api.?key|token|credentials|session)(?: has| is| are)? (?:invalid|expired|revoked)",
            re.IGNORECASE,
        ),
        AUTH,
    ),
    (re.compile(r"forbidden|permission denied|access (?:is )?denied", re.IGNORECASE), FORBIDDEN),
    (re.compile(r"timed? ?out|deadline exceeded", re.IGNORECASE), TIMEOUT),
    (NETWORK_TEXT, UNREACHABLE),
    (
        re.compile(
            r"service (?:is )?(?:temporarily )?unavailable|internal server error|bad gateway|overloaded",
            re.IGNORECASE,
        ),
        DOWN,
    ),
    (re.compile(r"\babort(?:ed)?\b|\bcancell?ed\b", re.IGNORECASE), ABORTED),
)
