"""Serving for mcp-sandboxd. Apart from its command because it is heavy to import."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys

import uvloop

from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.opening import LOG_LEVELS, open_door
from sandbox_runtime.mcp.transports.stdio import serve_stdio


def run(config: McpConfig, server_url: str) -> None:
    # Whatever libraries log goes to stderr: standard output is the protocol's.
    logging.basicConfig(stream=sys.stderr, level=LOG_LEVELS[config.logging.level].upper())
    over_http = config.server.enable_http or config.server.protocol == "http"
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_http(config, server_url) if over_http else _stdio(config, server_url))


async def _http(config: McpConfig, server_url: str) -> None:
    # The web server is of no use to the many that speak over standard streams, and takes its time to import.
    import uvicorn

    from sandbox_runtime.cli.listening import StoppableServer, server_options
    from sandbox_runtime.cli.mcp_mounting import SOCKET_OPTIONS, open_app

    async with open_app(config, server_url) as (app, settings):
        await StoppableServer(uvicorn.Config(app, lifespan="off", **server_options(settings), **SOCKET_OPTIONS)).serve()


async def _stdio(config: McpConfig, server_url: str) -> None:
    """A signal ends it as the end of standard input does: what it holds is closed."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        async with open_door(config, server_url) as door:
            await serve_stdio(door)
    except asyncio.CancelledError:
        if not stopped:
            raise
