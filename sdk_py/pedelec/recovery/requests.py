"""The kit as JavaScript asks for it: a JSON object in, a JSON object out.

Owns the names and fields of these requests; `static/recovery.mjs` is the other end. What needs the author's
own functions and objects has been done there: candidates come as their scalars, failures as they are
described.
"""

from collections.abc import Callable
from typing import Any

from pedelec.call_text import CallFacts
from pedelec.catalogue import Code
from pedelec.errors import PedelecError, ToolError
from pedelec.json_text import JsonObject
from pedelec.recovery import candidates, choices, parts, upstream, versions
from pedelec.recovery.fallbacks import Plan, changed_nothing
from pedelec.recovery.reports import error_of
from pedelec.wire_fields import to_camel

type ReadFailure = Callable[[Any], BaseException]
"""Makes an exception of what JavaScript says of something that was thrown."""

_CONSTRUCTORS: dict[str, Callable[..., ToolError]] = {
    "retryable": ToolError.retryable,
    "permanent": ToolError.permanent,
    "userInput": ToolError.user_input,
    "authRequired": ToolError.auth_required,
    "notConfigured": ToolError.not_configured,
}
_FIELDS = {
    to_camel(name): name
    for name in (
        *("code", "message", "after", "question", "reconnect", "what", "how"),
        *("error_type", "reason", "recovery_steps", "options", "suggestions", "effects", "details"),
    )
}
_BAR = ("accept", "reject", "limit", "consequential")


def answer(function: str, given: JsonObject, read_failure: ReadFailure) -> JsonObject:
    """`{"value": …}`, or `{"error": …}`: an envelope without the steps that depend on the call."""
    try:
        return {"value": _FUNCTIONS[function](given, read_failure)}
    except PedelecError as error:
        return {"error": error.bare()}


def _tool_error(given: Any, _read_failure: ReadFailure) -> JsonObject:
    fields = {_FIELDS[name]: value for name, value in given.items() if name in _FIELDS}
    try:
        return _CONSTRUCTORS[given["kind"]](**fields).bare()
    except TypeError as error:
        raise PedelecError(Code.INVALID_INPUT, f"ToolError.{given['kind']}: {error}") from None


def _choose_one(given: Any, _read_failure: ReadFailure) -> int:
    known = given["candidates"]
    names = given.get("names") or candidates.names_of(known, given.get("key"))
    values = given.get("values") or candidates.values_of(known, names, given.get("value"))
    bar = choices.Bar(**{name: given[name] for name in _BAR if name in given})
    described = candidates.described(known, names, values)
    return choices.decide(given["query"], described, bar, given.get("argument"))


def _gather_parts(given: Any, read_failure: ReadFailure) -> JsonObject:
    failed = {name: error_of(read_failure(failure)) for name, failure in given["failed"].items()}
    call = given.get("call")
    facts = None if call is None else CallFacts(tool=call["tool"], args=call["args"])
    return parts.summary(given["names"], failed, facts, given.get("argument"))


def _first_that_works(given: Any, read_failure: ReadFailure) -> Any:
    """Who may be tried; with `worked` what to tell beside the result; with `exhausted` the error."""
    effects = {name: words or "" for name, words in given["effects"]}
    if len(effects) != len(given["effects"]):
        raise PedelecError(Code.INVALID_INPUT, "Two alternatives have the same name.")
    plan = Plan(effects, given["allow"], given.get("argument"))
    for name, described in given["failures"]:
        failure = read_failure(described)
        plan.failed(name, error_of(failure), changed_nothing(failure))
    if "worked" in given:
        return plan.outcome(given["worked"])
    if given.get("exhausted"):
        return plan.exhausted().bare()
    return [name for name in effects if plan.may_try(name)]


def _upstream_error(given: Any, read_failure: ReadFailure) -> JsonObject:
    failure = given["text"] if "text" in given else read_failure(given["failure"])
    named = {"service": given["service"]} if given.get("service") else {}
    return upstream.upstream_error(failure, **named).bare()


def _require_version(given: Any, _read_failure: ReadFailure) -> None:
    options = {name: given[name] for name in ("what", "read", "argument") if given.get(name)}
    versions.require_version(given["expected"], given["actual"], **options)


def _stale_call(given: Any, _read_failure: ReadFailure) -> JsonObject:
    return versions.stale_call(**{name: given[name] for name in ("what", "read") if given.get(name)}).bare()


_FUNCTIONS: dict[str, Callable[[Any, ReadFailure], Any]] = {
    "tool_error": _tool_error,
    "choose_one": _choose_one,
    "gather_parts": _gather_parts,
    "first_that_works": _first_that_works,
    "upstream_error": _upstream_error,
    "require_version": _require_version,
    "stale_call": _stale_call,
}
