"""Results of commands that are kept to be told again: found by their key, gone when they expire or when there are too many."""

from __future__ import annotations

import dataclasses

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.model import CachedRun, CacheStatistics
from sandbox_runtime.store import mappings
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.footprint_tables import CACHE, CACHE_STATISTICS

_STATISTICS_ROW = 1
_BATCH_ROWS = 200


class CommandCache:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, key: str, now_ms: int) -> CachedRun | None:
        """And count whether there was one."""
        try:
            return await self._database.write(lambda connection: _find(connection, key, now_ms))
        except IntegrityError:
            # Somebody else made the row of the statistics in between; now there is one.
            return await self._database.write(lambda connection: _find(connection, key, now_ms))

    async def put(self, run: CachedRun) -> None:
        """In the place of what was there."""
        try:
            await self._database.write(lambda connection: _put(connection, run))
        except IntegrityError:
            return  # somebody else kept the same at the same time

    async def prune(self, now_ms: int, max_entries: int, max_bytes: int) -> int:
        """What has expired goes; then, where there are too many or they take too much room, what was used longest ago."""
        return await self._database.write(lambda connection: _prune(connection, now_ms, max_entries, max_bytes))

    async def statistics(self) -> CacheStatistics:
        return await self._database.read(_statistics)


def _find(connection: Connection, key: str, now_ms: int) -> CachedRun | None:
    row = connection.execute(select(*mappings.CACHED.columns).where(CACHE.c.f_key == key, CACHE.c.f_expires_at > now_ms)).first()
    hit = row is not None
    if hit:
        values = {"f_hit_count": CACHE.c.f_hit_count + 1, "f_last_used_at": now_ms}
        connection.execute(update(CACHE).where(CACHE.c.f_key == key).values(values)).close()
    counter = CACHE_STATISTICS.c.f_total_hits if hit else CACHE_STATISTICS.c.f_total_misses
    counted = {counter.name: counter + 1, "f_updated_at": now_ms}
    if not connection.execute(
        update(CACHE_STATISTICS).where(CACHE_STATISTICS.c.f_id == _STATISTICS_ROW).values(counted)
    ).rowcount:
        connection.execute(insert(CACHE_STATISTICS), {"f_id": _STATISTICS_ROW, counter.name: 1, "f_updated_at": now_ms}).close()
    if row is None:
        return None
    found: CachedRun = mappings.CACHED.to_model(row)
    return dataclasses.replace(found, hits=found.hits + 1, used_ms=now_ms)


def _put(connection: Connection, run: CachedRun) -> None:
    connection.execute(delete(CACHE).where(CACHE.c.f_key == run.key)).close()
    connection.execute(mappings.CACHED.insert, mappings.CACHED.to_row(run)).close()


def _prune(connection: Connection, now_ms: int, max_entries: int, max_bytes: int) -> int:
    gone = connection.execute(delete(CACHE).where(CACHE.c.f_expires_at <= now_ms)).rowcount
    while True:
        entries, size_bytes = _amount(connection)
        if entries <= max_entries and size_bytes <= max_bytes:
            return gone
        query = select(CACHE.c.f_key, CACHE.c.f_size_bytes).order_by(CACHE.c.f_last_used_at, CACHE.c.f_key).limit(_BATCH_ROWS)
        keys: list[str] = []
        for key, size in connection.execute(query).all():
            if entries <= max_entries and size_bytes <= max_bytes:
                break
            keys.append(key)
            entries, size_bytes = entries - 1, size_bytes - size
        gone += connection.execute(delete(CACHE).where(CACHE.c.f_key.in_(keys))).rowcount


def _amount(connection: Connection) -> tuple[int, int]:
    entries, size_bytes = connection.execute(select(func.count(), func.coalesce(func.sum(CACHE.c.f_size_bytes), 0))).one()
    return int(entries), int(size_bytes)


def _statistics(connection: Connection) -> CacheStatistics:
    column = CACHE_STATISTICS.c
    row = connection.execute(select(column.f_total_hits, column.f_total_misses).where(column.f_id == _STATISTICS_ROW)).first()
    hits, misses = (0, 0) if row is None else row
    return CacheStatistics(*_amount(connection), hits, misses)
