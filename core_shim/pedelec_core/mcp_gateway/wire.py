"""What our transports and the MCP server tell each other beside the protocol.

Owns the channel that a request came by, and the two extensions that the bridge uses: a name for a call that
outlives its connection (`_meta`), and the notice that an answer has arrived.
"""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Self

from mcp.server.context import ServerRequestContext
from mcp_types import NotificationParams, RequestId

from .calls import CallKey
from .extensions import CALL_ID_META, RECEIVED_METHOD

__all__ = ["CALL_ID_META", "CHANNEL_SCOPE", "RECEIVED_METHOD", "Channel", "ReceivedParams", "to_json"]

CHANNEL_SCOPE: Final = "pedelec.channel"
"""Where the ASGI scope of a request has its channel."""


class ReceivedParams(NotificationParams):
    """The answer to a request is in the client's hands."""

    request_id: RequestId


@dataclass(slots=True)
class Channel:
    """A client's connection, as far as requests and cancellations name each other by it.

    Attributes:
        id: unique among the channels of this Core.
        carries: told of each call whose answer will go out by it.
        is_ordered: whether everything that the client says comes in its order.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    carries: Callable[[CallKey], None] = lambda _key: None
    is_ordered: bool = False

    @classmethod
    def of(cls, ctx: ServerRequestContext[Any, Any]) -> Self:
        """The channel of a request: the HTTP request's, or its connection's."""
        channel = ctx.lifespan_context if ctx.request is None else ctx.request.scope[CHANNEL_SCOPE]
        assert isinstance(channel, cls)
        return channel


def to_json(value: object) -> str:
    """Arguments as the client sent them, again as text: what in them is no JSON is found by who reads it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
