"""Run the server of mcp-sandboxd. Separate from the command because its imports are slow."""

from __future__ import annotations

import asyncio
import logging.config
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import uvloop

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.startup import LOG_FORMATS, LOG_LEVELS, open_server
from sandbox_runtime.mcp.transports.stdio import check_streams, serve_stdio
from sandbox_runtime.telemetry import LogFile, Rotation, open_log, server_log_config

_MIB, _DAY_S = 1024**2, 86_400


def run(config: McpConfig, server_url: str) -> None:
    over_http = config.server.enable_http or config.server.protocol == "http"
    if not over_http:
        check_streams()
    _use_temp_dir(config)
    with log_stream(config) as stream:
        logging.config.dictConfig(_library_logs(config, stream))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_http(config, server_url, stream) if over_http else _stdio(config, server_url, stream))


def _library_logs(config: McpConfig, stream: TextIO) -> dict[str, Any]:
    """Send the logs of libraries to the same stream in the same format: stdout is reserved for the protocol."""
    level = LOG_LEVELS[config.logging.level]
    lines = server_log_config(level, LOG_FORMATS[config.logging.format], stream=stream)
    return {**lines, "root": {"handlers": ["stderr"], "level": level.upper()}}


@contextmanager
def log_stream(config: McpConfig) -> Iterator[TextIO]:
    """Yield the configured log file, or stderr."""
    logging_config = config.logging
    if not logging_config.output_file:
        yield sys.stderr
        return
    rotation = Rotation(
        logging_config.max_size * _MIB, logging_config.max_backups, logging_config.max_age * _DAY_S, logging_config.compress
    )
    file = LogFile(Path(logging_config.output_file).absolute(), rotation)
    try:
        yield cast(TextIO, file)
    finally:
        file.close()


def _use_temp_dir(config: McpConfig) -> None:
    """Use the configured folder for temporary files of this process, unless it is the default."""
    folder = config.resources.temp_dir
    if folder == McpConfig().resources.temp_dir:
        return
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            tempfile.tempdir = str(Path(folder).absolute())
    except OSError as error:
        raise InvalidRequest(f"cannot use resources.temp_dir {folder!r}: {error.strerror}") from error


async def _http(config: McpConfig, server_url: str, stream: TextIO) -> None:
    # Imported here because stdio does not need the web server, and its import is slow.
    import uvicorn

    from sandbox_runtime.cli.mcp_routes import SOCKET_OPTIONS, open_app
    from sandbox_runtime.cli.web_server import StoppableServer, server_options

    level, form = LOG_LEVELS[config.logging.level], LOG_FORMATS[config.logging.format]
    async with open_app(config, server_url, open_log(level, form, stream)) as (app, settings):
        options = {**server_options(settings), **SOCKET_OPTIONS, "log_config": None}
        await StoppableServer(uvicorn.Config(app, lifespan="off", **options)).serve()


async def _stdio(config: McpConfig, server_url: str, stream: TextIO) -> None:
    """Serve until stdin ends or a signal arrives, and close everything in both cases."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    log = open_log(LOG_LEVELS[config.logging.level], LOG_FORMATS[config.logging.format], stream)
    try:
        async with open_server(config, log, server_url) as server:
            await serve_stdio(server)
    except asyncio.CancelledError:
        if not stopped:
            raise
