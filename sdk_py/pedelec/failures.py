"""What the failure of a library or a service means, in the terms of the envelope.

Owns how failures are looked at: by HTTP status first, then by the type of the exception, then by its text.
Nothing of what the service said gets out: the reasons are words of ours. The kinds of failures stand in
`failure_kinds`.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pedelec.catalogue import ErrorClass
from pedelec.clean_text import MAX_MESSAGE_CHARS
from pedelec.exception_groups import leaves_of
from pedelec.failure_kinds import (
    ABORTED,
    BY_STATUS,
    BY_TEXT,
    BY_TYPE_NAME,
    DOWN,
    NETWORK_TEXT,
    RATE_LIMITED,
    REFUSED,
    STATUS_TEXT,
    UNKNOWN,
    UNREACHABLE,
    Failure,
)

_PROGRAMMING_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    SyntaxError,
    TypeError,
    ValueError,
)
_OWN_FAULTS = frozenset({"TypeError", "ReferenceError", "RangeError", "SyntaxError", "EvalError", "URIError"})
"""JavaScript's programming errors. `fetch` reports an unreachable host as a TypeError, though."""


def classify_exception(error: BaseException, now: float | None = None) -> Failure | None:
    """What an exception means that nobody asked about, or None where it is not plainly one of these.

    The text of a programming error proves nothing, except a browser's own words for an unreachable host.
    """
    try:
        known = _by_status(error, now) or _by_type(error)
        if known is not None:
            return known
        if not _is_programming_error(error):
            return _by_text(error)
        return (
            UNREACHABLE if NETWORK_TEXT.search(_text_of(error)) and _names(error)[0] == "TypeError" else None
        )
    except Exception:  # noqa: BLE001 - exceptions that do not bear being looked at are of no known kind
        return None


def classify(failure: object, now: float | None = None) -> Failure:
    """What a failure means: an exception, a response, or text about one.

    Args:
        failure: an exception or response of any library; a text.
        now: seconds since the epoch, to reckon the date of a `Retry-After` with.

    Returns:
        `unknown` and `permanent` where nothing is recognised; that includes a response that is no failure.
    """
    try:
        if isinstance(failure, BaseExceptionGroup) and len(leaves := leaves_of(failure)) == 1:
            failure = leaves[0]
        return _by_status(failure, now) or _by_type(failure) or _by_text(failure) or UNKNOWN
    except Exception:  # noqa: BLE001 - as above
        return UNKNOWN


# --- by status -------------------------------------------------------------------------------------------


def _by_status(failure: object, now: float | None) -> Failure | None:
    for holder in (failure, getattr(failure, "response", None)):
        status = _status_of(holder)
        if status is not None:
            return _of_status(status, _headers_of(holder), now)
    return None


def _status_of(holder: object) -> int | None:
    names = ["status_code", "status", "statusCode"]
    if type(holder).__name__ == "HTTPError":  # urllib's; elsewhere `code` may be anything
        names.append("code")
    for name in names:
        status = _member(holder, name)
        if isinstance(status, str) and re.fullmatch("[45][0-9]{2}", status):
            return int(status)
        if isinstance(status, (int, float)) and not isinstance(status, bool) and 400 <= status < 600:
            return int(status)
    return None


def _of_status(status: int, headers: object, now: float | None) -> Failure:
    failure = BY_STATUS.get(status, REFUSED if status < 500 else DOWN)
    delay = retry_after(_header(headers, "retry-after"), _header(headers, "date"), now)
    if status == 403 and (delay is not None or _header(headers, "x-ratelimit-remaining") == "0"):
        failure = RATE_LIMITED
    if delay is not None and failure.error_class is ErrorClass.RETRYABLE:
        failure = replace(failure, retry_after_seconds=delay)
    return replace(failure, status=status)


def retry_after(value: str | None, date: str | None = None, now: float | None = None) -> float | None:
    """A `Retry-After` header in seconds from now, at least 0 (RFC 9110, section 10.2.3).

    Args:
        value: a number of seconds or a date; None and what is neither give None.
        date: the response's own `Date`, which a date is reckoned from, since clocks differ.
        now: seconds since the epoch, where there is no `Date`.
    """
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(?:\.\d+)?\s*", value, re.ASCII):
        seconds = float(value)
        return int(seconds) if seconds.is_integer() else seconds
    moment, sent = _moment(value), _moment(date)
    start = sent if sent is not None else now
    return None if moment is None or start is None else max(0, round(moment - start))


def _moment(text: str | None) -> float | None:
    if text is None:
        return None
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    # The forms without a zone are in GMT too (RFC 9110, section 5.6.7).
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _headers_of(holder: object) -> object:
    headers = _member(holder, "headers")
    return _member(holder, "hdrs") if headers is None else headers


def _header(headers: object, name: str) -> str | None:
    """A header of any kind of headers: a mapping, urllib's message, or the browser's `Headers`.

    What stands in for a response in somebody's tests or wrappers may hold numbers, bytes or lists of values.
    """
    if isinstance(headers, Mapping):
        found = next((value for key, value in headers.items() if str(key).lower() == name), None)
    else:
        get = getattr(headers, "get", None)
        found = get(name) if callable(get) else None
    if isinstance(found, (list, tuple)) and found:
        found = found[0]
    if isinstance(found, bytes):
        return found.decode("latin-1")
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return found if isinstance(found, str) else str(found) if is_number else None


# --- by type and text ---------------------------------------------------------------------------------------


def _by_type(failure: object) -> Failure | None:
    names = _names(failure)
    reason = _member(failure, "reason")
    if names[0] == "URLError" and isinstance(reason, BaseException):  # urllib's, around the real one
        return _by_type(reason) or UNREACHABLE
    known = next((BY_TYPE_NAME[name] for name in names if name in BY_TYPE_NAME), None)
    # pyodide.http raises an AbortError for whatever `fetch` rejects with.
    return UNREACHABLE if known is ABORTED and NETWORK_TEXT.search(_text_of(failure)) else known


def _names(failure: object) -> list[str]:
    """The names of a failure's type and its bases, of a JavaScript error its own name first."""
    own = [_member(failure, "foreign_type_name"), _member(failure, "name")]
    names = [name for name in own if isinstance(name, str) and name]
    if isinstance(failure, BaseException):
        names += [base.__name__ for base in type(failure).__mro__]
    return names or [""]


def _by_text(failure: object) -> Failure | None:
    text = _text_of(failure)
    status = STATUS_TEXT.search(text)
    if status is not None:
        return _of_status(int(status.group(1)), None, None)
    return next((known for pattern, known in BY_TEXT if pattern.search(text)), None)


def _text_of(failure: object) -> str:
    if isinstance(failure, (str, BaseException)):
        return str(failure)[:MAX_MESSAGE_CHARS]
    message = _member(failure, "message")
    return message[:MAX_MESSAGE_CHARS] if isinstance(message, str) else ""


def _is_programming_error(error: BaseException) -> bool:
    return isinstance(error, _PROGRAMMING_ERRORS) or _names(error)[0] in _OWN_FAULTS


def _member(holder: object, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, name, None)
