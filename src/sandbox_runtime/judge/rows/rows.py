"""The rows of datasets, wherever they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from sandbox_runtime.errors import NotFound
from sandbox_runtime.judge.rows.port import RowId, RowSource, check_table
from sandbox_runtime.model.judge import Dataset, Row


class Rows:
    """sources: in the order in which they count. The first that has a table is the one that is asked; nothing is mixed."""

    def __init__(self, sources: Sequence[RowSource]) -> None:
        self._sources = tuple(sources)

    async def count(self, dataset: Dataset) -> int:
        source, table = await self._place(dataset)
        return await source.count(table)

    async def page(self, dataset: Dataset, offset: int = 0, limit: int = 1_000_000) -> AsyncIterator[Row]:
        """In the order of their ids."""
        source, table = await self._place(dataset)
        async for row in source.page(table, offset, limit):
            yield row

    async def one(self, dataset: Dataset, called: RowId) -> Row:
        source, table = await self._place(dataset)
        row = await source.find(table, called)
        if row is None:
            raise NotFound(f"the dataset {dataset.id!r} has no row {called!r}; list_ids tells those it has")
        return row

    async def source_of(self, dataset: Dataset) -> str | None:
        """The name of the source that has its table; None where none has."""
        for source in self._sources:
            for table in _tables(dataset):
                if await source.has(table):
                    return source.name
        return None

    async def _place(self, dataset: Dataset) -> tuple[RowSource, str]:
        for source in self._sources:
            for table in _tables(dataset):
                if await source.has(table):
                    return source, table
        looked = ", ".join(source.name for source in self._sources) or "no source at all"
        raise NotFound(
            f"there are no rows for the dataset {dataset.id!r}: no table {dataset.table!r} in {looked}; add them with "
            f"`sandbox datasets add {dataset.id} FILE`, or send them as provided_data"
        )


def _tables(dataset: Dataset) -> tuple[str, ...]:
    return tuple(map(check_table, (dataset.table, *dataset.other_tables)))
