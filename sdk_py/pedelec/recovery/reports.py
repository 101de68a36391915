"""Failures of the parts of a call, told in the result or the error of the whole.

Owns the short form of an error inside another one, and the class of a failure that consists of several.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from pedelec.catalogue import ErrorClass
from pedelec.errors import PedelecError, error_from_exception

_SHORT_FORM = ("code", "class", "message", "retryAfterSeconds", "effects", "errorType", "reason")
_WORST_LAST = (ErrorClass.PERMANENT, ErrorClass.USER_INPUT, ErrorClass.AUTH_REQUIRED, ErrorClass.RETRYABLE)


def error_of(failure: BaseException) -> PedelecError:
    """What a failure means, by this moment's clock."""
    return error_from_exception(failure, time.time())


def short_forms(errors: Mapping[str, PedelecError]) -> dict[str, dict[str, Any]]:
    """The errors by the name of what failed, without their steps and details."""
    wires = {name: error.to_wire() for name, error in errors.items()}
    return {name: {key: wire[key] for key in _SHORT_FORM if key in wire} for name, wire in wires.items()}


def class_of_all(errors: Iterable[PedelecError]) -> ErrorClass:
    """The class of several failures together: what helps one of them helps."""
    classes = {ErrorClass(error.error_class) for error in errors}
    return max(classes, key=_WORST_LAST.index)


def longest_delay(errors: Iterable[PedelecError]) -> float | None:
    """Seconds until all of the retryable ones may be tried again; None where none is."""
    delays = [error.retry_after_seconds for error in errors if error.is_retryable]
    return max((delay for delay in delays if delay is not None), default=None)
