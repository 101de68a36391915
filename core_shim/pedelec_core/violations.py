"""What is wrong with a call's arguments, in words that the caller can act on.

Owns the wording of every way in which arguments can break a schema, and the shape of a violation:

    path        JSON Pointer (RFC 6901) to the value; for a missing one, to where it belongs
    message     what is wrong there, readable without the path
    expected    what the schema wants
    got         what was found: its type, and its value where that is short
    allowed     the values or keys that are allowed, where they are few
    suggestion  the nearest one of them, or the value that was meant

Finds nothing wrong itself: the validator does that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from jsonschema_rs import ValidationError

from pedelec.errors import Code, PedelecError
from pedelec.json_safe import render_path
from pedelec.json_text import JsonObject, JsonValue, encode_value
from pedelec_core.alternatives import alternatives
from pedelec_core.json_words import (
    ALLOWED_SHOWN,
    counted,
    cut,
    number_range,
    one_of,
    preview,
    preview_value,
    wanted,
)
from pedelec_core.near_misses import misspelt, nearest, nearest_option, unquoted
from pedelec_core.schema_lookup import SchemaLookup

MAX_VIOLATIONS: Final = 50

_IN_MESSAGE: Final = 8
_FOREIGN_CHARS: Final = 200

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
    return _told(errors, SchemaLookup(schema))


def unusable(problem: str, expected: str, got: str, path: Path = (), **facts: JsonValue) -> Violation:
    """The one violation of arguments that cannot be held against a schema at all."""
    told: JsonObject = {"path": json_pointer(path), "message": problem, "expected": expected, "got": got}
    return told | facts


def json_pointer(path: Path) -> str:
    """A path as a JSON Pointer."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _told(errors: Iterable[ValidationError], schema: SchemaLookup) -> list[Violation]:
    violations: list[Violation] = []
    for error in errors:
        violations += _SPECIAL.get(error.kind.name, _plain)(error, schema)
        if len(violations) >= MAX_VIOLATIONS:
            break
    return violations[:MAX_VIOLATIONS]


def _violation(path: Path, problem: str, expected: str, got: str, **facts: JsonValue) -> Violation:
    """One violation; `problem` completes a sentence that begins with the place.

    Messages have paths like `$.rows[3]`: from error messages, whatever looks like a file's path is removed.
    """
    message = f"{render_path(path)} {problem}"
    return {"path": json_pointer(path), "message": message, "expected": expected, "got": got, **facts}


def _must_be(path: Path, expected: str, value: Any, hint: str = "", **facts: JsonValue) -> Violation:
    got = preview(value)
    return _violation(path, f"must be {expected}, got {got}{hint}", expected, got, **facts)


