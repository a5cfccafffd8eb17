"""WebSocket: one JSON message per text frame. The web server sends pings and limits the frame size."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from sandbox_runtime.errors import Denied
from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.mcp.transports.http import FindOwner
from sandbox_runtime.mcp.transports.message_channel import MAX_MESSAGE_BYTES, Disconnected, MessageTooLong, serve_channel

MAX_CONNECTIONS = 1000
_TRY_AGAIN_LATER, _POLICY_VIOLATION = 1013, 1008
_SUBPROTOCOL = "mcp"


class WebSockets:
    """The connections of one server."""

    def __init__(self, server: McpServer, find_owner: FindOwner, write_s: float) -> None:
        self._server = server
        self._find_owner = find_owner
        self._write_s = write_s
        self.open = 0

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        subprotocol = _SUBPROTOCOL if _SUBPROTOCOL in scope.get("subprotocols", ()) else None
        try:
            self._find_owner(scope)
        except Denied as error:
            await socket.close(_POLICY_VIOLATION, str(error)[:100])
            return
        await socket.accept(subprotocol=subprotocol)
        if self.open >= MAX_CONNECTIONS:
            await socket.close(_TRY_AGAIN_LATER, f"the limit of {MAX_CONNECTIONS} connections is reached; try again later")
            return
        self.open += 1
        try:
            await serve_channel(self._server, _FrameChannel(socket, self._write_s), socket)
            if socket.application_state is WebSocketState.CONNECTED:
                await socket.close()
        except (WebSocketDisconnect, RuntimeError):
            return  # the client closed it meanwhile
        finally:
            self.open -= 1


class _FrameChannel:
    """`write_s`: how long a client may take to receive one frame."""

    sequential = False

    def __init__(self, socket: WebSocket, write_s: float) -> None:
        self._socket = socket
        self._write_s = write_s

    async def receive(self) -> str | bytes | None:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | bytes = message.get("text") or message.get("bytes") or ""
        if len(text) > MAX_MESSAGE_BYTES:
            raise MessageTooLong
        return text

    async def send(self, text: str) -> None:
        try:
            async with asyncio.timeout(self._write_s):
                await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError, TimeoutError) as error:
            raise Disconnected from error
