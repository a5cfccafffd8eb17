"""Serve the app with an open platform, in this process or over a real connection."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from sandbox_runtime.api.app import DIALECTS, create_app
from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.cli.connections import BoundedProtocol, protocol_for
from sandbox_runtime.settings import Settings


class Client(httpx.AsyncClient):
    platform: Platform

    async def run_code(self, code: str, language: str = "python", **fields: Any) -> dict[str, Any]:
        answer = await self.post("/run_code", json={"code": code, "language": language, **fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@asynccontextmanager
async def serving(settings: Settings, dialects: Sequence[str] = DIALECTS) -> AsyncIterator[Client]:
    app = create_app(settings, dialects=dialects)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with Client(transport=transport, base_url="http://127.0.0.1:8080", timeout=60) as client:
            client.platform = app.state.platform
            yield client


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server on a port of this machine."""

    port: int
    platform: Platform

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to pytest."""
        yield


@contextlib.contextmanager
def listening_socket() -> Iterator[socket.socket]:
    """Listen on a free port of this machine. The protocol is named because event loops set TCP_NODELAY only then."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock


@asynccontextmanager
async def listening(
    settings: Settings, protocol: type[BoundedProtocol] = BoundedProtocol, *, sessions: bool = False
) -> AsyncIterator[RunningServer]:
    app = create_app(settings)
    async with open_platform(settings, sessions=sessions) as platform:
        app.state.platform = platform
        server = Server(
            uvicorn.Config(
                app,
                http=protocol_for(settings, protocol),
                timeout_keep_alive=settings.keep_alive_s,
                lifespan="off",
                log_config=None,
                access_log=False,
            )
        )
        with listening_socket() as sock:
            serving = asyncio.create_task(server.serve([sock]))
            try:
                yield RunningServer(sock.getsockname()[1], platform)
            finally:
                server.should_exit = server.force_exit = True
                await serving
