"""Results of calls as MCP resources: what was too long to show, and what came too late.

Owns their addresses' form and how they are read. How long a result is kept is `invocations`' business; who
knows its address, which cannot be guessed, may read it.
"""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)

from pedelec.doors import MCP
from pedelec.errors import PedelecError
from pedelec_core.agent_desk import AgentDesk

from .results import JSON_TYPE, RESULT_URI

type _Context = ServerRequestContext[Any, Any]


class StoredResults:
    """Answers the requests for resources.

    Args:
        desk: has the results.
    """

    def __init__(self, desk: AgentDesk) -> None:
        self._desk = desk

    async def list(self, _ctx: _Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """None: results are linked where they are given, and their addresses are for who called."""
        refuse_cursor(params)
        return ListResourcesResult(resources=[])

    async def templates(
        self, _ctx: _Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The one form that addresses have."""
        refuse_cursor(params)
        template = ResourceTemplate(
            name="result",
            uri_template=f"{RESULT_URI}{{invocationId}}",
            description="The result of a call, for five minutes; its late one, if it came after a time-out.",
            mime_type=JSON_TYPE,
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def read(self, _ctx: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """A result.

        Raises:
            MCPError: there is none at that address (-32602).
        """
        uri = str(params.uri)
        if not uri.startswith(RESULT_URI):
            raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})
        try:
            outcome = self._desk.tool_result(uri.removeprefix(RESULT_URI), MCP).answer.outcome
        except PedelecError as error:
            raise _no_result(uri, error) from None
        if outcome.result is None:
            assert outcome.error is not None
            raise _no_result(uri, outcome.error)
        text = TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=outcome.result.text)
        return ReadResourceResult(contents=[text])


def _no_result(uri: str, error: PedelecError) -> MCPError:
    return MCPError(INVALID_PARAMS, error.message, {"uri": uri, "error": error.to_wire(MCP)})


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Every list is one page long.

    Raises:
        MCPError: another page is asked for (-32602).
    """
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "There is one page only", {"cursor": params.cursor})
