"""The tools of one session: what a page declared, and whether a call fits it.

Owns the checks of a page's manifests (Core does not trust the page to have made them), the lookup of a tool
by name, and what an agent is told when there is none of that name. How broken arguments are described
stands in `violations`. Does no I/O; a schema's remote references are never fetched.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, Self

import jsonschema_rs

from pedelec import json_safe
from pedelec.call_text import best_reader
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue
from pedelec.protocol import MAX_TOOL_TIMEOUT_MS, MAX_TOOL_TITLE_CHARS, TOOL_HINTS, TOOL_NAME_PATTERN, Limits
from pedelec.wire_fields import to_camel
from pedelec_core import page_text
from pedelec_core.corrections import corrected
from pedelec_core.json_words import preview, type_name
from pedelec_core.limits import OfferLimits
from pedelec_core.near_misses import nearest
from pedelec_core.schema_budget import SchemaBudget, TooDearError
from pedelec_core.violations import Path, args_invalid, describe, unusable

MAX_SCHEMA_DEPTH: Final = 100

_NAME: Final = re.compile(TOOL_NAME_PATTERN, re.ASCII)
_NAMES_SHOWN: Final = 10
_APPROVALS: Final = ("always", "consequential")
_HINTS: Final = {to_camel(name): name for name in TOOL_HINTS}

# Patterns are matched in linear time unless they look around or refer back; those give up at this limit.
_PATTERNS: Final = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=100_000, size_limit=1024 * 1024, dfa_size_limit=1024 * 1024
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool, as its manifest declares it. `timeout_ms` is None where the default holds.

    `result_schema` is shown to agents and never enforced: a result is the page's word.
    """

    name: str
    description: str
    args_schema: JsonObject
    timeout_ms: int | None = None
    title: str | None = None
    result_schema: JsonObject | None = None
    read_only: bool = False
    idempotent: bool = False
    approval: str | None = None
    exclusive: bool = False
    untrusted_content: bool = False
    consequential: bool = False
    _validator: jsonschema_rs.Validator = field(repr=False, compare=False)
    _budget: SchemaBudget = field(repr=False, compare=False)

    def validate(self, args: JsonObject) -> None:
        """Check a call's arguments.

        Raises:
            PedelecError: `TOOL_ARGS_INVALID`; `details.violations` lists all that is wrong.
        """
        if not self._budget.may_be_checked(args):
            problem = "they are too large, or hold texts too long, to be checked against the schema"
            raise args_invalid([unusable(problem, "smaller arguments", preview(args))], tool=self.name)
        if self._validator.is_valid(args):
            return
        if not self._budget.may_be_listed(args):
            problem = "they do not fit the schema, and are too large to say where"
            raise args_invalid([unusable(problem, "what the schema says", preview(args))], tool=self.name)
        violations = describe(self._validator.iter_errors(args), self.args_schema)
        meant = corrected(args, self.args_schema, self._validator)
        raise args_invalid(violations, tool=self.name, corrected=meant)

    def to_wire(self) -> JsonObject:
        """The manifest again, as agents see it; hints that do not hold are left out."""
        told: JsonObject = {
            "name": self.name,
            "description": self.description,
            "argsSchema": self.args_schema,
        }
        if self.timeout_ms is not None:
            told["timeoutMs"] = self.timeout_ms
        if self.title is not None:
            told["title"] = self.title
        if self.result_schema is not None:
            told["resultSchema"] = self.result_schema
        if self.approval is not None:
            told["approval"] = self.approval
        return told | {wire_name: True for wire_name, name in _HINTS.items() if getattr(self, name)}


