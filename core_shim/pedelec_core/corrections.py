"""Arguments as they were probably meant, where that can be told.

Owns what may be inferred: a misspelt key or enum value, a number or list that came as text, a value that
the schema leaves no choice about. Guesses nothing: what cannot be inferred makes the whole attempt void,
and a correction is one only if the validator accepts it.
"""

import copy
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final

from jsonschema_rs import ValidationError, Validator

from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.violations import known_properties, nearest, unquoted

_MAX_ROUNDS: Final = 4
_MAX_ERRORS: Final = 10


def corrected(args: JsonObject, schema: JsonObject, validator: Validator) -> JsonObject | None:
    """Arguments that fit the schema and say the same, or None.

    Args:
        args: what came, which the validator refuses.
        schema: the schema.
        validator: its validator.
    """
    fixed = copy.deepcopy(args)
    for _ in range(_MAX_ROUNDS):
        errors = list(islice(validator.iter_errors(fixed), _MAX_ERRORS + 1))
        if not errors:
            return fixed
        if len(errors) > _MAX_ERRORS or not _fix_some(errors, fixed, schema):
            return None
    return fixed if validator.is_valid(fixed) else None


def _fix_some(errors: list[ValidationError], args: JsonObject, schema: JsonObject) -> bool:
    """Fix what can be; what is missing only once nothing else can be, since it may be there misspelt."""
    present = [error for error in errors if error.kind.name != "required"]
    missing = [error for error in errors if error.kind.name == "required"]
    for group in (present, missing):
        fixes = [_fix(error, args, schema) for error in group]
        if any(fixes):
            return True
    return False


def _fix(error: ValidationError, args: JsonObject, schema: JsonObject) -> bool:
    fix = _FIXES.get(error.kind.name)
    return fix is not None and fix(error, args, schema)


def _rename_keys(error: ValidationError, args: JsonObject, schema: JsonObject) -> bool:
    place = _value_at(args, error.instance_path)
    known = known_properties(error, schema)
    for key in error.kind.as_dict()["unexpected"]:
        near = nearest(key, [name for name in known if name not in place])
        if not near:
            return False
        items = [(near[0] if name == key else name, value) for name, value in place.items()]
        place.clear()
        place.update(items)
    return True


def _take_nearest(error: ValidationError, args: JsonObject, _schema: JsonObject) -> bool:
    facts = error.kind.as_dict()
    options = facts.get("options", [facts.get("expected_value")])
    texts = [option for option in options if isinstance(option, str)]
    near = nearest(error.instance, texts) if isinstance(error.instance, str) else []
    return bool(near) and _put(args, error.instance_path, near[0])


def _unquote(error: ValidationError, args: JsonObject, _schema: JsonObject) -> bool:
    value = unquoted(error.instance, error.kind.as_dict()["types"])
    return value is not None and _put(args, error.instance_path, value)


def _fill_in(error: ValidationError, args: JsonObject, schema: JsonObject) -> bool:
    name = error.kind.as_dict()["property"]
    wanted = known_properties(error, schema).get(name)
    choices = _only_choices(wanted) if isinstance(wanted, dict) else []
    return len(choices) == 1 and _put(args, [*error.instance_path, name], choices[0])


def _only_choices(wanted: Mapping[str, JsonValue]) -> list[JsonValue]:
    for keyword in ("default", "const"):
        if keyword in wanted:
            return [wanted[keyword]]
    options = wanted.get("enum")
    return options if isinstance(options, list) else []


def _value_at(args: JsonObject, path: Any) -> Any:
    value: Any = args
    for part in path:
        value = value[part]
    return value


def _put(args: JsonObject, path: Any, value: JsonValue) -> bool:
    if not path:
        return False
    *way, last = path
    _value_at(args, way)[last] = value
    return True


_FIXES: Final[Mapping[str, Callable[[ValidationError, JsonObject, JsonObject], bool]]] = {
    "additionalProperties": _rename_keys,
    "unevaluatedProperties": _rename_keys,
    "enum": _take_nearest,
    "const": _take_nearest,
    "type": _unquote,
    "required": _fill_in,
}
