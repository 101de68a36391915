"""The rules for tools, as their manifests declare them."""

import re
from collections.abc import Iterator
from typing import Final

from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject, JsonValue
from pedelec_core.registry import ToolRegistry
from pedelec_core.violations import json_pointer

from .findings import Finding
from .rules import ARRAY_BOUNDS, READ_ONLY_HINT, TOOL_DESCRIPTION, TOOL_REFUSED

_READING: Final = re.compile(
    r"(?i:get|list|read|find|search|show|count|query|look|describe|fetch|inspect|view)(?![a-z])"
)
"""How a tool's name begins that in all likelihood only reads."""

_MAX_DEPTH: Final = 100


def lint_tool(manifest: JsonValue, where: str, *, hints_stated: bool) -> Iterator[Finding]:
    """What is wrong with one tool; see `lint`."""
    if not isinstance(manifest, dict):
        yield Finding(TOOL_REFUSED, where, "", "a manifest must be an object")
        return
    name = manifest.get("name")
    about = name if isinstance(name, str) else ""
    yield from _described(manifest, where, about)
    yield from _refused(manifest, where, about)
    for pointer in _unbounded(manifest.get("argsSchema"), f"{where}/argsSchema", 0):
        yield Finding(ARRAY_BOUNDS, pointer, about, "an array without maxItems")
    if manifest.get("readOnly") is None:
        if hints_stated:
            yield Finding(READ_ONLY_HINT, where, about, "neither readOnly: true nor false")
        elif _READING.match(about):
            yield Finding(READ_ONLY_HINT, where, about, "its name sounds as if it only reads")


def _described(manifest: JsonObject, where: str, about: str) -> Iterator[Finding]:
    description = manifest.get("description")
    if description is None or description == "":
        yield Finding(TOOL_DESCRIPTION, where, about, "there is none")
    elif isinstance(description, str) and _says_nothing(description, about):
        yield Finding(TOOL_DESCRIPTION, f"{where}/description", about, f"“{description[:80]}”")


def _refused(manifest: JsonObject, where: str, about: str) -> Iterator[Finding]:
    description = manifest.get("description") or "…"  # a rule of its own
    try:
        ToolRegistry.from_manifests([{**manifest, "description": description}])
    except PedelecError as error:
        field = (error.details or {}).get("field")
        place = f"{where}/{field}" if isinstance(field, str) and field in manifest else where
        yield Finding(TOOL_REFUSED, place, about, error.message)


def _says_nothing(description: str, name: str) -> bool:
    """Whether no word of it is new to who has read the tool's name."""
    return not set(_words(description)) - set(_words(name)) - _FILLERS


_FILLERS: Final = frozenset({"a", "an", "the", "this", "that", "tool", "function", "it", "is", "to", "todo"})


def _words(text: str) -> list[str]:
    parts = re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+", text)
    return [part.lower().removesuffix("s") for part in parts]


def _unbounded(schema: JsonValue, where: str, depth: int) -> Iterator[str]:
    """The arrays in a schema that say nothing of their length."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from _unbounded(part, f"{where}/{index}", depth + 1)
    if not isinstance(schema, dict):
        return
    if _is_array(schema) and not _is_bounded(schema):
        yield where
    for key, part in schema.items():
        if key in _SUBSCHEMAS:
            yield from _unbounded(part, f"{where}/{key}", depth + 1)
        elif key in _NAMED_SUBSCHEMAS and isinstance(part, dict):
            for name, named in part.items():
                yield from _unbounded(named, f"{where}/{key}{json_pointer((name,))}", depth + 1)


_SUBSCHEMAS: Final = frozenset({"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf"})
_NAMED_SUBSCHEMAS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def _is_array(schema: JsonObject) -> bool:
    kind = schema.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind)


def _is_bounded(schema: JsonObject) -> bool:
    closed = "prefixItems" in schema and schema.get("items") is False
    return closed or any(key in schema for key in ("maxItems", "enum", "const"))
