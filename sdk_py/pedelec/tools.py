"""Tool definitions: what a page offers, checked before Core hears of it.

Owns a definition's fields, their checks, and the manifest that goes to Core. The schema of a typed tool is
made in `typed_tools`; arguments are validated by Core.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NoReturn, Self, TypedDict, Unpack

from pedelec import json_safe
from pedelec.errors import Code, PedelecError
from pedelec.handlers import TOOL_PARAMETERS, Bound, bind
from pedelec.host import Handler, Host
from pedelec.json_text import JsonObject
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS, MAX_TOOL_TITLE_CHARS, TOOL_HINTS, TOOL_NAME_PATTERN
from pedelec.wire_fields import to_camel

_MAX_SCHEMA_BYTES = 1024 * 1024

ASKING_TIMEOUT_MS = 300_000
"""How long Core waits for tools that ask a person, where they do not say it themselves."""

type Approval = Literal["always", "consequential"]


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """One tool. Made by `define_tool` or `@tool`; checked as a whole by `create_session`.

    Args:
        name: what the agent calls; letters, digits, `_`, `.` and `-`, a letter first, at most 128.
        description: tells the agent what the tool does and when to use it.
        args_schema: JSON Schema of the arguments; its `type` is `object`.
        title: what to call the tool where people read it, at most 200 characters.
        result_schema: JSON Schema of what the tool returns. Shown to agents, never enforced here; MCP clients
            check results against it.
        timeout_ms: how long Core waits for a result, 60 000 if not given, or 300 000 where a person is asked.
        handler: called with `(args, ctx)` if no handler of that name is set on the session.
        read_only: the tool changes nothing, so that a failed call may simply be repeated.
        idempotent: a repeated call with the same arguments changes nothing more.
        exclusive: Core never runs two calls of it at once.
        untrusted_content: results hold what others wrote (mails, comments), which an agent must not obey.
        consequential: what a call does matters outside the page or cannot be taken back. A function of
            `(args)` or `(args, ctx)`, sync or async, says it of the single call.
        approval: which calls the person at the page has to approve before the handler is called: `always` all
            of them; `consequential` those of which the function above does not say False; without such a
            function all, unless the tool is `read_only`.
        asks: the handler asks the person itself (`ctx.ask`), so that its calls have time for an answer.
    """

    name: str
    description: str
    args_schema: JsonObject
    title: str | None = None
    result_schema: JsonObject | None = None
    timeout_ms: int | None = None
    handler: Handler | None = None
    read_only: bool = False
    idempotent: bool = False
    exclusive: bool = False
    untrusted_content: bool = False
    consequential: bool | Handler = False
    approval: Approval | None = None
    asks: bool = False

    def to_wire(self) -> JsonObject:
        """The manifest: what Core and the agent need to know. Hints that do not hold are left out."""
        values = {name: getattr(self, name) for name in _MANIFEST_FIELDS}
        values["consequential"] = self.consequential is not False
        if self.timeout_ms is None and (self.asks or self.approval is not None):
            values["timeout_ms"] = ASKING_TIMEOUT_MS
        return {to_camel(name): value for name, value in values.items() if value not in (None, False)}


_MANIFEST_FIELDS = tuple(item.name for item in fields(ToolDefinition) if item.name not in {"handler", "asks"})


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """Which calls of a tool a person has to approve: all, or those of which `predicate` does not say
    False."""

    predicate: Bound | None = None

    @classmethod
    def of(cls, tool: ToolDefinition, host: Host | None) -> Self | None:
        """The rule of a tool that this page defines; None where nothing has to be approved."""
        if tool.approval != "consequential":
            return None if tool.approval is None else cls()
        if not isinstance(tool.consequential, bool):
            return cls(bind(tool.consequential, TOOL_PARAMETERS, host))
        return None if tool.read_only and not tool.consequential else cls()

    @classmethod
    def undeclared(cls, approval: str | None) -> Self | None:
        """The rule of a tool that another page defined: what Core says of it, and in doubt every call."""
        return None if approval is None else cls()


class ToolOptions(TypedDict, total=False):
    """The fields of `ToolDefinition` that both ways of defining a tool leave to its author."""

    title: str | None
    timeout_ms: int | None
    read_only: bool
    idempotent: bool
    exclusive: bool
    untrusted_content: bool
    consequential: bool | Handler
    approval: Approval | None
    asks: bool


def define_tool(
    *,
    name: str,
    description: str,
    args_schema: JsonObject,
    result_schema: JsonObject | None = None,
    handler: Handler | None = None,
    **options: Unpack[ToolOptions],
) -> ToolDefinition:
    """Define a tool by its schema. The fields are those of `ToolDefinition`; schemas are copied at once.

    Raises:
        PedelecError: `INVALID_INPUT`; the message and `details` name the tool and the field.
    """
    return _checked(
        ToolDefinition(
            name=name,
            description=description,
            args_schema=args_schema,
            result_schema=result_schema,
            handler=handler,
            **options,
        )
    )


@dataclass(frozen=True)
class CheckedTools:
    """What `create_session` needs: the manifests for Core and the inline handlers, bound."""

    manifests: list[JsonObject]
    handlers: dict[str, Bound]
    approvals: dict[str, ApprovalRule]


def check_guidance(guidance: object) -> str:
    """Raises `INVALID_INPUT` where the guidance is not a string that can travel."""
    if not isinstance(guidance, str) or not json_safe.is_encodable(guidance):
        raise PedelecError(
            Code.INVALID_INPUT, "guidance must be a string (of valid Unicode).", details={"field": "guidance"}
        )
    return guidance


def check_tools(tools: object, host: Host | None = None) -> CheckedTools:
    """Check all tools of a session. Each is a `ToolDefinition` or a mapping of its fields.

    The names of a mapping's fields may be written as in Python or as in JavaScript.

    Raises:
        PedelecError: `INVALID_INPUT`; the message and `details` name the tool, its index and the field.
    """
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise PedelecError(Code.INVALID_INPUT, "tools must be a list of tools.", details={"field": "tools"})
    checked = CheckedTools([], {}, {})
    seen: set[str] = set()
    for index, entry in enumerate(tools):
        definition = _checked(_definition_of(entry, index), index=index, host=host)
        if definition.name in seen:
            _refuse(definition.name, index, "name", "stands twice in tools")
        seen.add(definition.name)
        checked.manifests.append(definition.to_wire())
        if definition.handler is not None:
            checked.handlers[definition.name] = bind(definition.handler, TOOL_PARAMETERS, host)
        if (rule := ApprovalRule.of(definition, host)) is not None:
            checked.approvals[definition.name] = rule
    return checked


_FIELD_NAMES = {
    spelling: item.name for item in fields(ToolDefinition) for spelling in (item.name, to_camel(item.name))
}


def _definition_of(entry: object, index: int) -> ToolDefinition:
    if isinstance(entry, ToolDefinition):
        return entry
    if not isinstance(entry, Mapping):
        _refuse(None, index, "tools", f"must be made by define_tool() or @tool, not a {type(entry).__name__}")
    values: dict[str, Any] = {"name": None, "description": None, "args_schema": None}
    for key, value in entry.items():
        if key not in _FIELD_NAMES:
            _refuse(entry.get("name"), index, str(key), "is not a field of a tool")
        values[_FIELD_NAMES[key]] = value
    return ToolDefinition(**values)


def _checked(tool: ToolDefinition, *, index: int | None = None, host: Host | None = None) -> ToolDefinition:
    for field, (holds, problem) in _CHECKS.items():
        if not holds(getattr(tool, field)):
            _refuse(tool.name, index, field, problem)
    schemas = {field: _copy_of_schema(tool, field, index) for field in ("args_schema", "result_schema")}
    for field in ("handler", "consequential"):
        function = getattr(tool, field)
        if function is None or isinstance(function, bool):
            continue
        try:
            bind(function, TOOL_PARAMETERS, host)
        except PedelecError as error:
            _refuse(tool.name, index, field, f"is refused. {error.message}")
    return replace(tool, **schemas)


def _copy_of_schema(tool: ToolDefinition, field: str, index: int | None) -> Any:
    try:
        copy = json_safe.encode(getattr(tool, field), max_bytes=_MAX_SCHEMA_BYTES)
    except json_safe.NotJsonSafeError as error:
        problem = f"must be JSON; at {error.path} is a {error.type_name}: {error.hint}"
        _refuse(tool.name, index, field, problem)
    except json_safe.TooLargeError:
        _refuse(tool.name, index, field, f"must be at most {_MAX_SCHEMA_BYTES} bytes of JSON")
    return json.loads(copy.text)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(TOOL_NAME_PATTERN, value) is not None


def _is_description(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and json_safe.is_encodable(value)


def _is_title(value: object) -> bool:
    return value is None or (_is_description(value) and len(str(value)) <= MAX_TOOL_TITLE_CHARS)


def _is_schema(value: object) -> bool:
    return value is None or isinstance(value, dict)


def _is_object_schema(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "object"


def _is_timeout(value: object) -> bool:
    return value is None or (type(value) is int and 1 <= value <= MAX_TOOL_TIMEOUT_MS)


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_flag_or_function(value: object) -> bool:
    # What is neither is a function of JavaScript's, or refused where it is bound.
    return type(value) is bool or not isinstance(value, (str, int, float, list, dict, type(None)))


def _is_approval(value: object) -> bool:
    return value in (None, "always", "consequential")


_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "name": (_is_name, f"must match {TOOL_NAME_PATTERN}"),
    "description": (_is_description, "must be a string (of valid Unicode) that is not blank"),
    "args_schema": (_is_object_schema, 'must be a dict with "type": "object"'),
    "title": (_is_title, f"must be a string that is not blank, of at most {MAX_TOOL_TITLE_CHARS} characters"),
    "result_schema": (_is_schema, "must be a dict that holds a JSON Schema"),
    "timeout_ms": (_is_timeout, f"must be an integer from 1 to {MAX_TOOL_TIMEOUT_MS}"),
    **dict.fromkeys((*TOOL_HINTS, "asks"), (_is_flag, "must be True or False")),
    "consequential": (_is_flag_or_function, "must be True, False, or a function of the arguments"),
    "approval": (_is_approval, 'must be "always" or "consequential"'),
}


def _refuse(tool: object, index: int | None, field: str, problem: str) -> NoReturn:
    name = tool if isinstance(tool, str) and json_safe.is_encodable(tool) else None
    place = "Tool" if index is None else f"tools[{index}]"
    details = {"tool": name, "index": index, "field": field}
    raise PedelecError(
        Code.INVALID_INPUT,
        f"{place} {name!r}: {field} {problem}." if name is not None else f"{place}: {field} {problem}.",
        details={key: value for key, value in details.items() if value is not None},
    )
