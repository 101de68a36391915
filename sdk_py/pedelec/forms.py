"""What an answer to a question has to look like.

Owns the forms in which a person can be asked (yes or no, a text, a choice, the author's own fields), the
check of an answer against its form, and the way from an answer to what the asker gets. A form is described
by a flat JSON Schema, the subset that MCP's elicitation has: an object whose members are strings, numbers,
booleans, one of several strings, or several of them. No I/O, no DOM.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from pedelec import json_safe
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject
from pedelec.shown_text import shown_text

MAX_OPTIONS = 100
MAX_FIELDS = 20
_MAX_SCHEMA_BYTES = 16 * 1024
_MAX_RECEIVED_BYTES = 64 * 1024
"""With as many options as there may be, each with a label."""
_OF_A_FORM = ("type", "properties", "required")
_ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a question's answer.

    Args:
        schema: what the answer, a JSON object, holds to.
        value_of: what the asker gets of an answer that holds to it.
        content_of: the answer that a value stands for, as a page's own dialog gives it.
    """

    schema: JsonObject
    value_of: Callable[[JsonObject], Any]
    content_of: Callable[[Any], JsonObject]

    def problem_with(self, content: object) -> str | None:
        """Why something is no answer of this form; None where it is one."""
        if not isinstance(content, dict):
            return "it is no object"
        properties = _properties(self.schema)
        for name in _listed(self.schema.get("required")):
            if content.get(name) is None:
                return f"{name} is missing"
        for name, value in content.items():
            if name in properties and value is not None and not _fits(value, properties[name]):
                return f"{name} does not fit"
        return None


def confirmation() -> Form:
    """Yes or no: the answer is accepted or declined, and holds nothing."""
    return Form({"type": "object", "properties": {}}, lambda _content: True, lambda _value: {})


def text() -> Form:
    """Any text; the asker gets it as a str."""
    return _single({"type": "string", "title": "Answer"}, lambda word: word, lambda value: value)


def choice(options: Sequence[Any]) -> Form:
    """One of several options: each a scalar, or `{"label": …, "value": …}`; the asker gets the option's
    value.

    Raises:
        PedelecError: `INVALID_INPUT` for no options, too many, or two that look the same.
    """
    known = [_option(one) for one in _sequence(options)]
    if not 0 < len(known) <= MAX_OPTIONS:
        _refuse(f"options must be 1 to {MAX_OPTIONS} choices.")
    values = {word: value for word, _label, value in known}
    if len(values) < len(known) or len({label for _word, label, _value in known}) < len(known):
        _refuse("Two options are the same.")
    words = {json.dumps(value, sort_keys=True): word for word, value in values.items()}
    member: JsonObject = {"type": "string", "title": "Choice"}
    if all(word == label for word, label, _value in known):
        member["enum"] = list(values)
    else:
        member["oneOf"] = [{"const": word, "title": label} for word, label, _value in known]

    def word_of(value: Any) -> Any:
        return words.get(json.dumps(value, sort_keys=True, default=str), value)

    return _single(member, values.__getitem__, word_of)


def fields(schema: object) -> Form:
    """The author's own fields; the asker gets the whole object.

    Raises:
        PedelecError: `INVALID_INPUT` for a schema that is not flat, or not JSON.
    """
    form = _flat(schema, _MAX_SCHEMA_BYTES)
    if not _properties(form.schema):
        _refuse(f"schema must have 1 to {MAX_FIELDS} properties.")
    return form


def received(schema: object) -> Form:
    """The form of a question that a page asks, as Core gets it; an approval has no properties. What no form
    has is left out.

    Raises:
        PedelecError: as `fields`.
    """
    form = _flat(schema, _MAX_RECEIVED_BYTES)
    return replace(form, schema={name: form.schema[name] for name in _OF_A_FORM if name in form.schema})


def _flat(schema: object, max_bytes: int) -> Form:
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        _refuse('schema must be a JSON Schema whose "type" is "object".')
    try:
        copied = json.loads(json_safe.encode(dict(schema), max_bytes=max_bytes).text)
    except json_safe.ResultError as error:
        _refuse(f"schema cannot be used. {error.message}")
    members = copied.get("properties", {})
    if not isinstance(members, dict) or len(members) > MAX_FIELDS:
        _refuse(f"schema must have 1 to {MAX_FIELDS} properties.")
    for name, member in members.items():
        if not isinstance(member, dict) or not _is_known_type(member.get("type")) or not _is_flat(member):
            _refuse(f"The field {name!r} must be a string, a number, a boolean, or a choice of strings.")
        _make_showable(name, member)
    required = copied.get("required", [])
    if not isinstance(required, list) or any(
        not isinstance(name, str) or name not in members for name in required
    ):
        _refuse("required must be a list of the schema's own properties.")
    return Form(copied, lambda content: {key: content[key] for key in members if key in content}, _as_it_is)


