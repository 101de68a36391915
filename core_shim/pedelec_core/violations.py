"""What is wrong with a call's arguments, in words that the caller can act on.

Owns the wording of every way in which arguments can break a schema, and the shape of a violation:

    path        JSON Pointer (RFC 6901) to the value; for a missing one, to where it belongs
    message     what is wrong there, readable without the path
    expected    what the schema wants
    got         what was found: its type, and its value where that is short
    allowed     the values or keys that are allowed, where they are few
    suggestion  the nearest one of them

Finds nothing wrong itself: the validator does that.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from jsonschema_rs import ValidationError
from rapidfuzz import fuzz, process

from pedelec.errors import Code, PedelecError
from pedelec.json_safe import render_path
from pedelec.json_text import JsonObject, JsonValue, encode_value

MAX_VIOLATIONS: Final = 50

_IN_MESSAGE: Final = 8
_ALLOWED_SHOWN: Final = 20
_PREVIEW_CHARS: Final = 60
_SIMILARITY: Final = 60.0

type Path = Sequence[str | int]
type Violation = JsonObject


def args_invalid(
    violations: list[Violation], *, tool: str = "", corrected: JsonObject | None = None
) -> PedelecError:
    """The one error for arguments that cannot be used, with everything that is wrong with them.

    Args:
        violations: at least one.
        tool: the tool's name, where it is known.
        corrected: the arguments as they were meant, where that can be told.
    """
    shown = [str(violation["message"]) for violation in violations[:_IN_MESSAGE]]
    if len(violations) > len(shown):
        shown.append(f"{len(violations) - len(shown)} more in details.violations")
    details: JsonObject = {"violations": [*violations]}
    if corrected is not None:
        details["correctedArgs"] = corrected
    return PedelecError(
        Code.TOOL_ARGS_INVALID,
        f"Arguments{f' of {tool}' if tool else ''}: {'; '.join(shown)}.",
        suggestions=[violation["suggestion"] for violation in violations if "suggestion" in violation],
        details=details,
    )


def describe(errors: Iterable[ValidationError], schema: JsonObject) -> list[Violation]:
    """Put a validator's findings into words.

    Args:
        errors: what it found, at least one.
        schema: the whole schema, to look up what it does allow.
    """
    violations: list[Violation] = []
    for error in errors:
        violations += _of_error(error, schema)
        if len(violations) >= MAX_VIOLATIONS:
            break
    return violations[:MAX_VIOLATIONS]


def nearest(name: str, known: Iterable[str], limit: int = 1) -> list[str]:
    """The known names that a misspelt one may have meant, best first.

    How its words are joined and capitalised makes no difference.
    """
    matches = process.extract(
        name[:200], list(known), scorer=fuzz.ratio, processor=_fold, score_cutoff=_SIMILARITY, limit=limit
    )
    return [match[0] for match in matches]


def _fold(name: str) -> str:
    return "".join(character for character in name if character.isalnum()).lower()


def json_pointer(path: Path) -> str:
    """A path as a JSON Pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _violation(path: Path, problem: str, **facts: JsonValue) -> Violation:
    """One violation; `problem` completes a sentence that begins with the place.

    Messages have paths like `$.rows[3]`: from error messages, whatever looks like a file's path is removed.
    """
    return {"path": json_pointer(path), "message": f"{render_path(path)} {problem}", **facts}


def _of_error(error: ValidationError, schema: JsonObject) -> list[Violation]:
    facts = error.kind.as_dict()
    path = error.instance_path
    special = _SPECIAL.get(error.kind.name)
    if special is not None:
        return special(error, schema)
    wording = _WORDING.get(error.kind.name)
    if wording is None or "error" in facts:  # a keyword without words here, or a pattern that gave up
        return [_violation(path, f"is refused by {error.kind.name}: {_cut(error.message, 200)}")]
    expected = wording(facts)
    got = _preview(error.instance)
    return [_violation(path, f"must be {expected}, got {got}", expected=expected, got=got)]


