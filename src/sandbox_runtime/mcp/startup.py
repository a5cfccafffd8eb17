"""Start the MCP server from its configuration: derive settings, open the host of sandboxes and the result cache."""

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
from sandbox_runtime.mcp.cache import CachedRuns, ResultStore
from sandbox_runtime.mcp.cache.result_key import SHARED
from sandbox_runtime.mcp.cache.warm_commands import warm_commands, warm_up
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.config.effects import RunMode, ineffective_keys
from sandbox_runtime.mcp.hosts.configured import configure_host
from sandbox_runtime.mcp.hosts.local import LocalHost
from sandbox_runtime.mcp.hosts.port import SandboxHost
from sandbox_runtime.mcp.hosts.remote import RemoteHost
from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings, load
from sandbox_runtime.store import open_store
from sandbox_runtime.telemetry import Log

LOG_LEVELS = {"debug": "debug", "info": "info", "warn": "warning", "error": "error"}
LOG_FORMATS = {"json": "json", "text": "text", "console": "text"}
_DEFAULTS = McpConfig()
FindCaller = Callable[[Any], tuple[str, int | None]]


class HostFactory:
    """Creates hosts on one platform. `results`: the result cache; None disables caching."""

    def __init__(self, platform: Platform, config: McpConfig, results: ResultStore | None) -> None:
        self._platform = platform
        self._config = config
        self._results = results
        self._always_cached = warm_commands(config)

    def __call__(self, owner: str, max_sandboxes: int | None, cache_owner: str | None = None) -> SandboxHost:
        """Return the host for this owner and quota. `cache_owner`: owner of cached results, if different."""
        host = LocalHost(self._platform, owner, max_sandboxes)
        if self._results is None:
            return configure_host(host, self._config)
        cache_owner = owner if cache_owner is None else cache_owner
        digest_of = partial(self._platform.sessions.files.digest, owner=owner)
        cache = CachedRuns(self._results, digest_of, cache_owner, version(), self._always_cached, self._platform.log)
        return configure_host(host, self._config, cache)

    async def metrics(self) -> dict[str, Any]:
        """Return statistics of the result cache."""
        return {} if self._results is None else {"cache": asdict(await self._results.statistics())}


def to_settings(config: McpConfig, folder: str) -> Settings:
    """Return platform settings. `folder`: where this process stores its data. Keys left at their default keep the product's own
    default."""
    sandbox, defaults = config.sandbox, _DEFAULTS.sandbox
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
    if sandbox.network_mode != defaults.network_mode:
        flags["allow_network"] = True
    return load(flags)


def _database(config: McpConfig, folder: str) -> str:
    """Return the configured path, or a database in `folder` for the default, which several processes would share."""
    named = config.sandbox.database_path
    return f"{folder}/sandboxes.db" if named == _DEFAULTS.sandbox.database_path else str(Path(named).absolute())


def warn_ineffective_keys(config: McpConfig, mode: RunMode, log: Log) -> None:
    """Log a warning for each configured key that has no effect in this mode."""
    for key, reason in ineffective_keys(config, mode).items():
        log.warning("a key of the configuration has no effect here", key=key, reason=reason)


@asynccontextmanager
async def open_server(config: McpConfig, log: Log, server_url: str = "", *, http: bool = False) -> AsyncIterator[McpServer]:
    """Open a server on its own engine, or, with `server_url`, in front of a remote server. `http`: served over HTTP."""
    async with AsyncExitStack() as stack:
        if server_url:
            client = await stack.enter_async_context(SandboxClient(server_url))
            host = configure_host(RemoteHost(client, config.sandbox.max_sandboxes), config)
        else:
            platform = await stack.enter_async_context(_open_platform(config, log))
            hosts = await stack.enter_async_context(open_hosts(platform, config))
            host = hosts("", config.sandbox.max_sandboxes)
        warn_ineffective_keys(config, RunMode(remote=bool(server_url), http=http), log)
        server = McpServer(config, lambda _request: host, version(), log=log)
        stack.push_async_callback(server.close)
        yield server


@asynccontextmanager
async def _open_platform(config: McpConfig, log: Log) -> AsyncIterator[Platform]:
    with process_folder(config) as folder:
        async with open_platform(to_settings(config, folder), sessions=True, log=log) as platform:
            yield platform


@contextmanager
def process_folder(config: McpConfig) -> Iterator[str]:
    """Yield a private folder below `sandbox.workspace_dir`, removed at the end if `resources.cleanup_on_exit`."""
    root = Path(config.sandbox.workspace_dir)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="mcp-", dir=root)
    except OSError as error:
        raise InvalidRequest(f"cannot create a folder in sandbox.workspace_dir {str(root)!r}: {error.strerror}") from error
    try:
        yield folder
    finally:
        if config.resources.cleanup_on_exit:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def open_server_on(
    platform: Platform, config: McpConfig, find_caller: FindCaller, hosts: HostFactory
) -> AsyncIterator[McpServer]:
    """Open a server for several callers, each with its own sandboxes. `find_caller`: returns owner and sandbox quota."""
    server = McpServer(config, lambda request: hosts(*find_caller(request)), version(), log=platform.log)
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def open_hosts(platform: Platform, config: McpConfig) -> AsyncIterator[HostFactory]:
    """Yield the host factory of a platform and prune cached results meanwhile. A platform without sessions has no store, so no
    cache; creating a sandbox on it raises."""
    if not config.tools.enable_caching or isinstance(platform.open_sessions, str):
        yield HostFactory(platform, config, None)
        return
    async with _open_results(platform, config) as results, results.prune_periodically(platform.log):
        hosts = HostFactory(platform, config, results)
        async with _warm_in_background(hosts("", None, SHARED), config, platform.log):
            yield hosts


@asynccontextmanager
async def _open_results(platform: Platform, config: McpConfig) -> AsyncIterator[ResultStore]:
    """Open the result cache in the configured database, or in the platform's store if none is configured."""
    cache, defaults = config.tools.cache, _DEFAULTS.tools.cache
    path = cache.database_path if cache.database_path != defaults.database_path else ""
    if not path and config.resources.cache_dir != _DEFAULTS.resources.cache_dir:
        path = f"{config.resources.cache_dir}/cache.db"
    if not path:
        yield ResultStore(platform.sessions.store, cache)
        return
    async with open_store(f"sqlite:///{Path(path).absolute()}") as store:
        yield ResultStore(store, cache)


@asynccontextmanager
async def _warm_in_background(host: SandboxHost, config: McpConfig, log: Log) -> AsyncIterator[None]:
    """Run the warm commands in the background for the duration of the block."""
    if not (config.tools.cache.enable_warming and config.tools.cache.warm_commands):
        yield
        return
    task = asyncio.create_task(warm_up(host, config, log))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
