"""MCP over HTTP, in the main server and in `mcp-sandboxd --http`, behind the same access checks as all other routes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.requests import HTTPConnection
from starlette.types import Scope

from sandbox_runtime.api import errors
from sandbox_runtime.api.app import refuse_exposure
from sandbox_runtime.api.caller import caller_of
from sandbox_runtime.api.dialects import sandboxes
from sandbox_runtime.api.middleware import stack
from sandbox_runtime.api.routes import SERVER
from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import Denied, Unavailable
from sandbox_runtime.mcp.config import McpConfig, load_config
from sandbox_runtime.mcp.config.effects import RunMode
from sandbox_runtime.mcp.json_tools import McpToolProvider
from sandbox_runtime.mcp.startup import (
    open_hosts,
    open_server,
    open_server_on,
    process_folder,
    to_settings,
    warn_ineffective_keys,
)
from sandbox_runtime.mcp.transports.routes import open_routes
from sandbox_runtime.settings import Settings
from sandbox_runtime.telemetry import Log

SOCKET_OPTIONS: dict[str, Any] = {"ws_ping_interval": 54.0, "ws_ping_timeout": 60.0, "ws_max_size": 10 * 1024 * 1024}


def find_owner(scope: Scope) -> str:
    """Return the owner of the request. Raises Denied for a read-only key, because tools make changes."""
    caller = caller_of(HTTPConnection(scope))
    if caller.grants.read_only:
        raise Denied("this key is read-only; MCP requires a key with write access")
    return caller.owner


def _find_caller(request: HTTPConnection) -> tuple[str, int | None]:
    caller = caller_of(request)
    return caller.owner, caller.grants.max_sessions


@asynccontextmanager
async def mount_mcp(app: FastAPI, platform: Platform) -> AsyncIterator[None]:
    """Serve /mcp and /mcp/ws in the main server during the block, with the configuration of mcp-sandboxd."""
    config = load_config(os.environ)
    warn_ineffective_keys(config, RunMode(mounted=True, http=True), platform.log)
    async with (
        open_hosts(platform, config) as hosts,
        open_server_on(platform, config, _find_caller, hosts) as server,
        open_routes(server, find_owner) as routes,
        sandboxes.open_tool_calls(app),
    ):
        app.router.routes[0:0] = routes
        app.state.tool_provider = McpToolProvider(hosts, config)
        yield


@asynccontextmanager
async def open_app(config: McpConfig, server_url: str, log: Log) -> AsyncIterator[tuple[FastAPI, Settings]]:
    """Yield the application of `mcp-sandboxd --http` and its settings."""
    host = "127.0.0.1" if config.server.address == "localhost" else config.server.address
    with process_folder(config) as folder:
        settings = dataclasses.replace(to_settings(config, folder), host=host, port=config.server.port)
        refuse_exposure(settings)
        app = FastAPI(title=config.server.name, docs_url=None, redoc_url=None, openapi_url=None)
        stack.install(app, settings, (SERVER, sandboxes.dialect))
        errors.install(app)
        if server_url:
            app.state.platform = _NoStore()
            async with (
                open_server(config, log, server_url, http=True) as server,
                open_routes(server, find_owner, standalone=True) as routes,
            ):
                app.router.routes[0:0] = routes
                yield app, settings
            return
        async with open_platform(settings, sessions=True, log=log) as platform, open_hosts(platform, config) as hosts:
            app.state.platform = platform
            warn_ineffective_keys(config, RunMode(http=True), log)
            async with (
                open_server_on(platform, config, _find_caller, hosts) as server,
                open_routes(server, find_owner, standalone=True, extra_metrics=hosts.metrics) as routes,
                sandboxes.open_tool_calls(app),
            ):
                app.router.routes[0:0] = routes
                for router in sandboxes.dialect.routers:
                    app.include_router(router)
                app.state.tool_provider = McpToolProvider(hosts, config)
                yield app, settings


class _NoStore:
    """A platform without a key store: with --server only the operator's key is accepted here."""

    @property
    def sessions(self) -> object:
        raise Unavailable("this process has no sessions: they are on the server of --server")
