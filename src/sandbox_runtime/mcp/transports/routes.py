"""Routes /mcp and /mcp/ws for a Starlette application; for a standalone server also /health, /metrics and /info."""

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

from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.mcp.transports.http import FindOwner, open_http
from sandbox_runtime.mcp.transports.websocket import WebSockets
from sandbox_runtime.model.bounds import JSON_VALUES, JsonValueCounter
from sandbox_runtime.rate_limit import TokenBucket

PATH, SOCKET_PATH = "/mcp", "/mcp/ws"
REQUESTS_PER_S, BURST = 100.0, 200.0
MAX_CONCURRENT = 1000
ExtraMetrics = Callable[[], Awaitable[dict[str, Any]]]
_TOO_MANY = "too many requests; retry in a second"


@dataclass(slots=True)
class Counters:
    started_s: float = field(default_factory=time.monotonic)
    requests: int = 0
    errors: int = 0
    active: int = 0
    busy_s: float = 0.0
    bytes_served: int = 0


class ClientTimeout(Exception):
    """The client did not send its request, or receive its response, in time."""


class TooManyValues(Exception):
    """The request contains more JSON values than allowed."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    read_s: float
    """For a whole request to arrive."""
    write_s: float
    """For the client to receive one piece of a response."""


class RequestGuard:
    """Counts requests and rejects those over the rate limit, over the concurrency limit, or too slow."""

    def __init__(self, app: ASGIApp, counters: Counters, bucket: TokenBucket | None, timeouts: Timeouts) -> None:
        self._app = app
        self._counters = counters
        self._bucket = bucket
        self._timeouts = timeouts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        counters, started_s = self._counters, time.monotonic()
        counters.requests += 1
        if (self._bucket is not None and self._bucket.take()) or counters.active >= MAX_CONCURRENT:
            counters.errors += 1
            body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": _TOO_MANY}}
            await JSONResponse(body, 429, {"Retry-After": "1"})(scope, receive, send)
            return
        counters.active += 1
        try:
            timed_send = _TimedSend(send, counters, self._timeouts.write_s)
            await self._forward(scope, _TimedReceive(receive, self._timeouts.read_s), timed_send)
        finally:
            counters.active -= 1
            counters.busy_s += time.monotonic() - started_s

    async def _forward(self, scope: Scope, receive: _TimedReceive, send: _TimedSend) -> None:
        try:
            await self._app(scope, receive, send)
        except BaseException as error:
            if not (receive.timed_out or receive.too_many_values or send.timed_out):
                raise
            if send.started or isinstance(error, asyncio.CancelledError):
                raise  # the web server closes the connection
        if (receive.timed_out or receive.too_many_values) and not send.started:
            await self._reject(receive)(scope, receive, send)

    def _reject(self, receive: _TimedReceive) -> JSONResponse:
        message = f"the request did not arrive within {self._timeouts.read_s:g} s"
        if receive.too_many_values:
            message = f"the request exceeds {JSON_VALUES} JSON values"
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
        return JSONResponse(body, 413 if receive.too_many_values else 408)


class _TimedReceive:
    """Receives the request within a timeout that starts with the first read. Later reads wait for the disconnect."""

    def __init__(self, receive: Receive, timeout_s: float) -> None:
        self._receive = receive
        self._timeout_s = timeout_s
        self._deadline_s: float | None = None
        self._complete = False
        self._values = JsonValueCounter()
        self.timed_out = self.too_many_values = False

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()
        loop_s = asyncio.get_running_loop().time()
        self._deadline_s = loop_s + self._timeout_s if self._deadline_s is None else self._deadline_s
        try:
            async with asyncio.timeout_at(self._deadline_s):
                message = await self._receive()
        except TimeoutError as error:
            self.timed_out = True
            raise ClientTimeout from error
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        self._values.feed(message.get("body", b""))
        if self._values.count > JSON_VALUES:
            self._complete = self.too_many_values = True
            raise TooManyValues
        return message


class _TimedSend:
    """Sends the response, each piece within a timeout, and counts it."""

    def __init__(self, send: Send, counters: Counters, timeout_s: float) -> None:
        self._send = send
        self._counters = counters
        self._timeout_s = timeout_s
        self.started = self.timed_out = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self._counters.errors += message["status"] >= 400
        self._counters.bytes_served += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._send(message)
        except TimeoutError as error:
            self.timed_out = True
            raise ClientTimeout from error


class _SocketApp:
    """An object, because the router treats a function as a handler and an object as an ASGI application."""

    def __init__(self, sockets: WebSockets) -> None:
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sockets.serve(scope, receive, send)


@asynccontextmanager
async def open_routes(
    server: McpServer, find_owner: FindOwner, *, standalone: bool = False, extra_metrics: ExtraMetrics | None = None
) -> AsyncIterator[list[BaseRoute]]:
    """Yield the routes.

    - `find_owner`: returns the owner of a request, or raises Denied.
    - `standalone`: add the status routes and a rate limit.
    - `extra_metrics`: further values for /metrics.
    """
    section = server.config.server
    counters, sockets = Counters(), WebSockets(server, find_owner, section.write_timeout)
    async with open_http(server, find_owner) as http:
        bucket = TokenBucket(REQUESTS_PER_S, BURST) if standalone else None
        guard = RequestGuard(http, counters, bucket, Timeouts(section.read_timeout, section.write_timeout))
        routes: list[BaseRoute] = [Route(PATH, guard), WebSocketRoute(SOCKET_PATH, _SocketApp(sockets))]
        yield routes + (_status_routes(server, counters, sockets, extra_metrics) if standalone else [])


def _status_routes(
    server: McpServer, counters: Counters, sockets: WebSockets, extra_metrics: ExtraMetrics | None
) -> list[BaseRoute]:
    async def health(_request: Request) -> Response:
        uptime_s = time.monotonic() - counters.started_s
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return JSONResponse({"status": "ok", "timestamp": now, "version": server.version, "uptime": f"{uptime_s:.3f}s"})

    async def metrics(_request: Request) -> Response:
        return JSONResponse({**_metrics(counters, sockets), **(await extra_metrics() if extra_metrics is not None else {})})

    async def info(_request: Request) -> Response:
        return JSONResponse(server.info())

    return [Route("/health", health), Route("/metrics", metrics), Route("/info", info)]


def _metrics(counters: Counters, sockets: WebSockets) -> dict[str, Any]:
    return {
        "requests_total": counters.requests,
        "average_duration_us": round(counters.busy_s * 1e6 / counters.requests) if counters.requests else 0,
        "active_connections": counters.active + sockets.open,
        "websocket_connections": sockets.open,
        "errors_total": counters.errors,
        "bytes_served": counters.bytes_served,
        "compression_ratio": 1.0,
    }
