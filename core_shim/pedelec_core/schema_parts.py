"""The parts of a JSON Schema: which of them check the same value, and where references lead.

Owns which keywords hold schemas, and the resolution of references, which may lead nowhere but into the same
schema. Knows nothing of budgets.
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from pedelec.json_text import JsonObject, JsonValue

type Part = tuple[JsonValue, "Base"]
"""A schema inside the schema, and what its references are relative to."""

_SAME_VALUE_ONE: Final = ("not", "if", "then", "else")
_SAME_VALUE_LIST: Final = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_MAP: Final = ("dependentSchemas", "dependencies")
_MEMBERS_ONE: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS_ONE: Final = ("items", "additionalItems", "unevaluatedItems", "contains")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_NAMES: Final = ("$anchor", "$dynamicAnchor")


class BadReferenceError(ValueError):
    """A reference leads out of its schema, or nowhere."""


class Base:
    """A schema that references are relative to: the whole one, or a part with an `$id` of its own."""

    def __init__(self, root: JsonObject, ids: "dict[str, Base]") -> None:
        self.root = root
        self._ids = ids
        self._anchors: dict[str, list[JsonValue]] = {}
        self._read(root, first=True)

    def _read(self, value: JsonValue, *, first: bool = False) -> None:
        """Find the ids and anchors anywhere in it. (Data that looks like one, in an `enum`, does no harm.)"""
        if isinstance(value, list):
            for item in value:
                self._read(item)
        elif isinstance(value, dict):
            own_id = value.get("$id")
            if isinstance(own_id, str) and not own_id.startswith("#") and not first:
                self._ids.setdefault(own_id.removesuffix("#"), Base(value, self._ids))
                return
            for name in _NAMES:
                if isinstance(anchor := value.get(name), str):
                    self._anchors.setdefault(anchor, []).append(value)
            for member in value.values():
                self._read(member)

    def entered(self, schema: JsonValue) -> "Base":
        """What references in a part of it are relative to."""
        own_id = schema.get("$id") if isinstance(schema, dict) else None
        known = self._ids.get(own_id.removesuffix("#")) if isinstance(own_id, str) else None
        return self if known is None or known.root is not schema else known

    def resolve(self, reference: str) -> list[Part]:
        """Where a reference may lead: to one part, or for a dynamic one to several.

        Raises:
            BadReferenceError: it does not lead to a part of the same schema.
        """
        uri, _, fragment = reference.partition("#")
        base = self if not uri else self._ids.get(uri)
        if base is None:
            raise BadReferenceError(f"{reference[:200]!r} leads out of the schema")
        found = base.part(unquote(fragment))
        if not found:
            raise BadReferenceError(f"{reference[:200]!r} leads nowhere")
        return [(target, base.entered(target)) for target in found]

    def part(self, fragment: str) -> list[JsonValue]:
        """What a fragment names: a JSON Pointer (RFC 6901) or an anchor."""
        if not fragment:
            return [self.root]
        if not fragment.startswith("/"):
            return self._anchors.get(fragment, [])
        value: JsonValue = self.root
        for step in fragment[1:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901 - the same step, read
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return []
        return [value]


def whole(schema: JsonObject) -> Part:
    """The schema itself."""
    ids: dict[str, Base] = {}
    base = Base(schema, ids)
    if isinstance(own_id := schema.get("$id"), str):
        ids.setdefault(own_id.removesuffix("#"), base)
    return schema, base


def of_same_value(part: Part) -> Iterator[Part]:
    """The parts that check the same value as this one, its references' targets among them."""
    schema, base = part
    if not isinstance(schema, dict):
        return
    for name in _SAME_VALUE_ONE:
        if name in schema:
            yield schema[name], base.entered(schema[name])
    for name in _SAME_VALUE_LIST:
        yield from _each(schema.get(name), base)
    for name in _SAME_VALUE_MAP:
        yield from _each_value(schema.get(name), base)
    for name in _REFERENCES:
        if isinstance(reference := schema.get(name), str):
            yield from base.resolve(reference)


def of_member(part: Part, name: str) -> Iterator[Part]:
    """The parts that may check a member of an object. All patterns are taken to match."""
    schema, base = part
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict) and name in properties:
        yield properties[name], base.entered(properties[name])
    yield from _each_value(schema.get("patternProperties"), base)
    for keyword in _MEMBERS_ONE:
        if isinstance(schema.get(keyword), dict):
            yield schema[keyword], base.entered(schema[keyword])


def has_items(part: Part) -> bool:
    """Whether any part checks the items of a list."""
    schema = part[0]
    return isinstance(schema, dict) and any(keyword in schema for keyword in ("prefixItems", *_ITEMS_ONE))


def of_item(part: Part, index: int) -> Iterator[Part]:
    """The parts that may check an item of a list."""
    schema, base = part
    if not isinstance(schema, dict):
        return
    for keyword in ("prefixItems", "items"):
        tuple_of = schema.get(keyword)
        if isinstance(tuple_of, list) and index < len(tuple_of):
            yield tuple_of[index], base.entered(tuple_of[index])
    for keyword in _ITEMS_ONE:
        if isinstance(schema.get(keyword), dict):
            yield schema[keyword], base.entered(schema[keyword])


def of_any(part: Part) -> Iterator[Part]:
    """All parts that check the same value, a member or an item, each once."""
    schema, base = part
    yield from of_same_value(part)
    if isinstance(schema, dict):
        for keyword in ("properties", "patternProperties"):
            yield from _each_value(schema.get(keyword), base)
        for keyword in ("prefixItems", "items"):
            yield from _each(schema.get(keyword), base)
        for keyword in (*_MEMBERS_ONE, *_ITEMS_ONE):
            if isinstance(schema.get(keyword), dict):
                yield schema[keyword], base.entered(schema[keyword])


def repeats(schema: JsonValue) -> int:
    """How often the parts of the same value are looked at: once more for each keyword about what is left."""
    if not isinstance(schema, dict):
        return 1
    return 1 + ("unevaluatedProperties" in schema) + ("unevaluatedItems" in schema)


def _each(value: JsonValue, base: Base) -> Iterator[Part]:
    if isinstance(value, list):
        for item in value:
            yield item, base.entered(item)


def _each_value(value: JsonValue, base: Base) -> Iterator[Part]:
    if isinstance(value, dict):
        for member in value.values():
            yield member, base.entered(member)
