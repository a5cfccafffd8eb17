"""WebSocket: one JSON message a text frame, the same as stdio's lines. The web server below pings and bounds frames."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from sandbox_runtime.errors import Denied
from sandbox_runtime.mcp.server import Door
from sandbox_runtime.mcp.transports.channel import MOST_MESSAGE_BYTES, Gone, TooLong, serve_channel
from sandbox_runtime.mcp.transports.http import OwnerOf

MOST_CONNECTIONS = 1000
_TRY_AGAIN, _NOT_ALLOWED = 1013, 1008
_SUBPROTOCOL = "mcp"


class WebSockets:
    """All connections of one server, counted."""

    def __init__(self, door: Door, owner_of: OwnerOf, write_s: float) -> None:
        self._door = door
        self._owner_of = owner_of
        self._write_s = write_s
        self.open = 0

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        offered = _SUBPROTOCOL if _SUBPROTOCOL in scope.get("subprotocols", ()) else None
        try:
            self._owner_of(scope)
        except Denied as error:
            await socket.close(_NOT_ALLOWED, str(error)[:100])
            return
        await socket.accept(subprotocol=offered)
        if self.open >= MOST_CONNECTIONS:
            await socket.close(_TRY_AGAIN, f"{MOST_CONNECTIONS} connections are open: try again later")
            return
        self.open += 1
        try:
            await serve_channel(self._door, _Frames(socket, self._write_s), socket)
            if socket.application_state is WebSocketState.CONNECTED:
                await socket.close()
        except (WebSocketDisconnect, RuntimeError):
            return  # it was closed from the other side meanwhile
        finally:
            self.open -= 1


class _Frames:
    """write_s: how long a client may take for one frame."""

    in_turn = False

    def __init__(self, socket: WebSocket, write_s: float) -> None:
        self._socket = socket
        self._write_s = write_s

    async def receive(self) -> str | bytes | None:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | bytes = message.get("text") or message.get("bytes") or ""
        if len(text) > MOST_MESSAGE_BYTES:
            raise TooLong
        return text

    async def send(self, text: str) -> None:
        try:
            async with asyncio.timeout(self._write_s):
                await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError, TimeoutError) as error:
            raise Gone from error
