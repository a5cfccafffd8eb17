"""From a configuration to an open door: which settings the keys mean, and which host of sandboxes there is."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from sandbox_runtime.assembly import Platform, open_platform, version
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.cache import CachedRuns, Results
from sandbox_runtime.mcp.cache.keys import EVERYBODY
from sandbox_runtime.mcp.cache.warmup import commands_of, warm
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.config.effects import Running, idle_keys
from sandbox_runtime.mcp.hosts.configured import configured
from sandbox_runtime.mcp.hosts.local import LocalPlace
from sandbox_runtime.mcp.hosts.port import Place
from sandbox_runtime.mcp.hosts.remote import RemotePlace
from sandbox_runtime.mcp.server import Door
from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings, load
from sandbox_runtime.store import open_store
from sandbox_runtime.telemetry import Log

LOG_LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "error": "error"}
LOG_FORMATS = {"json": "json", "text": "text", "console": "text"}
_DEFAULT = McpConfig()
CallerOf = Callable[[Any], tuple[str, int | None]]


class Sandboxes:
    """Those of a platform, as the configuration wants them. results: where some are told again; None: they never are."""

    def __init__(self, platform: Platform, config: McpConfig, results: Results | None) -> None:
        self._platform = platform
        self._config = config
        self._results = results
        self._always = commands_of(config)

    def __call__(self, owner: str, most: int | None, kept_for: str | None = None) -> Place:
        """What an owner sees, who may have so many. kept_for: whom results are for, where that is somebody else."""
        place = LocalPlace(self._platform, owner, most)
        if self._results is None:
            return configured(place, self._config)
        kept_for = owner if kept_for is None else kept_for
        digest_of = partial(self._platform.sessions.files_digest, owner=owner)
        cached = CachedRuns(self._results, digest_of, kept_for, version(), self._always, self._platform.log)
        return configured(place, self._config, cached)

    async def figures(self) -> dict[str, Any]:
        """How often results were told again."""
        return {} if self._results is None else {"cache": asdict(await self._results.statistics())}


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


def announce(config: McpConfig, running: Running, log: Log) -> None:
    """Keys that somebody set and that do nothing here: better told than found out."""
    for key, reason in idle_keys(config, running).items():
        log.warning("a key of the configuration has no effect here", key=key, reason=reason)


@asynccontextmanager
async def open_door(config: McpConfig, log: Log, server_url: str = "", *, http: bool = False) -> AsyncIterator[Door]:
    """With an engine of its own, or in front of a server. http: that is how it will be spoken to."""
    async with AsyncExitStack() as stack:
        if server_url:
            client = await stack.enter_async_context(SandboxClient(server_url))
            place = configured(RemotePlace(client, config.sandbox.max_sandboxes), config)
        else:
            platform = await stack.enter_async_context(_own_platform(config, log))
            places = await stack.enter_async_context(places_on(platform, config))
            place = places("", config.sandbox.max_sandboxes)
        announce(config, Running(remote=bool(server_url), http=http), log)
        door = Door(config, lambda _request: place, version(), log=log)
        stack.push_async_callback(door.close)
        yield door


@asynccontextmanager
async def _own_platform(config: McpConfig, log: Log) -> AsyncIterator[Platform]:
    with kept_folder(config) as folder:
        async with open_platform(settings_of(config, folder), sessions=True, log=log) as platform:
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
async def door_to(platform: Platform, config: McpConfig, caller_of: CallerOf, places: Sandboxes) -> AsyncIterator[Door]:
    """For a server that has callers: each sees what is its own. caller_of: the owner, and how many sandboxes it may have."""
    door = Door(config, lambda request: places(*caller_of(request)), version(), log=platform.log)
    try:
        yield door
    finally:
        await door.close()


@asynccontextmanager
async def places_on(platform: Platform, config: McpConfig) -> AsyncIterator[Sandboxes]:
    """Of an open platform; results are kept and tidied for the time of the block. A platform without sessions has no store for
    them, and says so to whoever asks for a sandbox."""
    if not config.tools.enable_caching or isinstance(platform.open_sessions, str):
        yield Sandboxes(platform, config, None)
        return
    async with _results(platform, config) as results, results.tidied(platform.log):
        sandboxes = Sandboxes(platform, config, results)
        async with _warmed(sandboxes("", None, EVERYBODY), config, platform.log):
            yield sandboxes


@asynccontextmanager
async def _results(platform: Platform, config: McpConfig) -> AsyncIterator[Results]:
    """Where nobody names a place for them, they lie with all that this process keeps."""
    cache, usual = config.tools.cache, _DEFAULT.tools.cache
    path = cache.database_path if cache.database_path != usual.database_path else ""
    if not path and config.resources.cache_dir != _DEFAULT.resources.cache_dir:
        path = f"{config.resources.cache_dir}/cache.db"
    if not path:
        yield Results(platform.sessions.store, cache)
        return
    async with open_store(f"sqlite:///{Path(path).absolute()}") as store:
        yield Results(store, cache)


@asynccontextmanager
async def _warmed(place: Place, config: McpConfig, log: Log) -> AsyncIterator[None]:
    """Beside everything else: nobody waits for it."""
    if not (config.tools.cache.enable_warming and config.tools.cache.warm_commands):
        yield
        return
    task = asyncio.create_task(warm(place, config, log))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
