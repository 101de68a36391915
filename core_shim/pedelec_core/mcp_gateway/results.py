"""What an MCP client is told of a call: from Core's answers to `CallToolResult`.

Owns the form of results, errors and rich content. Decides nothing about calls. A result goes out as JSON text
and as structured content; that has to be an object (MCP 2025-11-25), so any other value is its `result`.
"""

import base64
import binascii
import json
from typing import Any, Final

from mcp_types import AudioContent, CallToolResult, ContentBlock, ImageContent, ResourceLink, TextContent
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from pedelec.doors import MCP
from pedelec.errors import PedelecError
from pedelec.json_text import JsonObject, encode_value
from pedelec_core.agent_desk import CallAnswer
from pedelec_core.page_text import UNTRUSTED_NOTE

from .catalogue import Entry

RESULT_URI: Final = "pedelec://results/"
"""Before the invocation id: a result as a resource."""

LINK_OVER_CHARS: Final = 64 * 1024
"""Results longer than this go out as a link; hosts cut text of that size, or refuse it."""

JSON_TYPE: Final = "application/json"

_SHOWN_CHARS: Final = 1_000


class _RichResult(TypedDict, total=False):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    content: list[ContentBlock]
    structuredContent: JsonObject
    isError: bool


_RICH: Final = TypeAdapter(_RichResult)


def of_answer(answer: CallAnswer, entry: Entry | None) -> CallToolResult:
    """The result of a call of a page's tool; a remark of Core's on it is a block of text of its own.

    Args:
        answer: Core's.
        entry: the tool, or None where the page that offered it has gone.
    """
    result = _of_outcome(answer, entry)
    if answer.warning is not None:
        result.content.append(TextContent(text=answer.warning))
    return result


def _of_outcome(answer: CallAnswer, entry: Entry | None) -> CallToolResult:
    outcome = answer.answer.outcome
    result_schema = None if entry is None else entry.tool.result_schema
    meta = {**_meta_of_page(entry), "pedelec/invocationId": answer.invocation_id}
    if outcome.error is not None:
        return _error(outcome.error, meta)
    assert outcome.result is not None
    text = outcome.result.text
    value = json.loads(text)
    rich = _rich(value)
    if rich is not None:
        return CallToolResult(
            content=[*_warning(entry), *rich["content"]],
            structured_content=rich.get("structuredContent"),
            is_error=rich.get("isError", False),
            _meta=meta,
        )
    is_error = _is_error(value)
    if len(text) > LINK_OVER_CHARS and not is_error and result_schema is None:
        link = _link(text, answer.invocation_id)
        return CallToolResult(content=[*_warning(entry), *link], _meta=meta)
    return CallToolResult(
        content=[*_warning(entry), TextContent(text=text)],
        structured_content=value if is_error else _structured(value, result_schema),
        is_error=is_error,
        _meta=meta,
    )


def of_error(error: PedelecError, entry: Entry | None = None) -> CallToolResult:
    """The result of a call that Core refused."""
    return _error(error, _meta_of_page(entry) if entry else None)


def of_value(value: JsonObject) -> CallToolResult:
    """The result of one of Core's own tools."""
    return CallToolResult(content=[TextContent(text=encode_value(value))], structured_content=value)


def output_schema(result_schema: JsonObject | None) -> JsonObject | None:
    """What structured content holds to, where the page declares what its tool returns."""
    if result_schema is None or _declares_object(result_schema):
        return result_schema
    inner = dict(result_schema)
    # References inside start at the root, so what they lead to has to stay there.
    hoisted: JsonObject = {key: inner.pop(key) for key in ("$defs", "definitions") if key in inner}
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **hoisted}


def meta_of_tool(entry: Entry) -> dict[str, Any]:
    """`_meta` of a listed tool: whose it is, and the hints that MCP has no name for."""
    hints = {
        "pedelec/untrustedContentHint": entry.tool.untrusted_content,
        "pedelec/consequentialHint": entry.tool.consequential,
    }
    return _owner(entry) | {name: True for name, holds in hints.items() if holds}


def _owner(entry: Entry) -> dict[str, Any]:
    return {"pedelec/app": entry.app.name, "pedelec/origin": entry.app.origin}


def _meta_of_page(entry: Entry | None) -> dict[str, Any]:
    whose = {} if entry is None else {**_owner(entry), "pedelec/threadId": entry.session.id}
    return {**whose, "pedelec/untrustedContent": True}


def _error(error: PedelecError, meta: dict[str, Any] | None) -> CallToolResult:
    envelope: JsonObject = {"error": error.to_wire(MCP)}
    return CallToolResult(
        content=[TextContent(text=encode_value(envelope))],
        structured_content=envelope,
        is_error=True,
        _meta=meta,
    )


def _warning(entry: Entry | None) -> list[ContentBlock]:
    """Says before what others wrote that they did; most agents see texts alone, not `_meta`."""
    is_untrusted = entry is None or entry.tool.untrusted_content
    return [TextContent(text=UNTRUSTED_NOTE)] if is_untrusted else []


def _is_error(value: object) -> bool:
    """Whether a page's result is an error result: it has an error envelope."""
    error = value.get("error") if isinstance(value, dict) else None
    return isinstance(error, dict) and isinstance(error.get("code"), str)


def _declares_object(result_schema: JsonObject) -> bool:
    return result_schema.get("type") == "object"


def _structured(value: Any, result_schema: JsonObject | None) -> JsonObject:
    is_bare = isinstance(value, dict) and (result_schema is None or _declares_object(result_schema))
    return value if is_bare else {"result": value}


def _rich(value: object) -> _RichResult | None:
    """A result that a page wrote as MCP content already; None for what could be anything else.

    Nothing of a result may get lost, so every member has to be known.
    """
    blocks = value.get("content") if isinstance(value, dict) else None
    if not isinstance(blocks, list) or not blocks:
        return None
    if not all(isinstance(block, dict) and "type" in block for block in blocks):
        return None
    try:
        rich = _RICH.validate_python(value, by_name=False)
        written = _RICH.dump_python(rich, mode="json", by_alias=True, exclude_unset=True)
        for block in rich["content"]:
            if isinstance(block, ImageContent | AudioContent):
                base64.b64decode(block.data, validate=True)
    except (ValidationError, binascii.Error):
        return None
    return rich if written == value else None


def _link(text: str, invocation_id: str) -> list[ContentBlock]:
    uri = RESULT_URI + invocation_id
    size = len(text.encode())
    note = (
        f"The result is {size} bytes of JSON, too long to show. Read the resource {uri} within five minutes. "
        f"It begins: {text[:_SHOWN_CHARS]}"
    )
    link = ResourceLink(name=f"result of {invocation_id}", uri=uri, mime_type=JSON_TYPE, size=size)
    return [TextContent(text=note), link]
