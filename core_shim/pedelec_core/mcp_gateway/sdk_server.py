"""The MCP SDK's server, with what we want otherwise: what it announces, and what it lets out of a failure.

Knows nothing of sessions or tools.
"""

import logging
from typing import Any, override

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, ServerCapabilities
from pydantic import ValidationError

_log = logging.getLogger(__name__)


class QuietServer(Server[Any]):
    """A server whose list of tools changes, and whose resources stay as they are.

    Its arguments are those of the SDK's.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.middleware[:] = [_keep_failures_in]  # in place of tracing, which nobody here collects

    @override
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """In the eras of the handshake, the SDK does not announce changes by itself."""
        announced = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(announced, experimental_capabilities, extensions)

    @override
    def get_capabilities(self, *args: Any, **options: Any) -> ServerCapabilities:
        """Since 2026-07-28 the SDK announces changes of everything once there are any of one thing."""
        capabilities = super().get_capabilities(*args, **options)
        if capabilities.resources is not None:
            capabilities.resources.list_changed = capabilities.resources.subscribe = False
        return capabilities


async def _keep_failures_in(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Whatever a handler fails of: its text is not the client's to see, and the SDK would pass it on."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except Exception:  # noqa: BLE001 - whatever it was
        _log.exception("a request of %s failed", ctx.method)
        raise MCPError(INTERNAL_ERROR, "Internal error") from None
