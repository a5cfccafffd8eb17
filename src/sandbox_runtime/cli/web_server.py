"""Run the HTTP application under uvicorn. Separate from `serve` because its imports are slow."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
import uvloop
from fastapi import FastAPI

import sandbox_runtime
from sandbox_runtime.api.app import build_routes, create_app, refuse_exposure
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.cli.connections import protocol_for
from sandbox_runtime.cli.mcp_routes import mount_mcp
from sandbox_runtime.settings import Settings, environment_name, format_value, load
from sandbox_runtime.telemetry import server_log_config

SHUTDOWN_S = 30


def listen(settings: Settings, tls: Mapping[str, str | None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM. `tls`: ssl_keyfile and ssl_certfile, to serve HTTPS."""
    refuse_exposure(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_listen(settings, dict(tls or {})))


async def _listen(settings: Settings, tls: dict[str, Any]) -> None:
    """Open the platform here, not in the web server's lifespan, so that a start-up error is reported in one line."""
    app = create_app(settings)
    build_routes(app)
    async with open_platform(settings, sessions=True) as platform:
        app.state.platform = platform
        async with mount_mcp(app, platform):
            await StoppableServer(uvicorn.Config(app, lifespan="off", **server_options(settings), **tls)).serve()


def listen_and_reload(settings: Settings) -> None:
    """Serve with auto-reload. Child processes are started by import name and read the settings from the environment."""
    refuse_exposure(settings)
    os.environ.update(_as_environment(settings))
    uvicorn.run(
        "sandbox_runtime.cli.web_server:create_reloaded_app",
        factory=True,
        reload=True,
        reload_dirs=[str(Path(sandbox_runtime.__file__).parent)],
        **server_options(settings),
    )


def create_reloaded_app() -> FastAPI:
    """Create the application in a child process of the reloader."""
    app = create_app(load(), platform_factory=partial(open_platform, sessions=True))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with inner(app) as state, mount_mcp(app, app.state.platform):
            yield state

    app.router.lifespan_context = lifespan
    return app


class StoppableServer(uvicorn.Server):
    """Stops on a signal without raising it again, so that the platform can close."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)


def server_options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "http": protocol_for(settings),
        "loop": "uvloop",
        "access_log": False,
        "log_config": server_log_config(settings.log_level, settings.log_format, color=settings.log_color),
        "server_header": False,
        "timeout_keep_alive": settings.keep_alive_s,
        "timeout_graceful_shutdown": SHUTDOWN_S,
    }


def _as_environment(settings: Settings) -> dict[str, str]:
    changed = (name for name, origin in settings.origin.items() if origin != "default")
    return {environment_name(name): format_value(getattr(settings, name)) for name in changed}