class ToolRegistry:
    """The tools of one session, by name. Never changes."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @classmethod
    def from_manifests(
        cls,
        manifests: list[JsonObject],
        limits: OfferLimits | None = None,
        has_time: Callable[[], bool] = lambda: True,
        taken: Collection[str] = (),
    ) -> Self:
        """Read what a page declared. Names that are `taken` are refused.

        Args:
            manifests: as they came.
            limits: on them.
            has_time: asked before each tool; if there is none left, the rest is not looked at.

        Raises:
            PedelecError: `INVALID_INPUT`; message and `details` (`tool`, `index`, `field`) say which tool and
                field is wrong, and why.
        """
        limits = limits or OfferLimits()
        most = limits.tools_per_session
        if len(manifests) + len(taken) > most:
            problem = f"A session may offer {most} tools; these are {len(manifests) + len(taken)}."
            raise PedelecError(Code.INVALID_INPUT, problem, details={"field": "tools", "limit": most})
        tools: dict[str, Tool] = {}
        for index, manifest in enumerate(manifests):
            if not has_time():
                problem = f"Only {index} of {len(manifests)} tools were made ready in time: simplify schemas."
                raise PedelecError(Code.INVALID_INPUT, problem, details={"field": "tools", "index": index})
            tool = _ManifestReader(manifest, index, limits).tool()
            if tool.name in tools or tool.name in taken:
                raise _invalid_tool(tool.name, index, "name", "is declared twice")
            tools[tool.name] = tool
        return cls(tools.values())

    def with_more(self, others: "Iterable[ToolRegistry]") -> "ToolRegistry":
        """These tools, and those of others under names that are free; of several the first."""
        tools = dict(self._tools)
        for other in others:
            for name, tool in other._tools.items():
                tools.setdefault(name, tool)
        return ToolRegistry(tools.values())

    def names(self) -> list[str]:
        """The tools' names, in the order in which the page declared them."""
        return list(self._tools)

    def reader_for(self, name: str) -> str | None:
        """The read-only tool that shows best what a tool has done, if there is one."""
        return best_reader(name, (tool.to_wire() for tool in self._tools.values()))

    def knows(self, name: str) -> bool:
        """Whether there is a tool of that name."""
        return name in self._tools

    def get(self, name: str) -> Tool:
        """Look a tool up; names are exact.

        Raises:
            PedelecError: `TOOL_NOT_FOUND`, with the nearest names, or else the first few of all.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise self._not_found(name)
        return tool

    def _not_found(self, name: str) -> PedelecError:
        near = nearest(name, self._tools, limit=3)
        names = near or self.names()[:_NAMES_SHOWN]
        details: JsonObject = {"tool": name[:200]}
        if near:
            hint = f"Did you mean {near[0]}?"
            details["nearest"] = near[0]
        elif names:
            left_out = len(self._tools) - len(names)
            hint = f"There are: {', '.join(names)}" + (f", and {left_out} more." if left_out else ".")
        else:
            hint = "This session offers no tools."
        return PedelecError(
            Code.TOOL_NOT_FOUND,
            f"No tool is called {name[:200]!r}. {hint}",
            suggestions=names,
            details=details,
        )


def parse_args(text: str, limits: Limits) -> JsonObject:
    """Read the arguments that an agent wrote.

    Raises:
        PedelecError: `TOOL_ARGS_INVALID`: not strictly JSON (I-JSON, RFC 7493), no object, or over a limit.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.max_args_bytes:
        problem = f"They are {size} bytes long, and {limits.max_args_bytes} are allowed"
        raise _unusable(problem, f"at most {limits.max_args_bytes} bytes", f"{size} bytes")
    try:
        args = json_safe.parse(text, max_depth=limits.max_depth)
    except json_safe.InvalidJsonError as error:
        if error.steps is not None:
            expected = "a value that JSON carries exactly (RFC 7493)"
            raise _unusable(error.message, expected, "one that it does not", error.steps) from None
        expected, got = "a JSON object", "text that is not JSON"
        raise _unusable(error.message, expected, got, line=error.line, column=error.column) from None
    if not isinstance(args, dict):
        problem = f"They must be a JSON object, not {type_name(args)}"
        raise _unusable(problem, "a JSON object", preview(args))
    return args


def _unusable(problem: str, expected: str, got: str, path: Path = (), **facts: JsonValue) -> PedelecError:
    return args_invalid([unusable(problem.rstrip("."), expected, got, path, **facts)])


