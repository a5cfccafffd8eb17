"""A connection that carries one text message at a time: lines over stdio, frames over WebSocket.

Theory of operation. Two tasks and the SDK's loop are connected by two in-memory streams: one task parses texts into messages, the
other serializes messages. Invalid JSON and invalid messages are answered here, with id null, because the SDK's loop never sees
them; the connection stays open. When the client disconnects, the stream into the loop closes and the loop cancels its requests.
"""

from __future__ import annotations

import json
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.model.bounds import JSON_VALUES, count_json_values

MAX_MESSAGE_BYTES = 10 * 1024 * 1024
MAX_ANSWER_S = 3600.0
"""With sequential messages: how long a request waits for the response to the previous one."""
_ALIASES = {"initialized": "notifications/initialized", "cancelled": "notifications/cancelled"}
"""Method names of older clients."""
_EXIT = "exit"


class MessageTooLong(Exception):
    """A message exceeds MAX_MESSAGE_BYTES. The rest of it was skipped; the connection stays open."""


class Disconnected(Exception):
    """The client closed the connection."""


class Channel(Protocol):
    sequential: bool
    """Messages come from a file: each request waits for the response to the previous one, and so does the end."""

    async def receive(self) -> str | bytes | None:
        """Return the next message, or None at the end. Raises MessageTooLong."""
        ...

    async def send(self, text: str) -> None:
        """Raises Disconnected."""
        ...


async def serve_channel(server: McpServer, channel: Channel, request: object = None) -> None:
    """Serve until either side closes. `request`: the transport's request object, passed to `host_for`."""
    to_loop, loop_input = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    loop_output, from_loop = anyio.create_memory_object_stream[SessionMessage](0)
    write_lock, pending = anyio.Lock(), _PendingRequest(channel.sequential)

    async def read_messages() -> None:
        async with to_loop:
            while (text := await _next(channel, write_lock)) is not None:
                message = await _parse(channel, write_lock, text)
                if message is not None and _is_exit(message):
                    return
                if message is not None:
                    await pending.add(message)
                    await to_loop.send(SessionMessage(message, metadata=ServerMessageMetadata(request_context=request)))
            await pending.wait()

    async def write_messages() -> None:
        try:
            async with from_loop:
                async for item in from_loop:
                    await _send(channel, write_lock, item.message.model_dump_json(by_alias=True, exclude_unset=True))
                    pending.remove(item.message)
        finally:
            pending.abandon()

    async with anyio.create_task_group() as group:
        group.start_soon(_until_closed, read_messages)
        group.start_soon(_until_closed, write_messages)
        # The lifespan state identifies the connection: see connection_id.
        await serve_dual_era_loop(
            server.sdk_server, loop_input, loop_output, lifespan_state=object(), init_options=server.options
        )
        group.cancel_scope.cancel()


class _PendingRequest:
    """The request that waits for its response, if messages are sequential."""

    def __init__(self, sequential: bool) -> None:
        self._sequential = sequential
        self._id: types.RequestId | None = None
        self._answered = anyio.Event()

    async def add(self, message: types.JSONRPCMessage) -> None:
        if self._sequential and isinstance(message, types.JSONRPCRequest):
            await self.wait()
            self._id, self._answered = message.id, anyio.Event()

    def remove(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id == self._id:
            self._id = None
            self._answered.set()

    def abandon(self) -> None:
        """Stop waiting: responses can no longer be sent."""
        self._sequential, self._id = False, None
        self._answered.set()

    async def wait(self) -> None:
        if self._id is not None:
            with anyio.move_on_after(MAX_ANSWER_S):
                await self._answered.wait()


async def _until_closed(work: Any) -> None:
    try:
        await work()
    except (Disconnected, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def _next(channel: Channel, write_lock: anyio.Lock) -> str | bytes | None:
    while True:
        try:
            return await channel.receive()
        except MessageTooLong:
            await _send_error(channel, write_lock, types.INVALID_REQUEST, f"the message exceeds {MAX_MESSAGE_BYTES} bytes")


async def _parse(channel: Channel, write_lock: anyio.Lock, text: str | bytes) -> types.JSONRPCMessage | None:
    if not text.strip():
        return None
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if len(raw) > JSON_VALUES and count_json_values(raw, JSON_VALUES) > JSON_VALUES:
        await _send_error(channel, write_lock, types.INVALID_REQUEST, f"the message exceeds {JSON_VALUES} JSON values")
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False) if not _is_alias(text) else _parse_alias(text)
    except ValidationError as error:
        is_json = all(detail["type"] != "json_invalid" for detail in error.errors())
        code, form = (types.INVALID_REQUEST, "JSON-RPC 2.0") if is_json else (types.PARSE_ERROR, "JSON")
        await _send_error(channel, write_lock, code, f"the message is not valid {form}")
        return None
    if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(text):
        # The SDK parses a request with an id of another type as a notification and would never answer it.
        await _send_error(channel, write_lock, types.INVALID_REQUEST, "the id of a request must be a string or an integer")
        return None
    return message


def _is_alias(text: str | bytes) -> bool:
    """Search the raw text first: parsing is needed for few messages only."""
    raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    return len(raw) < 4096 and any(f'"{name}"'.encode() in raw for name in _ALIASES)


def _parse_alias(text: str | bytes) -> types.JSONRPCMessage:
    try:
        message = json.loads(text)
    except ValueError:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    if isinstance(message, dict) and message.get("method") in _ALIASES:
        message["method"] = _ALIASES[message["method"]]
    return types.jsonrpc_message_adapter.validate_python(message, by_name=False)


def _is_exit(message: types.JSONRPCMessage) -> bool:
    return isinstance(message, types.JSONRPCNotification) and message.method == _EXIT


async def _send_error(channel: Channel, write_lock: anyio.Lock, code: int, reason: str) -> None:
    await _send(channel, write_lock, json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": reason}}))


async def _send(channel: Channel, write_lock: anyio.Lock, text: str) -> None:
    async with write_lock:
        await channel.send(text)
