"""The web server around the app. Apart from `serve` because it is heavy to import."""

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
from sandbox_runtime.cli.mcp_routes import mounted
from sandbox_runtime.settings import Settings, environment_name, format_value, load
from sandbox_runtime.telemetry import server_log_config

SHUTDOWN_S = 30


def listen(settings: Settings, tls: Mapping[str, str | None] | None = None) -> None:
    """Serve until a signal says to stop. tls: ssl_keyfile and ssl_certfile, where it speaks HTTPS itself."""
    refuse_exposure(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_listen(settings, dict(tls or {})))


async def _listen(settings: Settings, tls: dict[str, Any]) -> None:
    """The platform is opened out here and not by the web server, so that what is wrong with it is told in one line."""
    app = create_app(settings)
    build_routes(app)
    async with open_platform(settings, sessions=True) as platform:
        app.state.platform = platform
        async with mounted(app, platform):
            await StoppableServer(uvicorn.Config(app, lifespan="off", **server_options(settings), **tls)).serve()


def listen_and_reload(settings: Settings) -> None:
    """The reloading parent starts its children by import name: they find the flags in their environment."""
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
    """In each child of the reloading parent: the same as a server has that does not reload."""
    app = create_app(load(), platform_factory=partial(open_platform, sessions=True))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with inner(app) as state, mounted(app, app.state.platform):
            yield state

    app.router.lifespan_context = lifespan
    return app


class StoppableServer(uvicorn.Server):
    """Ends on a signal by itself, instead of raising the signal again before the platform is closed."""

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
    given = (name for name, origin in settings.origin.items() if origin != "default")
    return {environment_name(name): format_value(getattr(settings, name)) for name in given}
