"""A server with sessions on a port of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from tests.api.servers import Listening

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.cli.connections import BoundedProtocol
from sandbox_runtime.settings import Settings


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are for pytest."""
        yield


@contextlib.asynccontextmanager
async def listening_with_sessions(settings: Settings) -> AsyncIterator[Listening]:
    app = create_app(settings)
    async with open_platform(settings, sessions=True) as platform:
        app.state.platform = platform
        server = _Server(uvicorn.Config(app, http=BoundedProtocol, lifespan="off", log_config=None, access_log=False))
        with socket.create_server(("127.0.0.1", 0)) as ear:
            serving = asyncio.create_task(server.serve([ear]))
            try:
                yield Listening(ear.getsockname()[1], platform)
            finally:
                server.should_exit = server.force_exit = True
                await serving