class _ManifestReader:
    """Reads one manifest; every method raises `INVALID_INPUT` that names the field it reads."""

    def __init__(self, manifest: JsonObject, index: int, limits: OfferLimits) -> None:
        self._manifest = manifest
        self._index = index
        self._limits = limits
        name = manifest.get("name")
        self._name = name if isinstance(name, str) else ""

    def tool(self) -> Tool:
        if not _NAME.fullmatch(self._name):
            raise self._invalid("name", f"must match {TOOL_NAME_PATTERN}")
        schema = self._args_schema()
        return Tool(
            name=self._name,
            description=self._description(),
            args_schema=schema,
            timeout_ms=self._timeout_ms(),
            title=self._title(),
            approval=self._approval(),
            result_schema=self._result_schema(),
            **{name: self._flag(wire_name) for wire_name, name in _HINTS.items()},
            _budget=self._budget("argsSchema", schema),
            _validator=self._validator("argsSchema", schema),
        )

    def _description(self) -> str:
        description = self._manifest.get("description")
        if not isinstance(description, str) or not page_text.on_lines(description).strip():
            raise self._invalid("description", "must be a string that says what the tool does")
        most = self._limits.description_chars
        if len(description) > most:
            raise self._invalid("description", f"must not be longer than {most} characters")
        if not _is_unicode(description):
            raise self._invalid("description", "must not hold lone surrogates")
        return page_text.on_lines(description)

    def _title(self) -> str | None:
        title = self._manifest.get("title")
        if title is None:
            return None
        if not isinstance(title, str) or not title.strip() or not _is_unicode(title):
            raise self._invalid("title", "must be a string (of valid Unicode) that is not blank")
        if len(title) > MAX_TOOL_TITLE_CHARS:
            raise self._invalid("title", f"must not be longer than {MAX_TOOL_TITLE_CHARS} characters")
        return page_text.on_one_line(title, MAX_TOOL_TITLE_CHARS) or None

    def _timeout_ms(self) -> int | None:
        timeout_ms = self._manifest.get("timeoutMs")
        if timeout_ms is None:
            return None
        if type(timeout_ms) is not int or not 0 < timeout_ms <= MAX_TOOL_TIMEOUT_MS:
            raise self._invalid("timeoutMs", f"must be an integer from 1 to {MAX_TOOL_TIMEOUT_MS}")
        return timeout_ms

    def _approval(self) -> str | None:
        approval = self._manifest.get("approval")
        if approval is not None and approval not in _APPROVALS:
            raise self._invalid("approval", f"must be one of {', '.join(_APPROVALS)}")
        return None if approval is None else str(approval)

    def _flag(self, wire_name: str) -> bool:
        flag = self._manifest.get(wire_name, False)
        if type(flag) is not bool:
            raise self._invalid(wire_name, "must be true or false")
        return flag

    def _args_schema(self) -> JsonObject:
        schema = self._manifest.get("argsSchema")
        if type(schema) is not dict or schema.get("type") != "object":
            raise self._invalid("argsSchema", 'must be a JSON Schema whose "type" is "object"')
        return self._usable("argsSchema", schema)

    def _result_schema(self) -> JsonObject | None:
        schema = self._manifest.get("resultSchema")
        if schema is None:
            return None
        if type(schema) is not dict:
            raise self._invalid("resultSchema", "must be a JSON Schema")
        self._budget("resultSchema", self._usable("resultSchema", schema))
        self._validator("resultSchema", schema)
        return schema

    def _usable(self, field_name: str, schema: JsonObject) -> JsonObject:
        most = self._limits.schema_bytes
        try:
            json_safe.encode(schema, max_bytes=most, max_depth=MAX_SCHEMA_DEPTH)
        except json_safe.NotJsonSafeError as error:
            raise self._invalid(field_name, f"cannot be used at {error.path}: {error.hint}") from None
        except json_safe.TooLargeError:
            raise self._invalid(field_name, f"must not be larger than {most} bytes") from None
        return schema

    def _budget(self, field_name: str, schema: JsonObject) -> SchemaBudget:
        try:
            return SchemaBudget(schema, self._limits.schema_size, self._limits.patterns_per_schema)
        except TooDearError as error:
            raise self._invalid(field_name, str(error)) from None

    def _validator(self, field_name: str, schema: JsonObject) -> jsonschema_rs.Validator:
        try:
            return jsonschema_rs.validator_for(schema, offline=True, pattern_options=_PATTERNS)
        except (jsonschema_rs.ValidationError, ValueError) as error:
            raise self._invalid(field_name, f"is no valid JSON Schema: {_why_not(error)}") from None

    def _invalid(self, field_name: str, problem: str) -> PedelecError:
        return _invalid_tool(self._name, self._index, field_name, problem)


def _invalid_tool(name: str, index: int, field_name: str, problem: str) -> PedelecError:
    shown = f"Tool {name[:200]!r}" if name else f"Tool number {index + 1}"
    return PedelecError(
        Code.INVALID_INPUT,
        f"{shown}: {field_name} {problem}.",
        details={"tool": name[:200] or None, "index": index, "field": field_name},
    )


def _why_not(error: Exception) -> str:
    if isinstance(error, jsonschema_rs.ValidationError):
        place = "".join(f"/{part}" for part in error.instance_path)
        return f"{error.message[:500]}{f' (at {place})' if place else ''}".rstrip(".")
    return str(error)[:500].rstrip(".")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
