"""Streamable HTTP as an ASGI application. Limits the number and idle time of sessions and the size of bodies, and keeps responses
so that a client can resume a broken stream.

Middleware in front of it checks keys, origins and rates. `find_owner` returns the owner of a request. An MCP session belongs to
the owner that opened it; others get "not found".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_runtime.errors import Denied
from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.mcp.transports.event_store import EventBudget, ResumableSessionManager
from sandbox_runtime.mcp.transports.message_channel import MAX_MESSAGE_BYTES

MAX_SESSIONS = 1000
IDLE_S = 1800.0
FindOwner = Callable[[Scope], str]
"""Raises Denied."""


@asynccontextmanager
async def open_http(server: McpServer, find_owner: FindOwner) -> AsyncIterator[ASGIApp]:
    """Yield the application. It serves for the duration of the block."""
    manager = ResumableSessionManager(
        server.sdk_server, EventBudget(), idle_s=IDLE_S, max_sessions=MAX_SESSIONS, max_body_bytes=MAX_MESSAGE_BYTES
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            owner = find_owner(scope)
        except Denied as error:
            await JSONResponse({"detail": str(error)}, 403)(scope, receive, send)
            return
        token = AccessToken(token="", client_id=owner or "-", scopes=[])
        # Not every web server strips optional whitespace around header values.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await manager.handle_request({**scope, "headers": headers, "user": AuthenticatedUser(token)}, receive, send)

    async with _run_manager(manager):
        yield serve


@asynccontextmanager
async def _run_manager(manager: StreamableHTTPSessionManager) -> AsyncIterator[None]:
    """Run the manager in its own task, so that exceptions of the block are not wrapped in an exception group."""
    ready, done = asyncio.Event(), asyncio.Event()

    async def run() -> None:
        async with manager.run():
            ready.set()
            await done.wait()

    task = asyncio.create_task(run())
    try:
        await ready.wait()
        yield
    finally:
        done.set()
        await task
