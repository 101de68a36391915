"""Results of typed tools: the schema that a return annotation makes, and results that pydantic writes.

Owns which annotations make a schema, which results pydantic writes (those whose declared type holds a model
or a dataclass), and that pydantic changes nothing on the way that nobody asked for.
"""

import collections.abc
import types
import typing
from dataclasses import is_dataclass
from typing import Any

from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject
from pedelec.typed_schemas import untitled_schemas

if typing.TYPE_CHECKING:
    from pydantic import TypeAdapter

_AWAITABLES = (collections.abc.Awaitable, collections.abc.Coroutine)
_SAYS_NOTHING: tuple[JsonObject, ...] = (
    {},
    {"type": "null"},
    {"type": "string"},
    {"type": "array", "items": {}},
    {"type": "object", "additionalProperties": True},
)


class ResultWriter:
    """Writes values of one declared type as plain ones."""

    def __init__(self, adapter: "TypeAdapter[Any]") -> None:
        self._adapter = adapter

    def write(self, result: Any) -> Any:
        """The result as plain values; one that is not what was declared comes back as it is."""
        from pydantic_core import PydanticSerializationError

        dump = self._adapter.dump_python
        try:
            dump(result, warnings="error")
            # As any: what a subclass of the declared type adds is not dropped.
            written = dump(result, mode="json", by_alias=True, warnings=False, serialize_as_any=True)
            kept = dump(result, by_alias=True, warnings=False, serialize_as_any=True)
        except PydanticSerializationError:
            return result
        return _with_nan(written, kept)


def declared(annotation: Any) -> Any:
    """What a return annotation says of results: awaited at last, and leaving out errors that are returned."""
    while typing.get_origin(annotation) in _AWAITABLES:
        annotation = typing.get_args(annotation)[-1]
    if typing.get_origin(annotation) not in (types.UnionType, typing.Union):
        return annotation
    options = [each for each in typing.get_args(annotation) if not _is_error(each)]
    return typing.Union[tuple(options)] if options else Any  # noqa: UP007 - known when it runs, not before


def _is_error(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, PedelecError)


def schema_of(annotation: Any) -> JsonObject | None:
    """The JSON Schema of a return annotation; None where it has none, or one that tells an agent nothing.

    A schema is a promise, and keeps a long result from being given as a link: not worth it for "a text".
    """
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

    if annotation is None:
        return None
    try:
        schema = TypeAdapter(annotation).json_schema(
            mode="serialization", by_alias=True, schema_generator=untitled_schemas()
        )
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None
    schema.pop("title", None)
    return None if schema in _SAYS_NOTHING else schema


def writer_of(annotation: Any) -> ResultWriter | None:
    """The writer for a return annotation, or None where its values are sent as they are."""
    if not _holds_model(annotation):
        return None
    from pydantic import TypeAdapter

    return ResultWriter(TypeAdapter(annotation))


def _holds_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and (is_dataclass(annotation) or hasattr(annotation, "model_dump")):
        return True
    if isinstance(annotation, typing.TypeAliasType):
        return _holds_model(annotation.__value__)
    return any(_holds_model(item) for item in typing.get_args(annotation))


def _with_nan(written: Any, kept: Any) -> Any:
    """Put back NaN and infinity, which pydantic's JSON mode makes null, so that they are refused."""
    if written is None and isinstance(kept, float):
        return kept
    if isinstance(written, dict) and isinstance(kept, dict) and len(written) == len(kept):
        pairs = zip(written.items(), kept.values(), strict=True)
        return {name: _with_nan(value, other) for (name, value), other in pairs}
    if isinstance(written, list) and isinstance(kept, (list, tuple)) and len(written) == len(kept):
        return [_with_nan(value, other) for value, other in zip(written, kept, strict=True)]
    return written
