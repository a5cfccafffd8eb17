"""A folder of tables: `<table>.jsonl` or `<table>.jsonl.gz`, a row on each line."""

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
"""Read in one go, so that listing a large table holds few of its rows."""


class FolderRows:
    """Files are looked at when they are asked for: one that is added, replaced or removed is seen by the next request."""

    def __init__(self, path: Path, name: str = "") -> None:
        self._path = path
        self._name = name or str(path)
        self._open: dict[str, tuple[FileVersion, TableIndex]] = {}
        self._turn: dict[str, asyncio.Lock] = {}

    @property
    def name(self) -> str:
        return self._name

    async def tables(self) -> list[str]:
        try:
            found = await asyncio.to_thread(os.listdir, self._path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({file.removesuffix(".gz").removesuffix(".jsonl") for file in found if file.endswith(SUFFIXES)})

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

    async def find(self, table: str, called: RowId) -> Row | None:
        index = await self._index(table)
        return await asyncio.to_thread(index.find, called)

    def close(self) -> None:
        for _, index in self._open.values():
            index.close()
        self._open.clear()

    def _file(self, table: str) -> tuple[Path, FileVersion] | None:
        for suffix in SUFFIXES:
            path = self._path / f"{table}{suffix}"
            if (stamp := file_version(path)) is not None:
                return path, stamp
        return None

    async def _index(self, table: str) -> TableIndex:
        """Read by the first who asks; others wait for that. An index that a change of the file made old is left to those who
        still read from it, and closed with the last of them."""
        async with self._turn.setdefault(table, asyncio.Lock()):
            found = self._file(table)
            if found is None:
                raise FileNotFoundError(f"{self._path} has no table {table}")
            path, stamp = found
            known = self._open.get(table)
            if known is not None and known[0] == stamp:
                return known[1]
            index = await asyncio.to_thread(TableIndex, path)
            self._open[table] = (stamp, index)
            return index
