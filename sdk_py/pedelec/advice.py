"""What to do after a failed call, with the calls to make written out.

Owns how an error that was made without knowing the call is told to the agent that made it: the catalogue's
sentences filled in, the delay put into words, and for each option the call that chooses it. Works on what the
envelope says, so it serves errors of Python's and of JavaScript's alike. No I/O.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pedelec.call_text import CallFacts
from pedelec.catalogue import Code, Effects, ErrorClass
from pedelec.envelope import bounded
from pedelec.errors import PedelecError, rendered_all

ANSWER = "<answer>"
"""Stands in a call for what the user answers."""

_MAX_CHOICES_CHARS = 240
_MAX_LABEL_CHARS = 60


def advise(error: PedelecError, call: CallFacts) -> dict[str, Any]:
    """The error's envelope, for the agent that made `call`. Steps that the error brings along stay."""
    envelope = error.to_wire(call.door)
    details = error.details if isinstance(error.details, dict) else {}
    options = [
        _with_call(option, details, call) for option in _choosable(envelope.get("options", ()), details)
    ]
    steps = envelope["recoverySteps"] if error.recovery_steps else _steps(error, details, options, call)
    return _without_half_a_call(bounded({**envelope, "options": options, "recoverySteps": steps}), details)


def _without_half_a_call(envelope: dict[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """Corrected arguments that did not fit whole are none: an agent would take them for what to send."""
    told = envelope.get("details")
    if not isinstance(told, dict) or told.get("correctedArgs") == details.get("correctedArgs"):
        return envelope
    kept = {key: value for key, value in told.items() if key != "correctedArgs"}
    return {**envelope, "details": kept}


def _steps(error: PedelecError, details: dict[str, Any], options: list[Any], call: CallFacts) -> list[str]:
    facts = {**error.facts(), **_call_facts(details, options, call)}
    facts |= call.door.words(facts)
    known = rendered_all(error.usual_steps(), facts)
    if error.is_retryable and not known:
        # Of an error that the page's author made retryable, the author knows that it may be repeated.
        author_knows = error.code != Code.TOOL_HANDLER_ERROR
        safe = author_knows or call.safe_to_repeat or error.effects == Effects.NONE
        return rendered_all(_RETRY if safe else _RETRY_AFTER_CHECK, facts)
    if known:
        return known
    if error.error_class == ErrorClass.AUTH_REQUIRED:
        return rendered_all(_RECONNECT if "reconnect" in facts else _RENEW, facts)
    if error.error_class == ErrorClass.USER_INPUT:
        return rendered_all(_ask(facts), facts)
    return []


_RETRY = ("Wait {retryAfterSeconds} s, then make the same call: {call}",)
_RETRY_AFTER_CHECK = (
    "See whether it took effect all the same: {check}",
    "If it did not, wait {retryAfterSeconds} s, then make the same call: {call}",
)
_DONE = "When the user says that it is done: {call}"
_RECONNECT = ("Ask the user to renew access: {reconnect}", _DONE)
_RENEW = ("Ask the user to renew the page's access to {service}.", _DONE)


def _ask(facts: Mapping[str, object]) -> tuple[str, ...]:
    ask = "Ask the user: {question} " if "question" in facts else "Ask the user which one is meant"
    if "choices" in facts:
        then = "Then make the call of the answer: " if "question" in facts else ", then make its call: "
        return (ask + then + "{choices}",)
    if "names" in facts:
        return (ask.rstrip() + ": {names}", "Then make the same call with the answer in it: {call}")
    if "question" not in facts:
        return ("Tell the user what is needed. When the user says that it is done: {call}",)
    then = "Then call with the answer in its place: {answered}" if "answered" in facts else "Then: {call}"
    return ("Ask the user: {question}", then)


def _call_facts(details: dict[str, Any], options: list[Any], call: CallFacts) -> dict[str, str]:
    facts = {"tool": call.door.name_of(call.tool), "call": call.text(), "check": call.check()}
    if isinstance(details.get("nearest"), str):
        facts["nearestCall"] = replace(call, tool=details["nearest"]).text()
    if isinstance(details.get("correctedArgs"), dict):
        facts["corrected"] = call.corrected(details["correctedArgs"])
    facts["read"] = str(details.get("read") or call.check())
    facts["service"] = str(details.get("service") or "the service that it uses")
    if isinstance(details.get("argument"), str):
        facts["answered"] = call.text({details["argument"]: ANSWER})
    if "current" in details:
        name = details.get("argument") or call.argument_holding(details.get("expected"))
        if name:
            facts["again"] = call.text({name: details["current"]})
    if options:
        has_calls = any(isinstance(option, dict) and "call" in option for option in options)
        facts["choices" if has_calls else "names"] = _choices(options)
    return facts


def _choosable(options: Sequence[Any], details: Mapping[str, Any]) -> Sequence[Any]:
    """Plain values as options of an argument that is known: each is its own label."""
    if "argument" not in details or any(isinstance(option, (dict, list)) for option in options):
        return options
    return [{"label": str(option), "value": option} for option in options]


def _choices(options: list[Any]) -> str:
    """The first options with their calls, as many as leave the step within what is shown."""
    told = ""
    for count, option in enumerate(options):
        longer = f"{told}; {_choice(option)}" if told else _choice(option)
        if count and len(longer) > _MAX_CHOICES_CHARS:
            return f"{told}; {len(options) - count} more in options"
        told = longer
    return told


def _choice(option: Any) -> str:
    if not isinstance(option, dict):
        return f"“{str(option)[:_MAX_LABEL_CHARS]}”"
    label = str(option.get("label", option.get("value", "")))[:_MAX_LABEL_CHARS]
    return f"“{label}”: {option['call']}" if "call" in option else f"“{label}”"


def _with_call(option: Any, details: dict[str, Any], call: CallFacts) -> Any:
    """An option that names a value, with the call that chooses it."""
    if not isinstance(option, dict) or "value" not in option or "call" in option:
        return option
    name = details.get("argument") or call.argument_holding(details.get("query"))
    if not isinstance(name, str) or not name:
        return option
    label = {key: option[key] for key in ("label",) if key in option}
    return {**label, "call": call.text({name: option["value"]}), **option}
