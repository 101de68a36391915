"""MCP over a connection of the local socket: one JSON-RPC message a line, in both eras.

Owns the lines, and that calls are lost when the connection is. `pedelec-core mcp` connects hosts to this.
"""

import asyncio
import json
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from .gateway import Gateway
from .wire import Channel

type _Incoming = SessionMessage | Exception

_FLUSH_SECONDS: Final = 1.0


async def serve_lines(gateway: Gateway, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one client until its side of the connection ends."""
    channel = Channel(is_ordered=True)
    to_server, incoming = anyio.create_memory_object_stream[_Incoming](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    writing = asyncio.create_task(_write(from_server, writer))
    reading = asyncio.create_task(_read(reader, to_server, outgoing.clone()))
    try:
        await serve_dual_era_loop(gateway.server, incoming, outgoing, lifespan_state=channel)
        await asyncio.wait([writing], timeout=_FLUSH_SECONDS)
    finally:
        gateway.channel_gone(channel.id)
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


async def _read(
    reader: asyncio.StreamReader,
    to_server: MemoryObjectSendStream[_Incoming],
    to_client: MemoryObjectSendStream[SessionMessage],
) -> None:
    async with to_server, to_client:
        try:
            while line := await reader.readline():
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValidationError as error:
                    await to_client.send(SessionMessage(_refusal(line, error)))
                else:
                    await to_server.send(SessionMessage(message))
        except (OSError, ValueError, anyio.BrokenResourceError):
            return  # cut off, a line over the limit, or the server is done: the end in each case


def _refusal(line: bytes, problem: ValidationError) -> JSONRPCError:
    """The answer to what is no message, under its id where it has one: nobody waits for nothing."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    request_id = message.get("id") if isinstance(message, dict) and "method" in message else None
    if not isinstance(request_id, str | int):
        request_id = None
    is_unreadable = problem.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid"
    error = (
        ErrorData(code=PARSE_ERROR, message="Parse error")
        if is_unreadable
        else ErrorData(code=INVALID_REQUEST, message="This is no message of MCP")
    )
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


async def _write(
    from_server: MemoryObjectReceiveStream[SessionMessage], writer: asyncio.StreamWriter
) -> None:
    async with from_server:
        try:
            async for message in from_server:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(text.encode() + b"\n")
                await writer.drain()
        except OSError:
            return
