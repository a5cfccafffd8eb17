"""/mcp and /mcp/ws as routes for any Starlette application; for a server of its own also /health, /metrics and /info."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
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
from sandbox_runtime.mcp.transports.websocket import WebSockets
from sandbox_runtime.model.bounds import JSON_VALUES, JsonValueCounter
from sandbox_runtime.rate_limit import TokenBucket

PATH, SOCKET_PATH = "/mcp", "/mcp/ws"
REQUESTS_PER_S, BURST = 100.0, 200.0
MOST_AT_ONCE = 1000
More = Callable[[], Awaitable[dict[str, Any]]]
_TOO_MANY = "too many requests at once; try again in a second"


@dataclass(slots=True)
class Counters:
    begun_s: float = field(default_factory=time.monotonic)
    requests: int = 0
    errors: int = 0
    active: int = 0
    busy_s: float = 0.0
    bytes_served: int = 0


class TooSlow(Exception):
    """The client did not send, or did not take, within its time."""


class TooCrowded(Exception):
    """The request holds more JSON values than are parsed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """read_s: for a whole request to arrive. write_s: for one piece of an answer to be taken."""

    read_s: float
    write_s: float


class Entrance:
    """Counts what goes through, and refuses what is over the pace, over the number at once, or too slow."""

    def __init__(self, app: ASGIApp, counters: Counters, bucket: TokenBucket | None, patience: Patience) -> None:
        self._app = app
        self._counters = counters
        self._bucket = bucket
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counters, begun_s = self._counters, time.monotonic()
        counters.requests += 1
        if (self._bucket is not None and self._bucket.take()) or counters.active >= MOST_AT_ONCE:
            counters.errors += 1
            body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": _TOO_MANY}}
            await JSONResponse(body, 429, {"Retry-After": "1"})(scope, receive, send)
            return
        counters.active += 1
        try:
            counted = _Counted(send, counters, self._patience.write_s)
            await self._served(scope, _Arriving(receive, self._patience.read_s), counted)
        finally:
            counters.active -= 1
            counters.busy_s += time.monotonic() - begun_s

    async def _served(self, scope: Scope, receive: _Arriving, send: _Counted) -> None:
        try:
            await self._app(scope, receive, send)
        except BaseException as error:
            if not (receive.late or receive.crowded or send.late):
                raise
            if send.begun or isinstance(error, asyncio.CancelledError):
                raise  # the web server closes the connection
        if (receive.late or receive.crowded) and not send.begun:
            late = f"the request did not arrive within {self._patience.read_s:g} s"
            crowded = f"the request holds more than {JSON_VALUES} JSON values"
            body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": crowded if receive.crowded else late}}
            await JSONResponse(body, 413 if receive.crowded else 408)(scope, receive, send)


class _Arriving:
    """What a client sends, until all of it is there; then whoever waits, waits for the client to go away. Its time begins when
    somebody waits for it."""

    def __init__(self, receive: Receive, within_s: float) -> None:
        self._receive = receive
        self._within_s = within_s
        self._until_s: float | None = None
        self._complete = False
        self._values = JsonValueCounter()
        self.late = self.crowded = False

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        loop_s = asyncio.get_running_loop().time()
        self._until_s = loop_s + self._within_s if self._until_s is None else self._until_s
        try:
            async with asyncio.timeout_at(self._until_s):
                message = await self._receive()
        except TimeoutError as error:
            self.late = True
            raise TooSlow from error
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        self._values.feed(message.get("body", b""))
        if self._values.count > JSON_VALUES:
            self._complete = self.crowded = True
            raise TooCrowded
        return message


class _Counted:
    """What a client takes."""

    def __init__(self, send: Send, counters: Counters, within_s: float) -> None:
        self._send = send
        self._counters = counters
        self._within_s = within_s
        self.begun = self.late = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            self._counters.errors += message["status"] >= 400
        self._counters.bytes_served += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._within_s):
                await self._send(message)
        except TimeoutError as error:
            self.late = True
            raise TooSlow from error


class _Sockets:
    """As an object, which the router takes for an application, and not for a handler of its own kind."""

    def __init__(self, sockets: WebSockets) -> None:
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sockets.serve(scope, receive, send)


@asynccontextmanager
async def open_routes(
    door: Door, owner_of: OwnerOf, *, alone: bool = False, more: More | None = None
) -> AsyncIterator[list[BaseRoute]]:
    """owner_of raises Denied for those who may not come in. alone: with all that a server of its own tells, at its own pace.
    more: further figures for /metrics."""
    server = door.config.server
    counters, sockets = Counters(), WebSockets(door, owner_of, server.write_timeout)
    async with open_http(door, owner_of) as http:
        entrance = Entrance(
            http,
            counters,
            TokenBucket(REQUESTS_PER_S, BURST) if alone else None,
            Patience(server.read_timeout, server.write_timeout),
        )
        routes: list[BaseRoute] = [Route(PATH, entrance), WebSocketRoute(SOCKET_PATH, _Sockets(sockets))]
        yield routes + (_of_its_own(door, counters, sockets, more) if alone else [])


def _of_its_own(door: Door, counters: Counters, sockets: WebSockets, more: More | None) -> list[BaseRoute]:
    async def health(_request: Request) -> Response:
        uptime_s = time.monotonic() - counters.begun_s
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return JSONResponse({"status": "ok", "timestamp": now, "version": door.version, "uptime": f"{uptime_s:.3f}s"})

    async def metrics(_request: Request) -> Response:
        return JSONResponse({**_figures(counters, sockets), **(await more() if more is not None else {})})

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