def _wrong_type(error: ValidationError, _schema: JsonObject) -> list[Violation]:
    return [_type_violation(error.instance_path, error.kind.as_dict()["types"], error.instance)]


def _type_violation(path: Path, types: Sequence[str], instance: Any) -> Violation:
    expected, got = " or ".join(sorted(types, key=lambda name: name == "null")), _preview(instance)
    facts: JsonObject = {"expected": expected, "got": got}
    meant = unquoted(instance, types)
    if meant is not None:
        facts["suggestion"] = meant
        return _violation(path, f"must be {expected}, got {got}: write {encode_value(meant)}", **facts)
    return _violation(path, f"must be {expected}, got {got}", **facts)


def unquoted(instance: Any, types: Sequence[str]) -> JsonValue:
    """The number, boolean, list or object that was meant where its JSON came inside a string."""
    if not isinstance(instance, str) or len(instance) > _PREVIEW_CHARS:
        return None
    try:
        value = json.loads(instance)
    except (ValueError, RecursionError):
        return None
    name = type_name(value)
    fits = name in types or (name == "integer" and "number" in types)
    return value if fits and value == value and abs(value if name in _NUMBERS else 0) < 2**53 else None


def _missing(error: ValidationError, schema: JsonObject) -> list[Violation]:
    name = error.kind.as_dict()["property"]
    expected = _wanted(known_properties(error, schema).get(name))
    path = [*error.instance_path, name]
    return [
        _violation(
            path,
            f"is missing{f' (it must be {expected})' if expected else ''}",
            expected=expected or "a value",
            got="nothing",
        )
    ]


def _unknown(error: ValidationError, schema: JsonObject) -> list[Violation]:
    known = known_properties(error, schema)
    return [_unknown_key(error.instance_path, key, known) for key in error.kind.as_dict()["unexpected"]]


def _unknown_key(path: Path, key: str, known: Mapping[str, JsonValue]) -> Violation:
    allowed: list[JsonValue] = list(known)
    facts: JsonObject = {"allowed": allowed[:_ALLOWED_SHOWN]}
    near = nearest(key, known)
    if near:
        facts["suggestion"] = near[0]
        return _violation([*path, key], f"is not a known key: did you mean {encode_value(near[0])}?", **facts)
    names = ", ".join(list(known)[:_ALLOWED_SHOWN])
    return _violation([*path, key], f"is not a known key; known are: {names or 'none'}", **facts)


def _not_allowed(error: ValidationError, _schema: JsonObject) -> list[Violation]:
    facts = error.kind.as_dict()
    options = facts["options"] if "options" in facts else [facts["expected_value"]]
    shown = [_preview_value(option) for option in options[:_ALLOWED_SHOWN]]
    more = f" or {len(options) - len(shown)} others" if len(options) > len(shown) else ""
    told: JsonObject = {
        "expected": ("one of " if len(options) > 1 else "") + ", ".join(shown) + more,
        "got": _preview(error.instance),
        "allowed": options[:_ALLOWED_SHOWN],
    }
    hint = ""
    texts = [option for option in options if isinstance(option, str)]
    if isinstance(error.instance, str) and (near := nearest(error.instance, texts)):
        told["suggestion"] = near[0]
        hint = f": did you mean {_preview_value(near[0])}?"
    return [_violation(error.instance_path, f"must be {told['expected']}, got {told['got']}{hint}", **told)]


def _bad_key(error: ValidationError, _schema: JsonObject) -> list[Violation]:
    inner: ValidationError = error.kind.as_dict()["error"]
    key = str(inner.instance)
    return [_violation([*error.instance_path, key], f"is not an allowed key: {_cut(inner.message, 200)}")]


