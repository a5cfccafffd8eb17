"""Tables of rows that others keep in a database: the problems of datasets. They are read and never changed.

Nothing is known of a table but that some column names its rows (`id`, or where there is none `task_id`, `name`, `question_id`);
values come as the database has them, JSON as the text that holds it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import ColumnClause, Connection, Select, TableClause, column, func, inspect, select, table

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.store.address import parse_address
from sandbox_runtime.store.database import Database, StoreOptions
from sandbox_runtime.store.store import open_database

KEY_COLUMNS = ("id", "task_id", "name", "question_id")
_BATCH_ROWS = 64
_MAX_ALIKE = 16
"""Databases find texts alike that differ in case; so many are looked through for the one that is meant."""

Row = Mapping[str, Any]


class Datalake:
    def __init__(self, database: Database, family: str) -> None:
        self._database = database
        self._family = family
        self._tables: dict[str, _DatalakeTable] = {}

    @property
    def name(self) -> str:
        """For messages to clients: without its address."""
        return f"the {self._family} database of the settings"

    async def tables(self) -> list[str]:
        return await self._database.read(lambda connection: sorted(inspect(connection).get_table_names()))

    async def has(self, table: str) -> bool:
        if table in self._tables:
            return True
        return await self._database.read(lambda connection: inspect(connection).has_table(table))

    async def count(self, table: str) -> int:
        described = await self._describe(table)
        query = select(func.count()).select_from(described.clause)
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def page(self, table: str, offset: int, limit: int) -> AsyncIterator[Row]:
        """In pieces: each goes on behind the last row of the one before, so that no piece is the dearer for coming late."""
        described = await self._describe(table)
        query = described.rows.order_by(described.order).limit(min(limit, _BATCH_ROWS)).offset(offset)
        while limit > 0:
            rows = await self._database.read(lambda connection, query=query: _fetch_rows(connection, query))  # type: ignore[misc]
            for row in rows:
                yield row
            limit -= len(rows)
            if len(rows) < _BATCH_ROWS:
                return
            behind = described.rows.where(described.order > rows[-1][described.order.name])
            query = behind.order_by(described.order).limit(min(limit, _BATCH_ROWS))

    async def find(self, table: str, key: int | str) -> Row | None:
        described = await self._describe(table)
        for name in described.names:
            value = _as_column(key, numbers=described.numbers[name.name])
            if value is None:
                continue
            query = described.rows.where(name == value).limit(_MAX_ALIKE)
            rows = await self._database.read(lambda connection, query=query: _fetch_rows(connection, query))  # type: ignore[misc]
            match = next((row for row in rows if row[name.name] == value), None)
            if match is not None:
                return match
        return None

    async def _describe(self, name: str) -> _DatalakeTable:
        if name not in self._tables:
            self._tables[name] = await self._database.read(lambda connection: _describe_table(connection, name))
        return self._tables[name]


class _DatalakeTable:
    def __init__(self, name: str, columns: Mapping[str, type | None]) -> None:
        names = [key for key in KEY_COLUMNS if key in columns]
        if not names:
            raise PlatformFault(f"the table {name} has none of the columns {', '.join(KEY_COLUMNS)}, one of which names its rows")
        self.clause: TableClause = table(name, *(column(each) for each in columns))
        self.rows: Select[Any] = select(*self.clause.c)
        self.names: list[ColumnClause[Any]] = [self.clause.c[key] for key in names]
        self.order = self.names[0]
        self.numbers = {key: columns[key] is int for key in names}


def _describe_table(connection: Connection, name: str) -> _DatalakeTable:
    columns: dict[str, type | None] = {}
    for described in inspect(connection).get_columns(name):
        try:
            columns[described["name"]] = described["type"].python_type
        except NotImplementedError:
            columns[described["name"]] = None
    return _DatalakeTable(name, columns)


def _fetch_rows(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    return [{name: _to_json_value(value) for name, value in row._mapping.items()} for row in connection.execute(query)]


def _to_json_value(value: Any) -> Any:
    """Values as JSON has them; times and decimals as texts."""
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    return bytes(value).decode(errors="replace") if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _as_column(key: int | str, *, numbers: bool) -> int | str | None:
    """None: no such row can be. Databases that compare texts with numbers would find some that are not meant."""
    if not numbers:
        return str(key)
    if isinstance(key, int):
        return key
    digits = key.removeprefix("-")
    return int(key) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


@asynccontextmanager
async def open_datalake(url: str, options: StoreOptions = StoreOptions()) -> AsyncIterator[Datalake]:
    address = parse_address(url)
    async with open_database(address, options) as database:
        yield Datalake(database, address.family)
