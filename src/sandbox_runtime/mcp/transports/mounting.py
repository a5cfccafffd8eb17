"""/mcp and /mcp/ws as routes for any Starlette application; for a server of its own also /health, /metrics and /info."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_runtime.mcp.server import Door
from sandbox_runtime.mcp.transports.http import OwnerOf, open_http
from sandbox_runtime.mcp.transports.pace import Bucket
from sandbox_runtime.mcp.transports.websocket import WebSockets

PATH, SOCKET_PATH = "/mcp", "/mcp/ws"
MOST_AT_ONCE = 1000
_TOO_MANY = "too many requests at once; try again in a second"


@dataclass(slots=True)
class Counters:
    begun_s: float = field(default_factory=time.monotonic)
    requests: int = 0
    errors: int = 0
    active: int = 0
    busy_s: float = 0.0
    bytes_served: int = 0


class Entrance:
    """Counts what goes through, and refuses what is over the pace or over the number at once."""

    def __init__(self, app: ASGIApp, counters: Counters, bucket: Bucket | None) -> None:
        self._app = app
        self._counters = counters
        self._bucket = bucket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counters, begun_s = self._counters, time.monotonic()
        counters.requests += 1
        if (self._bucket is not None and not self._bucket.take()) or counters.active >= MOST_AT_ONCE:
            counters.errors += 1
            body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": _TOO_MANY}}
            await JSONResponse(body, 429, {"Retry-After": "1"})(scope, receive, send)
            return
        counters.active += 1
        try:
            await self._app(scope, receive, self._counting(send))
        finally:
            counters.active -= 1
            counters.busy_s += time.monotonic() - begun_s

    def _counting(self, send: Send) -> Send:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                self._counters.errors += 1
            self._counters.bytes_served += len(message.get("body", b""))
            await send(message)

        return counted


class _Sockets:
    """As an object, which the router takes for an application, and not for a handler of its own kind."""

    def __init__(self, sockets: WebSockets) -> None:
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sockets.serve(scope, receive, send)


@asynccontextmanager
async def open_routes(door: Door, owner_of: OwnerOf, *, alone: bool = False) -> AsyncIterator[list[BaseRoute]]:
    """owner_of raises Denied for those who may not come in. alone: with all that a server of its own tells, at its own pace."""
    counters, sockets = Counters(), WebSockets(door, owner_of)
    async with open_http(door, owner_of) as http:
        entrance = Entrance(http, counters, Bucket() if alone else None)
        routes: list[BaseRoute] = [Route(PATH, entrance), WebSocketRoute(SOCKET_PATH, _Sockets(sockets))]
        yield routes + (_of_its_own(door, counters, sockets) if alone else [])


def _of_its_own(door: Door, counters: Counters, sockets: WebSockets) -> list[BaseRoute]:
    async def health(_request: Request) -> Response:
        uptime_s = time.monotonic() - counters.begun_s
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return JSONResponse({"status": "ok", "timestamp": now, "version": door.version, "uptime": f"{uptime_s:.3f}s"})

    async def metrics(_request: Request) -> Response:
        return JSONResponse(_figures(counters, sockets))

    async def info(_request: Request) -> Response:
        return JSONResponse(door.described())

    return [Route("/health", health), Route("/metrics", metrics), Route("/info", info)]


def _figures(counters: Counters, sockets: WebSockets) -> dict[str, Any]:
    return {
        "requests_total": counters.requests,
        "average_duration_us": round(counters.busy_s * 1e6 / counters.requests) if counters.requests else 0,
        "active_connections": counters.active + sockets.open,
        "websocket_connections": sockets.open,
        "errors_total": counters.errors,
        "bytes_served": counters.bytes_served,
        "compression_ratio": 1.0,
    }
