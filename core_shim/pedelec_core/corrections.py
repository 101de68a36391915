"""Arguments as they were probably meant, where that can be told.

Owns what may be inferred: a misspelt key or enum value, a number or list that came as text, a value that
the schema leaves no choice about. Guesses nothing: what cannot be inferred makes the whole attempt void,
and a correction is one only if the validator accepts it.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from jsonschema_rs import ValidationError, Validator

from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.alternatives import alternatives
from pedelec_core.near_misses import misspelt, nearest, nearest_option, unquoted
from pedelec_core.schema_lookup import SchemaLookup

_MAX_ROUNDS: Final = 4
_MAX_ERRORS: Final = 10


def corrected(args: JsonObject, schema: JsonObject, validator: Validator) -> JsonObject | None:
    """Arguments that fit the schema and say the same, or None.

    Args:
        args: what came, which the validator refuses.
        schema: the schema.
        validator: its validator.
    """
    attempt = _Attempt(copy.deepcopy(args), SchemaLookup(schema))
    for _ in range(_MAX_ROUNDS):
        errors = list(islice(validator.iter_errors(attempt.args), _MAX_ERRORS + 1))
        if not errors:
            return attempt.args
        if len(errors) > _MAX_ERRORS or not attempt.fix_some(errors):
            return None
    return attempt.args if validator.is_valid(attempt.args) else None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Arguments on their way to what was meant. Each fix returns whether it changed something."""

    args: JsonObject
    schema: SchemaLookup

    def fix_some(self, errors: Sequence[ValidationError]) -> bool:
        """Fix what can be; what is missing only once nothing else can be, since it may be there misspelt."""
        present = [error for error in errors if error.kind.name != "required"]
        missing = [error for error in errors if error.kind.name == "required"]
        for group in (present, missing):
            fixes = [self._fix(error) for error in group]
            if any(fixes):
                return True
        return False

    def _fix(self, error: ValidationError) -> bool:
        match error.kind.name:
            case "additionalProperties" | "unevaluatedProperties":
                return self._rename_keys(error)
            case "enum" | "const":
                return self._take_nearest(error)
            case "type":
                types = error.kind.as_dict()["types"]
                return self._unquote(error, types, self.schema.at_fault(error))
            case "anyOf" | "oneOf":
                return self._fit_alternative(error)
            case "required":
                return self._fill_in(error)
            case _:
                return False

    def _rename_keys(self, error: ValidationError) -> bool:
        place = self._value_at(error.instance_path)
        known = self.schema.known_properties(error)
        for key in error.kind.as_dict()["unexpected"]:
            near = nearest(key, [name for name in known if name not in place])
            if not near:
                return False
            _rename(place, key, near[0])
        return True

    def _take_nearest(self, error: ValidationError) -> bool:
        facts = error.kind.as_dict()
        instance: Any = error.instance
        near = nearest_option(instance, facts.get("options", [facts.get("expected_value")]))
        return near is not None and self._put(error.instance_path, near)

    def _unquote(self, error: ValidationError, types: Sequence[str], wanted: Mapping[str, JsonValue]) -> bool:
        instance: Any = error.instance
        value = unquoted(instance, types, wanted)
        return value is not None and self._put(error.instance_path, value)

    def _fit_alternative(self, error: ValidationError) -> bool:
        found = alternatives(error)
        if found.types:
            return self._unquote(error, found.types, {})
        return bool(found.closest) and self.fix_some(found.closest)

    def _fill_in(self, error: ValidationError) -> bool:
        name = error.kind.as_dict()["property"]
        place = self._value_at(error.instance_path)
        if name in place:  # since another fix
            return False
        instead = misspelt(name, place, self.schema.all_properties(error))
        if instead is not None and not self.schema.is_closed(error):
            _rename(place, instead, name)
            return True
        wanted = self.schema.declared(error, name)
        choices = _only_choices(wanted) if isinstance(wanted, dict) else []
        return len(choices) == 1 and self._put([*error.instance_path, name], choices[0])

    def _value_at(self, path: Iterable[str | int]) -> Any:
        value: Any = self.args
        for part in path:
            value = value[part]
        return value

    def _put(self, path: Sequence[str | int], value: JsonValue) -> bool:
        if not path:
            return False
        *way, last = path
        self._value_at(way)[last] = value
        return True


def _only_choices(wanted: Mapping[str, JsonValue]) -> list[JsonValue]:
    for keyword in ("default", "const"):
        if keyword in wanted:
            return [wanted[keyword]]
    options = wanted.get("enum")
    return options if isinstance(options, list) else []


def _rename(place: dict[str, Any], key: str, name: str) -> None:
    """Give a key another name in the same place."""
    items = [(name if each == key else each, value) for each, value in place.items()]
    place.clear()
    place.update(items)
