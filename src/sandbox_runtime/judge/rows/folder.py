"""A folder of tables: `<table>.jsonl` or `<table>.jsonl.gz`, one row per line."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from sandbox_runtime.judge.rows.index import FileVersion, TableIndex, file_version
from sandbox_runtime.judge.rows.port import RowId
from sandbox_runtime.model.judge import Row

SUFFIXES = (".jsonl", ".jsonl.gz")
_ROWS_PER_READ = 64
"""Listing a large table holds no more rows than this in memory."""


class FolderRows:
    """Checks its files on every request, so that added, replaced and removed files are noticed."""

    def __init__(self, path: Path, name: str = "") -> None:
        self._path = path
        self._name = name or str(path)
        self._open: dict[str, tuple[FileVersion, TableIndex]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def name(self) -> str:
        return self._name

    async def tables(self) -> list[str]:
        try:
            files = await asyncio.to_thread(os.listdir, self._path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({file.removesuffix(".gz").removesuffix(".jsonl") for file in files if file.endswith(SUFFIXES)})

    async def has(self, table: str) -> bool:
        return self._file(table) is not None

    async def count(self, table: str) -> int:
        return len(await self._index(table))

    async def page(self, table: str, offset: int, limit: int) -> AsyncIterator[Row]:
        index = await self._index(table)
        end = min(len(index), offset + limit)
        for start in range(offset, end, _ROWS_PER_READ):
            for row in await asyncio.to_thread(index.rows, start, min(_ROWS_PER_READ, end - start)):
                yield row

    async def find(self, table: str, row_id: RowId) -> Row | None:
        index = await self._index(table)
        return await asyncio.to_thread(index.find, row_id)

    def close(self) -> None:
        for _, index in self._open.values():
            index.close()
        self._open.clear()

    def _file(self, table: str) -> tuple[Path, FileVersion] | None:
        for suffix in SUFFIXES:
            path = self._path / f"{table}{suffix}"
            if (version := file_version(path)) is not None:
                return path, version
        return None

    async def _index(self, table: str) -> TableIndex:
        """Return the index of the table. Concurrent callers wait for the first one to build it.

        An outdated index is left to the readers that still use it, and is closed with the last of them.
        """
        async with self._locks.setdefault(table, asyncio.Lock()):
            file = self._file(table)
            if file is None:
                raise FileNotFoundError(f"{self._path} has no table {table}")
            path, version = file
            cached = self._open.get(table)
            if cached is not None and cached[0] == version:
                return cached[1]
            index = await asyncio.to_thread(TableIndex, path)
            self._open[table] = (version, index)
            return index