def _plain(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    facts = error.kind.as_dict()
    wording = _WORDING.get(error.kind.name)
    if wording is not None:
        return [_must_be(error.instance_path, wording(facts, schema.at_fault(error)), error.instance)]
    expected = f"what “{error.kind.name}” in the schema allows"
    problem = f"must be {expected}: {cut(error.message, _FOREIGN_CHARS)}"
    return [_violation(error.instance_path, problem, expected, preview(error.instance))]


def _wrong_type(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    types: list[str] = error.kind.as_dict()["types"]
    fault = schema.at_fault(error)
    return [_type_violation(error.instance_path, types, error.instance, fault)]


def _type_violation(
    path: Path, types: Sequence[str], instance: Any, schema: Mapping[str, JsonValue]
) -> Violation:
    """`schema`: the one at fault, which may say more than the types."""
    alone = " or ".join(sorted(types, key=lambda name: name == "null"))
    expected = alone if len(types) > 1 and "type" in schema else wanted(dict(schema)) or alone
    meant = unquoted(instance, types, schema)
    if meant is None:
        return _must_be(path, expected, instance)
    return _must_be(path, expected, instance, f": write {encode_value(meant)}", suggestion=meant)


def _missing(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    name = error.kind.as_dict()["property"]
    place: Any = error.instance
    expected = wanted(schema.declared(error, name))
    problem = f"is missing{f' (it must be {expected})' if expected else ''}"
    instead = misspelt(name, place, schema.all_properties(error))
    if instead is not None and not schema.is_closed(error):
        problem += f": the unknown key {preview_value(instead)} may be meant for it"
    return [_violation([*error.instance_path, name], problem, expected or "a value", "nothing")]


def _unknown(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    """Keys that are not declared."""
    known = list(schema.known_properties(error))
    patterns = schema.at_fault(error).get("patternProperties")
    forms = list(patterns) if isinstance(patterns, dict) else []
    keys: list[str] = error.kind.as_dict()["unexpected"]
    return [_unknown_key([*error.instance_path, key], key, known, forms) for key in keys]


def _unknown_key(path: Path, key: str, known: list[str], forms: list[str]) -> Violation:
    expected = _known_keys(known, forms) or "no key"
    facts: JsonObject = {"allowed": [*known[:ALLOWED_SHOWN]]}
    near = nearest(key, known)
    hint = f"; it must be {expected}"
    if near:
        facts["suggestion"] = near[0]
        hint = f": did you mean {encode_value(near[0])}?"
    got = f"the key {preview_value(key)}"
    return _violation(path, f"is not a known key{hint}", expected, got, **facts)


def _known_keys(names: list[str], forms: list[str]) -> str:
    choices = [f"one of the keys {one_of([*names]).removeprefix('one of ')}"] if names else []
    choices += [f"a key that matches {form}" for form in forms[:ALLOWED_SHOWN]]
    return " or ".join(choices)


def _not_allowed(error: ValidationError, _schema: SchemaLookup) -> list[Violation]:
    facts = error.kind.as_dict()
    instance: Any = error.instance
    options = facts["options"] if "options" in facts else [facts["expected_value"]]
    told: JsonObject = {"allowed": options[:ALLOWED_SHOWN]}
    hint = ""
    near = nearest_option(instance, options)
    if near is not None:
        told["suggestion"] = near
        hint = f": did you mean {preview_value(near)}?"
    return [_must_be(error.instance_path, one_of(options), instance, hint, **told)]


def _bad_key(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    inner: ValidationError = error.kind.as_dict()["error"]
    key = str(inner.instance)
    rule = next(iter(_told([inner], schema)))
    facts: JsonObject = {name: rule[name] for name in ("allowed", "suggestion") if name in rule}
    problem = f"is not an allowed key: a key must be {rule['expected']}"
    got = f"the key {preview_value(key)}"
    return [_violation([*error.instance_path, key], problem, str(rule["expected"]), got, **facts)]


def _no_alternative(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    """Every alternative was refused: tell of the closest one, or of the types if only these are wrong."""
    found = alternatives(error)
    if found.fitting:
        expected = "what fits just one of the alternatives"
        problem = f"fits more than one of the alternatives ({found.fitting}), and must fit just one"
        return [_violation(error.instance_path, problem, expected, preview(error.instance))]
    if found.types:
        fault = schema.at_fault(error)
        return [_type_violation(error.instance_path, found.types, error.instance, fault)]
    violations = _told(found.closest, schema)
    if found.candidates > 1:
        for one in violations:
            one["message"] = f"{one['message']} (for the closest of {found.candidates} alternatives)"
    return violations


def _too_few_or_many(error: ValidationError, schema: SchemaLookup) -> list[Violation]:
    """`contains`, with `minContains` and `maxContains`."""
    fault = schema.at_fault(error)
    fitting = wanted(fault.get("contains")) or "what “contains” in the schema says"
    low, high = fault.get("minContains", 1), fault.get("maxContains")
    limits = [f"at least {low}"] if low or high is None else []
    limits += [] if high is None else [f"at most {high}"]
    such = "item that is" if (low if high is None else high) == 1 else "items that are"
    expected = f"an array with {' and '.join(limits)} {such} {fitting}"
    return [_must_be(error.instance_path, expected, error.instance)]


def _forbidden(error: ValidationError, _schema: SchemaLookup) -> list[Violation]:
    """`not`."""
    schema = error.kind.as_dict()["schema"]
    refused = wanted(schema) or f"what fits {cut(encode_value(schema), _FOREIGN_CHARS)}"
    return [_must_be(error.instance_path, f"anything but {refused}", error.instance)]


def _nothing_allowed(error: ValidationError, _schema: SchemaLookup) -> list[Violation]:
    """The schema `false`."""
    return [_violation(error.instance_path, "is not allowed here", "nothing", preview(error.instance))]


type _Describer = Callable[[ValidationError, SchemaLookup], list[Violation]]
type _Facts = Mapping[str, Any]

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
    "contains": _too_few_or_many,
    "not": _forbidden,
    "falseSchema": _nothing_allowed,
}


def _in_range(words: str) -> Callable[[_Facts, _Facts], str]:
    """The whole range where the schema has both ends of it, else the limit that is broken."""
    return lambda facts, schema: (
        number_range(schema) if "minimum" in schema and "maximum" in schema else f"{words} {facts['limit']}"
    )


_WORDING: Final[Mapping[str, Callable[[_Facts, _Facts], str]]] = {
    "minimum": _in_range("at least"),
    "exclusiveMinimum": _in_range("more than"),
    "maximum": _in_range("at most"),
    "exclusiveMaximum": _in_range("less than"),
    "multipleOf": lambda facts, _: f"a multiple of {facts['multiple_of']}",
    "minLength": lambda facts, _: f"at least {counted(facts['limit'], 'character')} long",
    "maxLength": lambda facts, _: f"at most {counted(facts['limit'], 'character')} long",
    "minItems": lambda facts, _: f"at least {counted(facts['limit'], 'item')} long",
    "maxItems": lambda facts, _: f"at most {counted(facts['limit'], 'item')} long",
    "minProperties": lambda facts, _: f"an object of at least {counted(facts['limit'], 'key')}",
    "maxProperties": lambda facts, _: f"an object of at most {counted(facts['limit'], 'key')}",
    # A match that was given up has no pattern among its facts.
    "pattern": lambda facts, schema: f"text that matches {facts.get('pattern', schema.get('pattern'))}",
    "uniqueItems": lambda _, __: "a list without equal items",
    "additionalItems": lambda facts, _: f"at most {counted(facts['limit'], 'item')} long",
    "unevaluatedItems": lambda facts, _: (
        f"a list without the items {', '.join(facts['unexpected'][:ALLOWED_SHOWN])}"
    ),
}
