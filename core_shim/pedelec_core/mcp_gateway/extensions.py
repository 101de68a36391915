"""The two names by which the stdio bridge and Core go beyond MCP. Imports nothing: the bridge starts fast."""

from typing import Final

CALL_ID_META: Final = "pedelec/callId"
"""In `_meta` of `tools/call`: the caller's own name for the call. The same name is the same call, also on
another connection and after a restart of Core."""

RECEIVED_METHOD: Final = "notifications/pedelec/received"
"""A notification with a `requestId`: the answer to that request is in the client's hands."""
