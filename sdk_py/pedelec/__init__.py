"""Pedelec for Python: the SDK that runs in the page.

    from pedelec import Pedelec, tool

The public names, nothing else. `pedelec_core` uses `protocol`, `errors` and `json_safe` besides, and must not
load the client for that: each name is imported when it is first asked for (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pedelec import recovery
    from pedelec.client import Pedelec
    from pedelec.content import audio, image, mixed, resource
    from pedelec.context import ToolContext
    from pedelec.errors import Code, Effects, ErrorClass, ErrorType, PedelecError, ToolError
    from pedelec.session import PedelecSession
    from pedelec.tools import ToolDefinition, define_tool
    from pedelec.tools import define_tool as defineTool  # noqa: N812 - the TypeScript SDK's name
    from pedelec.typed_tools import tool
    from pedelec.version import __version__

_HOMES = {
    "Code": "errors",
    "Effects": "errors",
    "ErrorClass": "errors",
    "ErrorType": "errors",
    "Pedelec": "client",
    "PedelecError": "errors",
    "PedelecSession": "session",
    "ToolContext": "context",
    "ToolDefinition": "tools",
    "ToolError": "errors",
    "__version__": "version",
    "audio": "content",
    "defineTool": "tools",
    "define_tool": "tools",
    "image": "content",
    "mixed": "content",
    "resource": "content",
    "tool": "typed_tools",
}

__all__ = [
    "Code",
    "Effects",
    "ErrorClass",
    "ErrorType",
    "Pedelec",
    "PedelecError",
    "PedelecSession",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "__version__",
    "audio",
    "defineTool",
    "define_tool",
    "image",
    "mixed",
    "recovery",
    "resource",
    "tool",
]


def __getattr__(name: str) -> object:
    if name == "recovery":
        return import_module("pedelec.recovery")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pedelec' has no attribute {name!r}")
    value = getattr(import_module(f"pedelec.{home}"), "define_tool" if name == "defineTool" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
