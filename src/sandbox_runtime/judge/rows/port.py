"""What a source of rows can do, and how a row is called."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

RowId = int | str
NAME_COLUMNS = ("id", "task_id", "name", "question_id")
"""Columns that call a row by a name of its own, the one that counts first."""

_TABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")


class RowSource(Protocol):
    """Tables of rows. Where it says that it has a table, the other calls are about that table."""

    @property
    def name(self) -> str:
        """As people are shown it."""
        ...

    async def tables(self) -> list[str]: ...

    async def has(self, table: str) -> bool: ...

    async def count(self, table: str) -> int: ...

    def page(self, table: str, offset: int, limit: int) -> AsyncIterator[Row]:
        """In the order of their ids; whole numbers before texts."""
        ...

    async def find(self, table: str, called: RowId) -> Row | None: ...


def check_table(name: str) -> str:
    """Names come from requests, and become names of files and of tables of a database."""
    if not _TABLE.fullmatch(name):
        raise InvalidRequest(f"{name[:80]!r} cannot name a table: letters, digits and _ . + - only, at most 128 of them")
    return name


def row_names(row: Row) -> Iterator[RowId]:
    """What a row can be asked for by, its id first."""
    for column in NAME_COLUMNS:
        value: Any = row.get(column)
        if isinstance(value, int | str) and not isinstance(value, bool):
            yield value


def sort_key(called: RowId) -> tuple[bool, RowId]:
    return isinstance(called, str), called