def _make_showable(name: str, member: JsonObject) -> None:
    """Clean what a person reads of a field; its choices have to be clean, as they are what is answered,
    too."""
    for key in ("title", "description"):
        if isinstance(member.get(key), str):
            member[key] = shown_text(str(member[key]))
    items = member.get("items")
    holder = items if isinstance(items, dict) else member
    titled: Any = holder.get("oneOf") or holder.get("anyOf") or []
    lists = (titled, *(holder.get(key, []) for key in ("enum", "enumNames")))
    if not all(isinstance(part, list) for part in lists) or not all(isinstance(one, dict) for one in titled):
        _refuse(f"The choices of the field {name!r} must be lists, of objects with oneOf and anyOf.")
    words = [*_listed(holder.get("enumNames")), *(one.get("title", one.get("const")) for one in titled)]
    for word in [name, *_listed(holder.get("enum")), *words]:
        if not isinstance(word, str) or shown_text(word) != word:
            _refuse(f"The field {name!r} has a name or a choice that cannot be shown as it is.")


def _single(member: JsonObject, value_of: Callable[[Any], Any], word_of: Callable[[Any], Any]) -> Form:
    schema: JsonObject = {"type": "object", "properties": {_ANSWER: member}, "required": [_ANSWER]}
    return Form(schema, lambda content: value_of(content[_ANSWER]), lambda value: {_ANSWER: word_of(value)})


def _as_it_is(value: Any) -> Any:
    return value


def _option(option: Any) -> tuple[str, str, Any]:
    """The word that stands for an option, its label, and its value."""
    if isinstance(option, Mapping):
        value = option.get("value", option.get("label"))
        label = option.get("label", value)
    else:
        value = label = option
    word = value if isinstance(value, str) else _word(value)
    return word, shown_text(label if isinstance(label, str) else _word(label)), value


def _word(value: Any) -> str:
    try:
        return json_safe.encode(value, max_bytes=_MAX_SCHEMA_BYTES).text
    except json_safe.ResultError as error:
        _refuse(f"An option cannot be used. {error.message}")


def _is_known_type(name: object) -> bool:
    return isinstance(name, str) and name in _TYPES


def _is_flat(member: JsonObject) -> bool:
    if member["type"] != "array":
        return "properties" not in member and "items" not in member
    items = member.get("items")
    return isinstance(items, dict) and bool(_choices(items))


def _fits(value: Any, member: JsonObject) -> bool:
    if not _TYPES[str(member["type"])](value):
        return False
    if isinstance(value, list):
        items = member["items"]
        assert isinstance(items, dict)
        return all(one in _choices(items) for one in value) and _within(len(value), member, "Items")
    choices = _choices(member)
    if choices and value not in choices:
        return False
    if isinstance(value, str):
        return _within(len(value), member, "Length")
    return isinstance(value, bool) or _within(float(value), member, "imum")


def _within(size: float, member: JsonObject, what: str) -> bool:
    least: Any = member.get(f"min{what}")
    most: Any = member.get(f"max{what}")
    return not (_is_number(least) and size < least) and not (_is_number(most) and size > most)


def _choices(member: JsonObject) -> list[Any]:
    """The values that a member may have, where they are listed."""
    titled = member.get("oneOf") or member.get("anyOf")
    if isinstance(titled, list):
        return [one.get("const") for one in titled if isinstance(one, dict)]
    return _listed(member.get("enum"))


def _properties(schema: JsonObject) -> dict[str, JsonObject]:
    members: Any = schema.get("properties")
    return members if isinstance(members, dict) else {}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _sequence(options: object) -> list[Any]:
    if isinstance(options, (str, bytes, Mapping)) or not isinstance(options, Iterable):
        _refuse("options must be a list.")
    return list(options)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}


def _refuse(problem: str) -> NoReturn:
    raise PedelecError(Code.INVALID_INPUT, problem, details={"field": "ask"})