def _no_alternative(error: ValidationError, schema: JsonObject) -> list[Violation]:
    """Every alternative was refused: tell of the closest one, or of the types if only these are wrong."""
    branches: list[list[ValidationError]] = error.kind.as_dict()["context"]
    if any(not branch for branch in branches):
        return [
            _violation(error.instance_path, "fits more than one of the alternatives, and must fit just one")
        ]
    types = [_type_mismatch(branch, error.instance_path) for branch in branches]
    if all(types):
        wanted = list(dict.fromkeys(name for names in types for name in names))
        return [_type_violation(error.instance_path, wanted, error.instance)]
    candidates = [branch for branch, names in zip(branches, types, strict=True) if not names]
    closest = min(candidates, key=_distance)
    violations = describe(closest, schema)
    if len(candidates) > 1:
        for found in violations:
            found["message"] = f"{found['message']} (for the closest of {len(candidates)} alternatives)"
    return violations


def _type_mismatch(branch: list[ValidationError], path: Path) -> list[str]:
    """The types that an alternative wanted, where it was refused for its type alone."""
    first = branch[0]
    if len(branch) == 1 and first.kind.name == "type" and list(first.instance_path) == list(path):
        names: list[str] = first.kind.as_dict()["types"]
        return names
    return []


def _distance(branch: list[ValidationError]) -> tuple[int, int]:
    """How far an alternative is from what was given: a wrong tag (`kind`, `type`) means another one."""
    tags = sum(error.kind.name in {"const", "enum"} for error in branch)
    return tags, len(branch)


def known_properties(error: ValidationError, schema: JsonObject) -> Mapping[str, JsonValue]:
    """The properties that the schema at fault declares."""
    place: JsonValue = schema
    for part in error.schema_path[:-1]:
        if isinstance(place, dict):
            place = place.get(str(part))
        elif isinstance(place, list) and isinstance(part, int) and part < len(place):
            place = place[part]
    properties = place.get("properties") if isinstance(place, dict) else None
    return properties if isinstance(properties, dict) else {}


def _wanted(schema: JsonValue) -> str:
    """What a property must be, in a few words, or ""."""
    if not isinstance(schema, dict):
        return ""
    options = schema.get("enum")
    if isinstance(options, list):
        return f"one of {', '.join(_preview_value(option) for option in options[:_ALLOWED_SHOWN])}"
    types = schema.get("type")
    return " or ".join(str(name) for name in types) if isinstance(types, list) else str(types or "")


_NUMBERS: Final = {"integer", "number"}
_TYPE_NAMES: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}


def type_name(value: Any) -> str:
    """The JSON type of a value; whole numbers are told apart."""
    return _TYPE_NAMES.get(type(value), "object")


def _preview(value: Any) -> str:
    """The type of a value, and the value where that says more."""
    name = type_name(value)
    if name == "null":
        return name
    if name in {"array", "object"}:
        return name if value else f"empty {name}"
    return f"{name} {_preview_value(value)}"


def _preview_value(value: Any) -> str:
    return _cut(encode_value(value), _PREVIEW_CHARS)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


type _Describer = Callable[[ValidationError, JsonObject], list[Violation]]

_SPECIAL: Final[Mapping[str, _Describer]] = {
    "type": _wrong_type,
    "required": _missing,
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "enum": _not_allowed,
    "const": _not_allowed,
    "propertyNames": _bad_key,
    "anyOf": _no_alternative,
    "oneOf": _no_alternative,
}

_WORDING: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "minimum": lambda facts: f"at least {facts['limit']}",
    "exclusiveMinimum": lambda facts: f"more than {facts['limit']}",
    "maximum": lambda facts: f"at most {facts['limit']}",
    "exclusiveMaximum": lambda facts: f"less than {facts['limit']}",
    "multipleOf": lambda facts: f"a multiple of {facts['multiple_of']}",
    "minLength": lambda facts: f"at least {facts['limit']} characters long",
    "maxLength": lambda facts: f"at most {facts['limit']} characters long",
    "minItems": lambda facts: f"at least {facts['limit']} items long",
    "maxItems": lambda facts: f"at most {facts['limit']} items long",
    "minProperties": lambda facts: f"an object of at least {facts['limit']} keys",
    "maxProperties": lambda facts: f"an object of at most {facts['limit']} keys",
    "pattern": lambda facts: f"text that matches {facts['pattern']}",
    "uniqueItems": lambda _: "a list without equal items",
}
