"""From a configuration to an open door: which settings the keys mean, and which host of sandboxes there is."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sandbox_runtime.assembly import Platform, open_platform, version
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.places.local import LocalPlace
from sandbox_runtime.mcp.places.port import Place
from sandbox_runtime.mcp.places.remote import RemotePlace
from sandbox_runtime.mcp.server import Door, Places
from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings, load

LOG_LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "error": "error"}
LOG_FORMATS = {"json": "json", "text": "text", "console": "text"}
_DEFAULT = McpConfig()
CallerOf = Callable[[Any], tuple[str, int | None]]


def settings_of(config: McpConfig, folder: str) -> Settings:
    """folder: for what this process keeps. What the configuration leaves at its default is as the product's own settings are."""
    sandbox, usual = config.sandbox, _DEFAULT.sandbox
    flags: dict[str, object] = {
        "log_level": LOG_LEVELS[config.logging.level],
        "log_format": LOG_FORMATS[config.logging.format],
        "database_url": f"sqlite:///{_database(config, folder)}",
        "storage_dir": f"{folder}/files",
        "node_name": f"mcp-{os.getpid()}",
        "session_max": sandbox.max_sandboxes,
        "session_max_per_owner": sandbox.max_sandboxes,
        "session_cleanup_s": sandbox.cleanup_interval,
        "session_file_max_bytes": config.resources.max_file_size,
        "session_parallel": 4,
        "warm_pool_persistent_size": 0,
    }
    if sandbox.network_mode != usual.network_mode:
        flags["allow_network"] = True
    return load(flags)


def _database(config: McpConfig, folder: str) -> str:
    """A path of one's own is taken as it is; the default one would be everybody's, so each process has its own instead."""
    named = config.sandbox.database_path
    return f"{folder}/sandboxes.db" if named == _DEFAULT.sandbox.database_path else str(Path(named).absolute())


@asynccontextmanager
async def open_door(config: McpConfig, server_url: str = "", api_key: str | None = None) -> AsyncIterator[Door]:
    """With an engine of its own, or in front of a server."""
    async with AsyncExitStack() as stack:
        if server_url:
            client = await stack.enter_async_context(SandboxClient(server_url, api_key=api_key))
            remote = RemotePlace(client, config.sandbox.max_sandboxes)
            places: Places = lambda _request: remote  # noqa: E731
        else:
            platform = await stack.enter_async_context(_own_platform(config))
            local = LocalPlace(platform, most=config.sandbox.max_sandboxes)
            places = lambda _request: local  # noqa: E731
        door = Door(config, places, version())
        stack.push_async_callback(door.close)
        yield door


@asynccontextmanager
async def _own_platform(config: McpConfig) -> AsyncIterator[Platform]:
    with kept_folder(config) as folder:
        async with open_platform(settings_of(config, folder), sessions=True) as platform:
            yield platform


@contextmanager
def kept_folder(config: McpConfig) -> Iterator[str]:
    """Of this process alone, below the one that the configuration names; gone with it."""
    root = Path(config.sandbox.workspace_dir)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="mcp-", dir=root)
    except OSError as error:
        raise InvalidRequest(f"sandbox.workspace_dir {str(root)!r} cannot be used: {error.strerror}") from error
    try:
        yield folder
    finally:
        if config.resources.cleanup_on_exit:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def door_to(platform: Platform, config: McpConfig, caller_of: CallerOf) -> AsyncIterator[Door]:
    """For a server that has callers: each sees what is its own. caller_of: the owner, and how many sandboxes it may have."""

    def places(request: Any) -> Place:
        owner, most = caller_of(request)
        return LocalPlace(platform, owner, most)

    door = Door(config, places, version())
    try:
        yield door
    finally:
        await door.close()
