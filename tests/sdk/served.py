"""A server with sessions on a port of this machine, and a way to it that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import uvicorn
from tests.api.servers import Server, listening_socket
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.settings import Settings


@asynccontextmanager
async def serving_sessions(settings: Settings) -> AsyncIterator[str]:
    """Its address."""
    skip_where_the_host_lacks("namespaces")
    app = create_app(settings, platform_factory=partial(open_platform, sessions=True))
    server = Server(uvicorn.Config(app, lifespan="on", log_config=None, access_log=False, timeout_graceful_shutdown=5))
    with listening_socket() as ear:
        serving = asyncio.create_task(server.serve([ear]))
        try:
            while not server.started:
                assert not serving.done(), "the server did not start"
                await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{ear.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


class Way:
    """Passes connections on; cut() ends those there are, as a network does that goes away. cut_after_bytes: of answers, one after
    another, between cuts that happen by themselves."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()
        self.cuts = 0
        self.cut_after_bytes: list[int] = []

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, far_writer}
        try:
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer, counted=True))
        finally:
            self._open -= {writer, far_writer}
            writer.close()
            far_writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool = False) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(1000):
                writer.write(piece)
                await writer.drain()
                if counted:
                    self._count(len(piece))
        writer.close()

    def _count(self, size: int) -> None:
        if not self.cut_after_bytes:
            return
        self.cut_after_bytes[0] -= size
        if self.cut_after_bytes[0] < 0:
            del self.cut_after_bytes[0]
            self.cut()

    def cut(self) -> None:
        self.cuts += 1
        for writer in self._open:
            writer.transport.abort()


@asynccontextmanager
async def a_way_to(url: str) -> AsyncIterator[tuple[str, Way]]:
    way = Way(int(url.rsplit(":", 1)[1]))
    server = await asyncio.start_server(way.carry, "127.0.0.1", 0)
    async with server:
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", way
        finally:
            way.cut()
