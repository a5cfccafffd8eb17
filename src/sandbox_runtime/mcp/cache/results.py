"""Stored results, within the limits of the configuration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sandbox_runtime import timestamps
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.mcp.cache.codec import decode, encode
from sandbox_runtime.mcp.config.model import CacheSection
from sandbox_runtime.mcp.hosts.port import RunOutcome
from sandbox_runtime.model import CachedRun, CacheStatistics
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log

_PRUNE_AFTER = 100
"""Results added before the store is pruned."""


class ResultStore:
    def __init__(self, store: Store, section: CacheSection) -> None:
        self._cache = store.command_cache
        self._section = section
        self._since_pruned = 0

    async def find(self, *keys: str) -> RunOutcome | None:
        for key in keys:
            row = await self._cache.find(key, timestamps.now_ms())
            if row is not None:
                return decode(row.content, compressed=row.compressed)
        return None

    async def put(self, key: str, sandbox_id: str, command: str, outcome: RunOutcome, files_digest: str) -> None:
        content, compressed = encode(outcome, self._section.compression_level, self._section.compression_min)
        if len(content) > self._section.max_cache_size:
            return
        now_ms = timestamps.now_ms()
        await self._cache.put(
            CachedRun(
                key=key,
                session=sandbox_id,
                command=command,
                content=content,
                compressed=compressed,
                size_bytes=len(content.encode()),
                wall_ms=outcome.wall_s * 1000,
                files_digest=files_digest,
                created_ms=now_ms,
                expires_ms=now_ms + int(self._section.default_ttl * 1000),
                used_ms=now_ms,
            )
        )
        self._since_pruned += 1
        if self._since_pruned >= min(_PRUNE_AFTER, self._section.max_entries):
            await self.prune()

    async def prune(self) -> None:
        self._since_pruned = 0
        await self._cache.prune(timestamps.now_ms(), self._section.max_entries, self._section.max_cache_size)

    async def statistics(self) -> CacheStatistics:
        return await self._cache.statistics()

    @asynccontextmanager
    async def prune_periodically(self, log: Log) -> AsyncIterator[None]:
        """Prune every `cleanup_interval` during the block."""
        task = asyncio.create_task(self._prune_loop(log))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _prune_loop(self, log: Log) -> None:
        while True:
            await asyncio.sleep(self._section.cleanup_interval)
            try:
                await self.prune()
            except SandboxError as error:
                log.warning("kept results could not be tidied", reason=str(error))
