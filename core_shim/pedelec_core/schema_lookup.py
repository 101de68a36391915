"""What a schema declares at the place where a validator found fault.

Owns the way from a finding to the part of the schema that it breaks, with references followed. Finds nothing
wrong itself, and no words for it.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from jsonschema_rs import ValidationError

from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.schema_parts import BadReferenceError, Part, of_same_value, whole

_MAX_PARTS: Final = 200
_MAX_REFERENCES: Final = 10
_SAME_OBJECT: Final = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})


class SchemaLookup:
    """Looks things up in one schema."""

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema

    @cached_property
    def _whole(self) -> Part:
        return whole(self._schema)

    def at_fault(self, error: ValidationError) -> Mapping[str, JsonValue]:
        """The schema with the keyword that is broken; empty where it cannot be found."""
        place = self._at(list(error.schema_path[:-1]))
        return place if isinstance(place, dict) else {}

    def is_closed(self, error: ValidationError) -> bool:
        """Whether the schema at fault refuses properties that are not declared."""
        fault = self.at_fault(error)
        return fault.get("additionalProperties") is False or fault.get("unevaluatedProperties") is False

    def known_properties(self, error: ValidationError) -> Mapping[str, JsonValue]:
        """The properties that the broken keyword takes for declared: `additionalProperties` sees few."""
        if error.kind.name == "additionalProperties":
            return _properties(self.at_fault(error))
        return self.all_properties(error)

    def all_properties(self, error: ValidationError) -> Mapping[str, JsonValue]:
        """The properties that are declared for the object at fault: by this schema and its parts."""
        base = self._whole[1]
        waiting: list[Part] = [(dict(self.at_fault(error)), base)]
        found: dict[str, JsonValue] = {}
        for _ in range(_MAX_PARTS):
            if not waiting:
                break
            part = waiting.pop(0)
            found = {**_properties(part[0]), **found}
            try:
                waiting += of_same_value(part)
            except BadReferenceError:
                continue
        return found

    def declared(self, error: ValidationError, name: str) -> JsonValue:
        """What a property of the object at fault must be, by the schema at fault or those around it."""
        path = list(error.schema_path[:-1])
        while name not in (known := _properties(self._at(path))):
            if not _SAME_OBJECT.intersection(map(str, path[-2:])):
                return None
            path.pop()
        return self._followed(known[name])

    def _at(self, path: list[str | int]) -> JsonValue:
        place: JsonValue = self._schema
        for part in path:
            if isinstance(place, dict):
                place = place.get(str(part))
            elif isinstance(place, list) and isinstance(part, int) and part < len(place):
                place = place[part]
        return place

    def _followed(self, schema: JsonValue) -> JsonValue:
        part: Part = (schema, self._whole[1])
        for _ in range(_MAX_REFERENCES):
            reference = part[0].get("$ref") if isinstance(part[0], dict) else None
            if not isinstance(reference, str):
                break
            try:
                part = part[1].resolve(reference)[0]
            except BadReferenceError:
                return None
        return part[0]


def _properties(schema: JsonValue | Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, dict) else {}
