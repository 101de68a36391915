"""What was probably meant by a name or value that is not quite right.

Owns how near is near enough. Whether a guess fits the schema, the validator says.
"""

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import jsonschema_rs
from rapidfuzz import fuzz, process

from pedelec.json_text import JsonValue, encode_value
from pedelec_core.json_words import type_name

SIMILARITY: Final = 60.0
"""In percent; stated in docs/errors.md."""
_SURE_SIMILARITY: Final = 80.0
"""Where nothing says that the name is wrong, but that it is not known."""
_MAX_QUOTED_CHARS: Final = 60
_NUMBERS: Final = frozenset({"integer", "number"})
_NUMBER_KEYWORDS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "enum",
    "const",
)


def nearest(name: str, known: Iterable[str], limit: int = 1, *, similarity: float = SIMILARITY) -> list[str]:
    """The known names that a misspelt one may have meant, best first.

    How its words are joined, capitalised and accented makes no difference.
    """
    matches = process.extract(
        name[:200], list(known), scorer=fuzz.ratio, processor=_fold, score_cutoff=similarity, limit=limit
    )
    return [match[0] for match in matches]


def misspelt(name: str, keys: Iterable[str], known: Collection[str]) -> str | None:
    """The one of an object's keys that is probably meant for a missing one; undeclared keys alone."""
    near = nearest(name, (key for key in keys if key not in known), similarity=_SURE_SIMILARITY)
    return near[0] if near else None


def nearest_option(instance: JsonValue, options: Iterable[JsonValue]) -> JsonValue:
    """The allowed value that was meant: the same in or out of quotation marks, or a text like it."""
    known = list(options)
    if isinstance(instance, str):
        same = [option for option in known if not isinstance(option, str) and _says(option, instance)]
        near = nearest(instance, [option for option in known if isinstance(option, str)])
        return next(iter([*same, *near]), None)
    if isinstance(instance, (int, float)):
        return next((option for option in known if isinstance(option, str) and _says(instance, option)), None)
    return None


def unquoted(instance: JsonValue, types: Sequence[str], schema: Mapping[str, JsonValue]) -> JsonValue:
    """The number, boolean, list or object that was meant where its JSON came inside a string.

    Args:
        instance: what came.
        types: those that are allowed.
        schema: what else is wanted of a number.
    """
    if not isinstance(instance, str) or len(instance) > _MAX_QUOTED_CHARS:
        return None
    text = instance.lower() if instance in ("True", "False") else instance
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    name = type_name(value)
    if name not in types and not (name == "integer" and "number" in types):
        return None
    return value if name not in _NUMBERS or _is_number_wanted(value, schema) else None


def _is_number_wanted(value: Any, schema: Mapping[str, JsonValue]) -> bool:
    if value != value or abs(value) >= 2**53:
        return False
    limits = {keyword: schema[keyword] for keyword in _NUMBER_KEYWORDS if keyword in schema}
    return not limits or jsonschema_rs.is_valid(limits, value)


def _says(value: JsonValue, text: str) -> bool:
    return encode_value(value).lower() == text.strip().lower()


def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name)
    return "".join(character for character in plain if character.isalnum()).lower()
