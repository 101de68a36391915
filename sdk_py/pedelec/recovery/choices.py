"""`choose_one`: which of several things was meant, or who has to say.

Owns when a match is clear enough to go on with, and what an agent is told when it is not. How well a name
fits stands in `similarity`, what is read off a candidate in `candidates`.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pedelec.catalogue import Code
from pedelec.envelope import MAX_CHOICES
from pedelec.errors import PedelecError, ToolError
from pedelec.recovery.candidates import Candidate, Reader, described, names_of, values_of
from pedelec.recovery.similarity import EXACT, SAME_WORDS, similarity

logger = logging.getLogger("pedelec")

_MARGIN = 0.1
"""So much worse must the runner-up be."""
_CONSEQUENTIAL_ACCEPT = SAME_WORDS
_MAX_TELLING_FIELDS = 4
_MAX_FIELD_CHARS = 100
_NAMES_IN_MESSAGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """How sure one must be. `accept` and `reject` are similarities, 0 to 1."""

    accept: float = 0.9
    reject: float = 0.5
    limit: int = MAX_CHOICES
    consequential: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.reject <= self.accept <= 1 or self.limit < 1:
            problem = "It takes 0 <= reject <= accept <= 1, and a limit of at least 1."
            raise PedelecError(Code.INVALID_INPUT, problem)


def choose_one[T](
    query: str | float | None,
    candidates: Iterable[T],
    *,
    key: Reader | None = None,
    value: Reader | None = None,
    accept: float = 0.9,
    reject: float = 0.5,
    limit: int = MAX_CHOICES,
    consequential: bool = False,
    argument: str | None = None,
) -> T:
    """The one candidate that is clearly meant.

    A match is clear where it is at least `accept` and the runner-up is clearly worse, or where the text is
    the very name or value of one candidate alone.

    Args:
        query: what the caller asked for; a number is taken for its digits, None for nothing.
        candidates: strings, mappings or objects.
        key: what to compare with; unless given the string itself, or the field `name`, `label` or `title`.
        value: what a call says to mean just this candidate; unless given its `id`, or else its name.
        accept: similarity from which on a match is taken, 0 to 1.
        reject: similarity below which a candidate is no option.
        limit: options or suggestions in an error, at most; what is left out is counted.
        consequential: take nothing but the name itself (case, accents and punctuation aside), because the
            call cannot be undone.
        argument: the name of the call's argument that says which one; unless given it is the argument whose
            value is `query`.

    Raises:
        ToolError: `AMBIGUOUS_CHOICE` (class `userInput`) with the options and the call for each; `NO_MATCH`
            (class `permanent`) with the nearest as suggestions.
        PedelecError: `INVALID_INPUT` where names cannot be read or the thresholds contradict each other.
    """
    known = list(candidates)
    bar = Bar(accept=accept, reject=reject, limit=limit, consequential=consequential)
    names = names_of(known, key)
    return known[decide(query, described(known, names, values_of(known, names, value)), bar, argument)]


def decide(
    query: str | float | None, candidates: Sequence[Candidate], bar: Bar, argument: str | None = None
) -> int:
    """The index of the candidate that is meant; raises as `choose_one` does."""
    text = "" if query is None else str(query)
    scores = [_score(text, candidate) for candidate in candidates]
    ranked = sorted(range(len(scores)), key=lambda index: -scores[index])
    best = next(iter(ranked), None)
    if best is None or scores[best] < bar.reject:
        raise _no_match(text, [candidates[index].name for index in ranked], bar.limit)
    if _is_clear([scores[index] for index in ranked[:2]], bar):
        logger.info("“%s” was taken for “%s” (%.2f).", query, candidates[best].name, scores[best])
        return best
    options = [candidates[index] for index in ranked if scores[index] >= bar.reject]
    raise _ambiguous(text if query is None else query, options, bar.limit, argument)


def _is_clear(scores: list[float], bar: Bar) -> bool:
    best, *others = scores
    second = others[0] if others else 0.0
    if best == EXACT:
        return second < EXACT
    needed = max(bar.accept, _CONSEQUENTIAL_ACCEPT) if bar.consequential else bar.accept
    margin = 2 * _MARGIN if bar.consequential else _MARGIN
    return best >= needed and best - second >= margin


def _score(query: str, candidate: Candidate) -> float:
    return EXACT if str(candidate.value) == query else similarity(query, candidate.name)


# --- what the agent is told ---------------------------------------------------------------------------------


def _ambiguous(
    query: str | float, options: Sequence[Candidate], limit: int, argument: str | None
) -> ToolError:
    shown = options[:limit]
    telling = _telling_fields(shown)
    fields = [_picked(option.fields, telling) for option in shown]
    labels = _labels(shown, fields)
    names = [f"“{label}”" for label in labels[:_NAMES_IN_MESSAGE]]
    others = len(options) - len(names)
    details: dict[str, Any] = {
        "query": query,
        "names": " or ".join(names) + (f" or {others} others" if others else ""),
    }
    if argument is not None:
        details["argument"] = argument
    if len(options) > len(shown):
        details["leftOut"] = {"options": len(options) - len(shown)}
    values = [one.value for one in shown]
    told: list[dict[str, Any]] = [
        {"label": label, **({"value": value} if values.count(value) == 1 else {}), **own}
        for label, value, own in zip(labels, values, fields, strict=True)
    ]
    steps: list[str] = []
    if not any("value" in option for option in told):
        apart = f"no call can tell these {len(options)} apart"
        steps = [
            f"Do not repeat the same call: {apart}. Ask the user to rename one, or to choose at the page."
        ]
    return ToolError(Code.AMBIGUOUS_CHOICE, recovery_steps=steps, options=told, details=details)


def _no_match(query: str, names: Sequence[str], limit: int) -> ToolError:
    if not names:
        return ToolError(
            Code.NO_MATCH,
            f"“{query}” was not found: there is nothing to choose from yet. Nothing was done.",
            recovery_steps=["Tell the user that there is nothing to choose from yet."],
            suggestions=["The list is empty at the moment: the user has to add something first."],
            details={"query": query},
        )
    different = list(dict.fromkeys(names))
    nearest = " or ".join(f"“{name}”" for name in different[:_NAMES_IN_MESSAGE])
    details: dict[str, Any] = {"query": query, "nearest": nearest}
    if len(different) > limit:
        details["leftOut"] = {"suggestions": len(different) - limit}
    return ToolError(Code.NO_MATCH, suggestions=different[:limit], details=details)


def _labels(options: Sequence[Candidate], fields: Sequence[Mapping[str, Any]]) -> list[str]:
    """Their names; where two have the same one, what tells them apart stands behind it."""
    names = [option.name for option in options]
    values = [option.value for option in options]
    labels: list[str] = []
    for name, value, own in zip(names, values, fields, strict=True):
        telling = list(own.values()) or ([value] if values.count(value) == 1 else [])
        is_told = names.count(name) > 1 and telling
        labels.append(f"{name} ({', '.join(map(str, telling))})" if is_told else name)
    return labels


def _telling_fields(options: Sequence[Candidate]) -> list[str]:
    """The fields that tell the options apart, in the candidates' own order."""
    names = dict.fromkeys(name for option in options for name in option.fields)
    telling = [name for name in names if len({repr(_short(one.fields.get(name))) for one in options}) > 1]
    return [name for name in telling if name not in ("label", "value", "call")][:_MAX_TELLING_FIELDS]


def _picked(fields: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: _short(fields[name]) for name in names if name in fields}


def _short(value: Any) -> Any:
    return value[:_MAX_FIELD_CHARS] if isinstance(value, str) else value
