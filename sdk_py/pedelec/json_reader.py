"""The slow, exact way to read a value: in order, one step at a time, knowing where it stands.

Owns which subclasses count as their base, how foreign values join, and the order in which faults are found.
`json_safe` comes here once its look in bulk has met anything unusual.
"""

import json
from collections import OrderedDict
from typing import Any, Protocol

from pedelec import json_hints
from pedelec.json_errors import NotJsonSafeError, PathStep, TooLargeError, render_path
from pedelec.json_text import RawJson

MAX_SAFE_INT = 2**53 - 1


class ForeignValues(Protocol):
    """The part of `host.Host` that reads values of the page's other language."""

    def is_foreign(self, value: object) -> bool: ...

    def foreign_to_json(self, value: object) -> RawJson: ...


class Unreadable:
    """Stands in for a part of the text that has no exact value, until its path is known."""

    def __init__(self, type_name: str, hint: str) -> None:
        self.type_name = type_name
        self.hint = hint


_READING_METHODS: dict[type, tuple[str, ...]] = {
    dict: ("__iter__", "__getitem__", "__len__", "items", "keys", "values"),
    list: ("__iter__", "__getitem__", "__len__"),
    tuple: ("__iter__", "__getitem__", "__len__"),
}


class Reader:
    """Reads one value into plain types, in order, or says what is wrong and where (`steps`)."""

    def __init__(self, max_depth: int, max_bytes: int, host: ForeignValues | None) -> None:
        self.steps: list[PathStep] = []
        self._max_depth = max_depth
        self._max_bytes = max_bytes
        self._bytes = -1  # a lower bound: each value costs two bytes, but the last one no comma
        self._host = host
        self._open: set[int] = set()

    def read(self, value: object) -> Any:
        self._count(2)
        kind = type(value)
        if value is None or kind is bool:
            return value
        for base, read in self._readers:
            if issubclass(kind, base):
                return read(self, value)
        if kind is Unreadable:
            raise self._refusal(value.type_name, value.hint)  # type: ignore[attr-defined]
        if self._host is not None and self._host.is_foreign(value):
            return self._foreign(value, self._host)
        raise self._refusal_of(value)

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._max_bytes:
            raise TooLargeError(size=self._bytes, limit=self._max_bytes)

    def _text(self, value: Any) -> str:
        text = str.__str__(self._scalar(value, str))
        if not is_encodable(text):
            raise self._refusal("str", json_hints.SURROGATE)
        self._count(len(text))
        return text

    def _int(self, value: Any) -> int:
        number = int.__pos__(self._scalar(value, int))
        if not -MAX_SAFE_INT <= number <= MAX_SAFE_INT:
            raise self._refusal("int", json_hints.BIG_INT)
        return number

    def _float(self, value: Any) -> float:
        number = float.__pos__(self._scalar(value, float))
        if number - number != 0:
            raise self._refusal("float", json_hints.NAN)
        return number

    def _scalar(self, value: Any, base: type) -> Any:
        if type(value) is not base and json_hints.is_foreign_scalar(type(value)):
            raise self._refusal_of(value)
        return value

    def _object(self, value: Any) -> dict[str, Any]:
        self._enter(value, dict)
        # An OrderedDict keeps its order where dict.items does not look.
        pairs = list((OrderedDict if issubclass(type(value), OrderedDict) else dict).items(value))
        plain: dict[str, Any] = {}
        for key, member in pairs:
            name = self._key(key)
            if name in plain:
                raise self._refusal_of(value, json_hints.DUPLICATE_KEY)
            self.steps.append(name)
            plain[name] = self.read(member)
            self.steps.pop()
        self._open.discard(id(value))
        return plain

    def _key(self, key: Any) -> str:
        if not issubclass(type(key), str) or json_hints.is_foreign_scalar(type(key)):
            raise self._refusal(_type_name(type(key)), json_hints.KEY)
        name = str.__str__(key)
        if not is_encodable(name):
            raise self._refusal("str", json_hints.SURROGATE_KEY)
        self._count(len(name) + 3)
        return name

    def _array(self, value: Any) -> list[Any]:
        base = list if issubclass(type(value), list) else tuple
        self._enter(value, base)
        plain = []
        for index, item in enumerate(list(base.__iter__(value))):
            self.steps.append(index)
            plain.append(self.read(item))
            self.steps.pop()
        self._open.discard(id(value))
        return plain

    def _enter(self, value: Any, base: type) -> None:
        kind = type(value)
        if id(value) in self._open:
            raise self._refusal_of(value, json_hints.CYCLE)
        if len(self._open) >= self._max_depth:
            raise self._refusal_of(value, f"Nested more than {self._max_depth} deep: make it flatter.")
        if kind is not base and any(_overrides(kind, base, name) for name in _READING_METHODS[base]):
            raise self._refusal_of(value, json_hints.OVERRIDES)
        self._open.add(id(value))

    def _foreign(self, value: object, host: ForeignValues) -> Any:
        try:
            plain = json.loads(host.foreign_to_json(value).text)
        except NotJsonSafeError as error:
            raise error.below(render_path(self.steps)) from None
        return self.read(plain)

    _readers = ((str, _text), (int, _int), (float, _float), (dict, _object), (list, _array), (tuple, _array))

    def _refusal_of(self, value: object, hint: str | None = None) -> NotJsonSafeError:
        return self._refusal(_type_name(type(value)), hint or json_hints.hint_for(type(value)))

    def _refusal(self, type_name: str, hint: str) -> NotJsonSafeError:
        return NotJsonSafeError(path=render_path(self.steps), type_name=type_name, hint=hint)


def _overrides(kind: type, base: type, name: str) -> bool:
    owner = next(cls for cls in kind.__mro__ if name in cls.__dict__)
    return owner is not base and owner is not OrderedDict


def is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _type_name(kind: type) -> str:
    # Not `kind.__name__`: a metaclass may say anything there.
    return str(type.__dict__["__name__"].__get__(kind)).encode("utf-8", "replace").decode()
