"""The rules for results that tell of failures, as handlers gave them."""

from collections.abc import Iterator

from pedelec.catalogue import ErrorClass
from pedelec.envelope import MAX_CHOICES
from pedelec.json_text import JsonObject, JsonValue

from .findings import Finding
from .rules import (
    DEVELOPER_TEXT,
    MISSING_CLASS,
    RAW_FAILURE,
    RETRY_DELAY,
    SUCCESS_SHAPED,
    TOO_MANY_OPTIONS,
    VAGUE_MESSAGE,
)
from .shapes import Shape, shape_of
from .texts import is_raw, is_vague, names_developer_means


def lint_error(result: JsonValue, where: str) -> Iterator[Finding]:
    """What is wrong with one failure; see `lint`."""
    shape = shape_of(result)
    if shape is Shape.RESULT or not isinstance(result, dict):
        return
    error = result.get("error")
    envelope = error if isinstance(error, dict) else {}
    about = str(envelope.get("code", ""))
    if shape is Shape.SUCCESS_SHAPED:
        beside = ", ".join(str(key) for key in list(result)[:5])
        yield Finding(SUCCESS_SHAPED, where, about, f"an object with {beside}")
    if isinstance(error, str):
        yield from _message(error, "", f"{where}/error", about)
    if envelope:
        yield from _envelope(envelope, f"{where}/error", about)


def _envelope(error: JsonObject, where: str, about: str) -> Iterator[Finding]:
    yield from _message(error.get("message"), about, f"{where}/message", about)
    yield from _class(error, where, about)
    for index, step in enumerate(_listed(error.get("recoverySteps"))):
        if not isinstance(step, str):
            continue
        if said := names_developer_means(step) or (step[:80] if is_vague(step) else None):
            yield Finding(DEVELOPER_TEXT, f"{where}/recoverySteps/{index}", about, f"“{said}”")
    if isinstance(reason := error.get("reason"), str) and (raw := is_raw(reason)):
        yield Finding(RAW_FAILURE, f"{where}/reason", about, f"“{raw}”")
    count = len(_listed(error.get("options"))) + _left_out(error, "options")
    if count > MAX_CHOICES:
        yield Finding(TOO_MANY_OPTIONS, f"{where}/options", about, f"{count} options")


def _message(message: JsonValue, code: str, where: str, about: str) -> Iterator[Finding]:
    if not isinstance(message, str) or is_vague(message, code):
        yield Finding(VAGUE_MESSAGE, where, about, f"“{message}”" if message else "it is blank")
        return
    if raw := is_raw(message):
        yield Finding(RAW_FAILURE, where, about, f"“{raw}”")
    if said := names_developer_means(message):
        yield Finding(DEVELOPER_TEXT, where, about, f"“{said}”")


def _class(error: JsonObject, where: str, about: str) -> Iterator[Finding]:
    error_class = error.get("class")
    if error_class not in set(ErrorClass):
        yield Finding(MISSING_CLASS, where, about, "no class" if error_class is None else f"“{error_class}”")
    retryable = error_class == ErrorClass.RETRYABLE or error.get("retryable") is True
    if retryable and not isinstance(error.get("retryAfterSeconds"), int | float):
        yield Finding(RETRY_DELAY, where, about, "retryable, without retryAfterSeconds")


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _left_out(error: JsonObject, key: str) -> int:
    """How many were there before the envelope was brought within its bounds."""
    details = error.get("details")
    left_out = details.get("leftOut") if isinstance(details, dict) else None
    count = left_out.get(key) if isinstance(left_out, dict) else None
    return count if isinstance(count, int) else 0
