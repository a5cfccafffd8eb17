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
from sandbox_runtime.store.address import read_address
from sandbox_runtime.store.database import Database, StoreOptions
from sandbox_runtime.store.store import open_database

NAMES = ("id", "task_id", "name", "question_id")
_ROWS_AT_ONCE = 64
_MOST_ALIKE = 16
"""Databases find texts alike that differ in case; so many are looked through for the one that is meant."""

Row = Mapping[str, Any]


class Datalake:
    def __init__(self, database: Database, family: str) -> None:
        self._database = database
        self._family = family
        self._known: dict[str, _Table] = {}

    @property
    def name(self) -> str:
        """For messages to clients: without its address."""
        return f"the {self._family} database of the settings"

    async def tables(self) -> list[str]:
        return await self._database.read(lambda connection: sorted(inspect(connection).get_table_names()))

    async def has(self, table: str) -> bool:
        if table in self._known:
            return True
        return await self._database.read(lambda connection: inspect(connection).has_table(table))

    async def count(self, table: str) -> int:
        known = await self._table(table)
        query = select(func.count()).select_from(known.clause)
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def page(self, table: str, offset: int, limit: int) -> AsyncIterator[Row]:
        """In pieces: each goes on behind the last row of the one before, so that no piece is the dearer for coming late."""
        known = await self._table(table)
        query = known.rows.order_by(known.order).limit(min(limit, _ROWS_AT_ONCE)).offset(offset)
        while limit > 0:
            rows = await self._database.read(lambda connection, query=query: _fetched(connection, query))  # type: ignore[misc]
            for row in rows:
                yield row
            limit -= len(rows)
            if len(rows) < _ROWS_AT_ONCE:
                return
            behind = known.rows.where(known.order > rows[-1][known.order.name])
            query = behind.order_by(known.order).limit(min(limit, _ROWS_AT_ONCE))

    async def find(self, table: str, called: int | str) -> Row | None:
        known = await self._table(table)
        for name in known.names:
            wanted = _as_column(called, numbers=known.numbers[name.name])
            if wanted is None:
                continue
            query = known.rows.where(name == wanted).limit(_MOST_ALIKE)
            rows = await self._database.read(lambda connection, query=query: _fetched(connection, query))  # type: ignore[misc]
            found = next((row for row in rows if row[name.name] == wanted), None)
            if found is not None:
                return found
        return None

    async def _table(self, name: str) -> _Table:
        if name not in self._known:
            self._known[name] = await self._database.read(lambda connection: _described(connection, name))
        return self._known[name]


class _Table:
    def __init__(self, name: str, columns: Mapping[str, type | None]) -> None:
        names = [known for known in NAMES if known in columns]
        if not names:
            raise PlatformFault(f"the table {name} has none of the columns {', '.join(NAMES)}, one of which names its rows")
        self.clause: TableClause = table(name, *(column(each) for each in columns))
        self.rows: Select[Any] = select(*self.clause.c)
        self.names: list[ColumnClause[Any]] = [self.clause.c[known] for known in names]
        self.order = self.names[0]
        self.numbers = {known: columns[known] is int for known in names}


def _described(connection: Connection, name: str) -> _Table:
    columns: dict[str, type | None] = {}
    for found in inspect(connection).get_columns(name):
        try:
            columns[found["name"]] = found["type"].python_type
        except NotImplementedError:
            columns[found["name"]] = None
    return _Table(name, columns)


def _fetched(connection: Connection, query: Select[Any]) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row._mapping.items()} for row in connection.execute(query)]


def _plain(value: Any) -> Any:
    """Values as JSON has them; times and decimals as texts."""
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    return bytes(value).decode(errors="replace") if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _as_column(called: int | str, *, numbers: bool) -> int | str | None:
    """None: no such row can be. Databases that compare texts with numbers would find some that are not meant."""
    if not numbers:
        return str(called)
    if isinstance(called, int):
        return called
    digits = called.removeprefix("-")
    return int(called) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


@asynccontextmanager
async def open_datalake(url: str, options: StoreOptions = StoreOptions()) -> AsyncIterator[Datalake]:
    address = read_address(url)
    async with open_database(address, options) as database:
        yield Datalake(database, address.family)
