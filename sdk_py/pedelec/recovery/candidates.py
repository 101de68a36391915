"""What choosing needs to know of the things that an author chooses among.

Owns how it is read off strings, mappings and objects, and how it is said in JSON.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pedelec.catalogue import Code
from pedelec.errors import PedelecError
from pedelec.json_safe import MAX_SAFE_INT

_NAME_FIELDS = ("name", "label", "title")

type Reader = str | Callable[[Any], Any]
"""How to read something off a candidate: the name of a field, or a function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What choosing needs of a thing: its name, the value that means it in a call, its other fields."""

    name: str
    value: Any
    fields: Mapping[str, Any]


def names_of(candidates: Sequence[Any], key: Reader | None) -> list[str]:
    """What the query is compared with; see `choose_one`."""
    fields = [_fields_of(candidate) for candidate in candidates]
    return [
        str(_read(one, own, key or _name_field(one, own)))
        for one, own in zip(candidates, fields, strict=True)
    ]


def values_of(candidates: Sequence[Any], names: Sequence[str], value: Reader | None) -> list[Any]:
    """What a call says to mean each candidate; see `choose_one`."""
    fields = [_fields_of(candidate) for candidate in candidates]
    pairs = list(zip(candidates, fields, strict=True))
    if value is None and not all(_has(one, own, "id") for one, own in pairs):
        return list(names)
    return [_in_json(_read(one, own, value or "id")) for one, own in pairs]


def described(candidates: Sequence[Any], names: Sequence[str], values: Sequence[Any]) -> list[Candidate]:
    """The candidates as far as choosing needs them."""
    return [
        Candidate(name=name, value=value, fields=_scalars(_fields_of(one), (name, value)))
        for one, name, value in zip(candidates, names, values, strict=True)
    ]


_PLAIN = (str, bytes, int, float, type(None))
"""Candidates that are their own name; what their types have under such names are methods."""


def _fields_of(candidate: Any) -> Mapping[str, Any]:
    if isinstance(candidate, Mapping):
        return candidate
    if isinstance(candidate, _PLAIN):
        return {}
    if hasattr(candidate, "_asdict"):  # a named tuple
        named: Mapping[str, Any] = candidate._asdict()
        return named
    slots = [name for kind in type(candidate).__mro__ for name in _listed(getattr(kind, "__slots__", ()))]
    held = {name: getattr(candidate, name) for name in reversed(slots) if hasattr(candidate, name)}
    return held | getattr(candidate, "__dict__", {})


def _listed(slots: str | Iterable[str]) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)


def _has(candidate: Any, fields: Mapping[str, Any], name: str) -> bool:
    """Whether it has a field, or a property, of that name."""
    if name in fields:
        return True
    is_object = not isinstance(candidate, (*_PLAIN, Mapping))
    return is_object and not callable(getattr(candidate, name, len))


def _name_field(candidate: Any, fields: Mapping[str, Any]) -> Reader:
    return next((name for name in _NAME_FIELDS if _has(candidate, fields, name)), str)


def _read(candidate: Any, fields: Mapping[str, Any], reader: Reader) -> Any:
    if callable(reader):
        return reader(candidate)
    if reader in fields:
        return fields[reader]
    if hasattr(candidate, reader):
        return getattr(candidate, reader)
    raise PedelecError(Code.INVALID_INPUT, f"A candidate has no field {reader!r}.", details={"field": reader})


def _scalars(fields: Mapping[str, Any], known: tuple[Any, ...]) -> dict[str, Any]:
    said = {str(name): _in_json(value) for name, value in fields.items() if _is_sayable(value)}
    return {name: value for name, value in said.items() if not name.startswith("_") and value not in known}


_TEXT_TYPES = frozenset({"Decimal", "UUID"})
"""By name: to import them costs a page time, and few have any."""


def _is_sayable(value: object) -> bool:
    """Whether one such value says something to a person."""
    return (
        isinstance(value, (str, int, float, Enum)) or _is_moment(value) or type(value).__name__ in _TEXT_TYPES
    )


def _is_moment(value: object) -> bool:
    return hasattr(value, "isoformat") and not isinstance(value, type)


def _in_json(value: Any) -> Any:
    """A value as a call or an option says it: numbers that JSON has not, dates and the like as text."""
    if isinstance(value, Enum):
        return _in_json(value.value)
    if _is_moment(value):
        return value.isoformat()
    if type(value).__name__ in _TEXT_TYPES:
        return str(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and not abs(value) <= MAX_SAFE_INT else value
