"""Tools as WebMCP knows them, and as Pedelec does: names, schemas, hints, both ways.

The specification is https://webmachinelearning.github.io/webmcp/; what Chromium does besides stands at the
place. Every name of ours is one there (at most 128 of letters, digits, `_`, `.`, `-`); there a name may also
begin with what ours may not.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pedelec.json_text import JsonObject
from pedelec.protocol import MAX_TOOL_TITLE_CHARS, TOOL_NAME_PATTERN

MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 8_192
_PREFIX = "page_"
_ANYTHING: JsonObject = {"type": "object"}
_HINTS = {
    "readOnlyHint": "readOnly",
    "untrustedContentHint": "untrustedContent",
    "consequentialHint": "consequential",
}


def native_tool(manifest: Mapping[str, Any]) -> JsonObject:
    """What `registerTool` is given for a tool, but for its `execute`."""
    told: JsonObject = {
        "name": manifest["name"],
        "description": manifest["description"],
        "inputSchema": manifest["argsSchema"],
        "annotations": {native: bool(manifest.get(ours)) for native, ours in _HINTS.items()},
    }
    if "title" in manifest:
        told["title"] = manifest["title"]
    if "resultSchema" in manifest:
        told["outputSchema"] = manifest["resultSchema"]
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeTool:
    """A tool of the browser's, as it is offered to Core.

    Attributes:
        key: names it to the browser's side, as long as it is registered there.
        native_name: its name there.
        manifest: the tool for Core.
    """

    key: str
    native_name: str
    manifest: JsonObject

    def without_schema(self) -> "NativeTool":
        """The same for a Core that refused its schema: it may be given anything, and checks that itself."""
        return replace(self, manifest={**self.manifest, "argsSchema": dict(_ANYTHING)})


def read_tools(listed: list[dict[str, Any]], taken: Collection[str] = ()) -> list[NativeTool]:
    """The browser's tools as Core may be offered them, in the browser's order.

    Args:
        listed: `key`, `name`, `title`, `description`, `inputSchema`, `annotations` of each.
        taken: names that Core has other tools under.
    """
    names = {*taken}
    tools = []
    for each in listed:
        name = _free_name(str(each["name"]), names)
        names.add(name)
        manifest = {"name": name, **_described(each), "argsSchema": _args_schema(each.get("inputSchema"))}
        tools.append(NativeTool(key=each["key"], native_name=str(each["name"]), manifest=manifest))
    return tools


def _described(each: dict[str, Any]) -> JsonObject:
    description = str(each.get("description") or "").strip()
    told: JsonObject = {"description": description[:MAX_DESCRIPTION_CHARS] or f"The page's {each['name']}."}
    title = str(each.get("title") or "").strip()
    if title:
        told["title"] = title[:MAX_TOOL_TITLE_CHARS]
    annotations = each.get("annotations") or {}
    return told | {ours: True for native, ours in _HINTS.items() if annotations.get(native) is True}


def _args_schema(schema: Any) -> JsonObject:
    """The schema, as an object's. Before Chromium 156 it came as text."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError:
            return dict(_ANYTHING)
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return dict(_ANYTHING)
    return {**schema, "type": "object"}


def _free_name(native: str, taken: Collection[str]) -> str:
    name = native if re.fullmatch(TOOL_NAME_PATTERN, native) else _PREFIX + native
    name = name[:MAX_NAME_CHARS]
    number = 1
    while name in taken:
        number += 1
        ending = f"_{number}"
        name = native[: MAX_NAME_CHARS - len(ending) - len(_PREFIX)] + ending
        if not re.fullmatch(TOOL_NAME_PATTERN, name):
            name = _PREFIX + name
    return name
