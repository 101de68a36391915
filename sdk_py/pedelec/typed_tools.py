"""`@tool`: a tool whose schema comes from a function's annotations, through pydantic.

Owns how a signature becomes a schema and how arguments become the annotated types. Pydantic is imported when
the first typed tool is made, not before.

On the wire parameters are camelCase (`shape_id` is `shapeId`), unless `Field(alias=…)` names them; models and
dataclasses used as types keep the names that they give their own fields. Arguments are validated strictly, as
JSON: a string is no number, an integer is a float.
"""

import contextlib
import functools
import inspect
import json
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Unpack, overload

from pedelec.errors import Code, PedelecError
from pedelec.json_safe import MAX_SAFE_INT
from pedelec.json_text import JsonObject
from pedelec.tools import ToolDefinition, ToolOptions, define_tool
from pedelec.typed_results import ResultWriter, declared, schema_of, writer_of
from pedelec.typed_schemas import untitled_schemas
from pedelec.typed_violations import args_invalid
from pedelec.wire_fields import to_camel

if typing.TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, kw_only=True)
class TypedTool(ToolDefinition):
    """A tool made by `@tool`. Calling it calls the function, as if it were undecorated."""

    function: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /) -> TypedTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    result_schema: JsonObject | Literal[False] | None = None,
    **options: Unpack[ToolOptions],
) -> Callable[[Callable[..., Any]], TypedTool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    result_schema: JsonObject | Literal[False] | None = None,
    **options: Unpack[ToolOptions],
) -> TypedTool | Callable[[Callable[..., Any]], TypedTool]:
    """Make a tool of a function: ``@tool`` or ``@tool(timeout_ms=10_000)``.

    The name is the function's, the description its docstring, the schemas made of its annotations. The
    return annotation gives the `result_schema` where it says more than "a text", "any list" or "any object";
    another schema takes its place, and `False` means none. The other fields are those of `ToolDefinition`. A
    parameter named `ctx` or annotated `ToolContext` is given the context and is no argument of the tool. A
    pydantic model or dataclass in the return annotation is written by pydantic (by alias); any other result
    is sent as it is.

    Raises:
        PedelecError: `INVALID_INPUT` for a signature that no schema can describe, and as `define_tool` does.
    """

    def make(target: object) -> TypedTool:
        if not callable(target) or isinstance(target, type):
            raise PedelecError(Code.INVALID_INPUT, f"@tool takes a function, not a {type(target).__name__}.")
        tool_name = name if name is not None else getattr(target, "__name__", "")
        signature = _Signature(target, tool_name)
        definition = define_tool(
            name=tool_name,
            description=description if description is not None else inspect.getdoc(target) or "",
            args_schema=signature.schema,
            result_schema=_result_schema(result_schema, signature.result_schema),
            handler=signature.handle,
            **options,
        )
        typed = TypedTool(**{item: getattr(definition, item) for item in _DEFINITION_FIELDS}, function=target)
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(target, attribute):
                object.__setattr__(typed, attribute, getattr(target, attribute))
        return typed

    return make if function is None else make(function)


_DEFINITION_FIELDS = tuple(ToolDefinition.__dataclass_fields__)


