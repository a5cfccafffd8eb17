"""What can be done with everything that is kept: add it, find it, list it, delete it."""

from __future__ import annotations

from dataclasses import Field
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Delete, Update, delete, func, select
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.errors import Conflict, NotFound, RequestError
from sandbox_runtime.model import AuditEntry
from sandbox_runtime.store.audit import note
from sandbox_runtime.store.database import Answer, Database, Work
from sandbox_runtime.store.errors import is_missing_reference
from sandbox_runtime.store.mapping import Shape
from sandbox_runtime.store.page import Page, check_page


class Kept(Protocol):
    """A noun that has an id, and so a row of its own."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def id(self) -> str: ...


Noun = TypeVar("Noun", bound=Kept)
Filter = TypeVar("Filter")


class Shelf(Generic[Noun, Filter]):
    """A subclass names its shape and says what its filter means. Lists are newest first. by: who did it, kept in the row.
    audit: what the audit is told of it, in the same transaction: either both are there afterwards or neither."""

    shape: ClassVar[Shape[Any]]

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, noun: Noun, *, by: str = "", audit: AuditEntry | None = None) -> Noun:
        """Conflict where one with that id, or another name that must be its own, exists; NotFound where it names something that
        does not."""
        new = self._new(noun)
        values = self._row_of(new, by)
        await self._write(lambda connection: connection.execute(self.shape.insert, values).close(), noun.id, audit)
        return new

    async def get(self, key: str) -> Noun:
        found = await self.find(key)
        if found is None:
            raise self._missing(key)
        return found

    async def find(self, key: str) -> Noun | None:
        return await self._database.read(lambda connection: self._one(connection, self.shape.key == key))

    async def delete(self, key: str, *, audit: AuditEntry | None = None) -> None:
        """Gone for good, with all that belongs to it."""
        await self._hit(delete(self.shape.table).where(self.shape.key == key), key, audit)

    async def list(self, wanted: Filter | None = None, limit: int = 50, offset: int = 0) -> Page[Noun]:
        check_page(limit, offset)
        return await self._database.read(lambda connection: self._page(connection, wanted, limit, offset))

    async def count(self, wanted: Filter | None = None) -> int:
        return await self._database.read(lambda connection: self._count(connection, self._where(wanted)))

    # What subclasses say of themselves.

    def _clauses(self, wanted: Filter) -> tuple[ColumnElement[bool], ...]:
        raise NotImplementedError

    def _alive(self) -> tuple[ColumnElement[bool], ...]:
        """What holds of every row that can be seen."""
        return ()

    def _new(self, noun: Noun) -> Noun:
        return noun

    def _row_of(self, noun: Noun, by: str) -> dict[str, Any]:
        return self.shape.values(noun)

    # How it is done.

    def _where(self, wanted: Filter | None) -> tuple[ColumnElement[bool], ...]:
        return (*self._alive(), *(() if wanted is None else self._clauses(wanted)))

    def _order(self) -> tuple[ColumnElement[Any], ...]:
        return self.shape.column("created_ms").desc(), self.shape.key.desc()

    def _count(self, connection: Connection, where: tuple[ColumnElement[bool], ...]) -> int:
        return connection.execute(select(func.count()).select_from(self.shape.table).where(*where)).scalar_one()

    def _page(self, connection: Connection, wanted: Filter | None, limit: int, offset: int) -> Page[Noun]:
        where = self._where(wanted)
        query = select(*self.shape.columns).where(*where).order_by(*self._order()).limit(limit).offset(offset)
        rows = connection.execute(query).all()
        # A page that is not full is the last one: then there is nothing to count.
        total = offset + len(rows) if 0 < len(rows) < limit else self._count(connection, where)
        return Page(tuple(self.shape.noun_of(row) for row in rows), total, limit, offset)

    def _one(self, connection: Connection, *where: ColumnElement[bool], lock: bool = False) -> Noun | None:
        query = select(*self.shape.columns).where(*self._alive(), *where)
        row = connection.execute(query.with_for_update() if lock else query).first()
        return None if row is None else self.shape.noun_of(row)

    async def _hit(self, statement: Delete | Update, key: str, audit: AuditEntry | None = None) -> None:
        """Carries it out; NotFound where there is no such row."""

        def work(connection: Connection) -> None:
            if not connection.execute(statement).rowcount:
                raise self._missing(key)

        await self._write(work, key, audit)

    async def _write(self, work: Work[Answer], key: str, audit: AuditEntry | None = None) -> Answer:
        try:
            return await self._database.write(work if audit is None else partial(_noted, work, audit))
        except IntegrityError as error:
            raise self._refused(error, key) from error

    def _refused(self, error: IntegrityError, key: str) -> RequestError:
        if is_missing_reference(error):
            return NotFound(f"the {self.shape.called} {key!r} refers to something that does not exist")
        return Conflict(f"the {self.shape.called} {key!r} exists already, or one with the same name")

    def _missing(self, key: str) -> NotFound:
        return NotFound(f"there is no {self.shape.called} {key!r}")


def _noted(work: Work[Answer], audit: AuditEntry, connection: Connection) -> Answer:
    answer = work(connection)
    note(connection, audit)
    return answer
