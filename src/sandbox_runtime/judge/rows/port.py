"""The interface of a row source, and the names of rows."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

RowId = int | str
NAME_COLUMNS = ("id", "task_id", "name", "question_id")
"""Columns that identify a row, by precedence."""

_TABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")


class RowSource(Protocol):
    """Tables of rows. The other methods are only called for tables that `has` confirms."""

    @property
    def name(self) -> str:
        """The name shown to users."""
        ...

    async def tables(self) -> list[str]: ...

    async def has(self, table: str) -> bool: ...

    async def count(self, table: str) -> int: ...

    def page(self, table: str, offset: int, limit: int) -> AsyncIterator[Row]:
        """Yield rows in the order of their ids, integers before texts."""
        ...

    async def find(self, table: str, row_id: RowId) -> Row | None: ...


def check_table(name: str) -> str:
    """Return the name, or raise InvalidRequest. Names come from requests and become names of files and database tables."""
    if not _TABLE.fullmatch(name):
        raise InvalidRequest(f"invalid table name {name[:80]!r}: use at most 128 letters, digits and _ . + -")
    return name


def row_names(row: Row) -> Iterator[RowId]:
    """Yield the names by which a row can be found, its id first."""
    for column in NAME_COLUMNS:
        value: Any = row.get(column)
        if isinstance(value, int | str) and not isinstance(value, bool):
            yield value


def sort_key(row_id: RowId) -> tuple[bool, RowId]:
    return isinstance(row_id, str), row_id