class _Signature:
    """A function's parameters as a pydantic model, and how to call it with validated arguments."""

    def __init__(self, function: Callable[..., Any], tool_name: str) -> None:
        self._function = function
        self._tool = tool_name
        hints = self._hints()
        self._parameters = list(inspect.signature(function).parameters.values())
        self._contexts = {
            parameter.name
            for parameter in self._parameters
            if parameter.name == "ctx" or _is_context(hints.get(parameter.name))
        }
        try:
            self._model = self._make_model(hints)
            self.schema = self._make_schema()
            self._wire_names = [str(field.alias) for field in self._model.model_fields.values()]
            if len(set(self._wire_names)) != len(self._wire_names):
                raise self._refusal(f"two parameters have one name on the wire: {self._wire_names}.")
            returned = declared(hints.get("return"))
            self._writer = writer_of(returned)
            self.result_schema = schema_of(returned)
        except PedelecError:
            raise
        except Exception as error:
            raise self._refusal(f"its annotations make no schema. {error}") from error

    def handle(self, args: JsonObject, ctx: object) -> Any:
        """The tool's handler: validate, call, write what has to be written."""
        result = self._call(self._validated(args), ctx)
        if self._writer is None:
            return result
        return (
            _written_later(result, self._writer)
            if inspect.isawaitable(result)
            else self._writer.write(result)
        )

    def _call(self, model: "BaseModel", ctx: object) -> Any:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for index, parameter in enumerate(self._parameters):
            value = ctx if parameter.name in self._contexts else getattr(model, _field_name(index))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                keywords[parameter.name] = value
        return self._function(*positional, **keywords)

    def _validated(self, args: JsonObject) -> "BaseModel":
        from pydantic import ValidationError

        try:
            return self._model.model_validate_json(json.dumps(args), strict=True)
        except ValidationError as error:
            # To JSON Schema, and so to Core, 5.0 is an integer; to pydantic it is none.
            with contextlib.suppress(ValidationError):
                whole = json.dumps(_with_whole_numbers(args))
                return self._model.model_validate_json(whole, strict=True)
            raise args_invalid(self._tool, args, error, self._wire_names) from None

    def _hints(self) -> Mapping[str, Any]:
        target = inspect.unwrap(self._function)
        if isinstance(target, functools.partial):
            target = target.func
        elif not inspect.isroutine(target):
            target = type(target).__call__
        try:
            return typing.get_type_hints(target, include_extras=True)
        except Exception as error:
            raise self._refusal(f"an annotation cannot be resolved. {error}") from error

    def _make_model(self, hints: Mapping[str, Any]) -> "type[BaseModel]":
        try:
            from pydantic import ConfigDict, create_model
        except ImportError:
            raise self._refusal(
                "@tool needs pydantic, which is not installed here: add it (in a page, "
                'data-packages="pydantic"), or give the schema yourself with define_tool(args_schema=…).'
            ) from None
        fields: dict[str, Any] = {}
        wire_names: dict[str, str] = {}
        for index, parameter in enumerate(self._parameters):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise self._refusal(f"parameter {parameter} has no schema: name each argument.")
            if parameter.name not in self._contexts:
                # A number for a name, so that no parameter's name can clash with the model's own.
                default = ... if parameter.default is parameter.empty else parameter.default
                fields[_field_name(index)] = (hints.get(parameter.name, Any), default)
                wire_names[_field_name(index)] = to_camel(parameter.name)

        def wire_name(field: str) -> str:
            # Also asked about the fields of dataclasses and typed dicts, which keep their names.
            return wire_names.get(field, field)

        config = ConfigDict(extra="forbid", alias_generator=wire_name)
        return create_model(self._tool or "Arguments", __config__=config, **fields)

    def _make_schema(self) -> JsonObject:
        schema = self._model.model_json_schema(by_alias=True, schema_generator=untitled_schemas())
        schema.pop("title", None)
        schema.setdefault("properties", {})
        return schema

    def _refusal(self, problem: str) -> PedelecError:
        return PedelecError(
            Code.INVALID_INPUT,
            f"Tool {self._tool!r}: {problem}",
            details={"tool": self._tool, "field": "args_schema"},
        )


def _result_schema(
    given: JsonObject | Literal[False] | None, declared: JsonObject | None
) -> JsonObject | None:
    if given is None:
        return declared
    return None if given is False else given


def _field_name(index: int) -> str:
    return f"arg_{index}"


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_whole_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INT:
        return int(value)
    return value


def _is_context(annotation: object) -> bool:
    from pedelec.context import ToolContext

    return annotation is ToolContext or ToolContext in typing.get_args(annotation)


async def _written_later(result: Awaitable[Any], writer: ResultWriter) -> Any:
    return writer.write(await result)
