"""Pedelec for Python: the SDK that runs in the page.

    from pedelec import Pedelec, tool

The public names, nothing else. `pedelec_core` uses `protocol`, `errors` and `json_safe` besides.
"""

from pedelec.client import Pedelec
from pedelec.context import ToolContext
from pedelec.errors import Code, Effects, ErrorClass, ErrorType, PedelecError, ToolError
from pedelec.session import PedelecSession
from pedelec.tools import ToolDefinition, define_tool
from pedelec.typed_tools import tool
from pedelec.version import __version__

defineTool = define_tool  # noqa: N816 - the TypeScript SDK's name

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
    "defineTool",
    "define_tool",
    "tool",
]
