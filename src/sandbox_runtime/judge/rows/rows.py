"""The rows of datasets, from several sources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from sandbox_runtime.errors import NotFound
from sandbox_runtime.judge.rows.port import RowId, RowSource, check_table
from sandbox_runtime.model.judge import Dataset, Row


class Rows:
    """Reads each table from the first source that has it. Sources are never mixed."""

    def __init__(self, sources: Sequence[RowSource]) -> None:
        self._sources = tuple(sources)

    async def count(self, dataset: Dataset) -> int:
        source, table = await self._locate(dataset)
        return await source.count(table)

    async def page(self, dataset: Dataset, offset: int = 0, limit: int = 1_000_000) -> AsyncIterator[Row]:
        """Yield rows in the order of their ids."""
        source, table = await self._locate(dataset)
        async for row in source.page(table, offset, limit):
            yield row

    async def get(self, dataset: Dataset, row_id: RowId) -> Row:
        """Return the row, or raise NotFound."""
        source, table = await self._locate(dataset)
        row = await source.find(table, row_id)
        if row is None:
            raise NotFound(f"the dataset {dataset.id!r} has no row {row_id!r}; list_ids returns the ids it has")
        return row

    async def source_of(self, dataset: Dataset) -> str | None:
        """Return the name of the source that has the dataset's table, or None."""
        for source in self._sources:
            for table in _tables(dataset):
                if await source.has(table):
                    return source.name
        return None

    async def _locate(self, dataset: Dataset) -> tuple[RowSource, str]:
        for source in self._sources:
            for table in _tables(dataset):
                if await source.has(table):
                    return source, table
        searched = ", ".join(source.name for source in self._sources) or "any source (none is configured)"
        raise NotFound(
            f"the dataset {dataset.id!r} has no rows: no table {dataset.table!r} in {searched}; add them with "
            f"`sandbox datasets add {dataset.id} FILE`, or send them as provided_data"
        )


def _tables(dataset: Dataset) -> tuple[str, ...]:
    return tuple(map(check_table, (dataset.table, *dataset.other_tables)))
