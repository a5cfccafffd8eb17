"""The official client over a WebSocket: it brings no such transport, so the frames are carried here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


@asynccontextmanager
async def websocket_client(url: str, key: str = "") -> AsyncIterator[TransportStreams]:
    into, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    headers = {"Authorization": f"Bearer {key}"} if key else None
    async with (
        connect(url, additional_headers=headers, max_size=None, subprotocols=["mcp"]) as socket,
        anyio.create_task_group() as group,
    ):

        async def take() -> None:
            async with into:
                try:
                    async for text in socket:
                        await into.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False)))
                except ConnectionClosed:
                    return

        async def give() -> None:
            async with out_of:
                async for one in out_of:
                    await socket.send(one.message.model_dump_json(by_alias=True, exclude_unset=True))

        group.start_soon(take)
        group.start_soon(give)
        try:
            yield read, write
        finally:
            group.cancel_scope.cancel()
