"""The inspector's socket: who may open it, and its frames between one WebSocket and the inspector desk."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from pedelec.errors import Code, PedelecError
from pedelec_core.inspector.desk import InspectorDesk
from pedelec_core.limits import CoreLimits

from .guard import error_response
from .page_socket import PageEndpoint

INSPECTOR_PATH: Final = "/inspect"


class InspectorEndpoint:
    """The ASGI app behind `/inspect`. The guard has seen to it that an `Origin` is Core's own or approved.

    Args:
        desk: where the frames go.
        may_inspect: whether the pages of an origin may look at their own sessions.
        limits: on connections, and on how fast they are read.
    """

    def __init__(self, desk: InspectorDesk, may_inspect: Callable[[str], bool], limits: CoreLimits) -> None:
        self._socket = PageEndpoint(desk, limits)
        self._may_inspect = may_inspect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin")
        if origin is not None and self._may_inspect(origin):
            await self._socket(scope, receive, send)
            return
        error = PedelecError(
            Code.INVALID_INPUT,
            "Only Core's own pages may inspect. Approved origins may with: pedelec-core serve --inspector",
        )
        await error_response(HTTPStatus.FORBIDDEN, error)(scope, receive, send)
