"""What can be done with everything that is kept: add it, find it, list it, delete it."""

from __future__ import annotations

from dataclasses import Field
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Delete, Update, delete, func, select
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.errors import Conflict, NotFound, RequestError
from sandbox_runtime.model import AuditEntry
from sandbox_runtime.store.audit import insert_entries
from sandbox_runtime.store.database import Database, Result, Transaction
from sandbox_runtime.store.errors import is_missing_reference
from sandbox_runtime.store.mapping import TableMapping
from sandbox_runtime.store.page import Page, check_page


class HasId(Protocol):
    """A noun that has an id, and so a row of its own."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def id(self) -> str: ...


Model = TypeVar("Model", bound=HasId)
Filter = TypeVar("Filter")


class Repository(Generic[Model, Filter]):
    """A subclass names its shape and says what its filter means. Lists are newest first. by: who did it, kept in the row.
    audit: what the audit is told of it, in the same transaction: either both are there afterwards or neither."""

    mapping: ClassVar[TableMapping[Any]]

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, model: Model, *, by: str = "", audit: AuditEntry | None = None) -> Model:
        """Conflict where one with that id, or another name that must be its own, exists; NotFound where it names something that
        does not."""
        new = self._new(model)
        values = self._to_row(new, by)
        await self._write(lambda connection: connection.execute(self.mapping.insert, values).close(), model.id, audit)
        return new

    async def get(self, key: str) -> Model:
        found = await self.find(key)
        if found is None:
            raise self._not_found(key)
        return found

    async def find(self, key: str) -> Model | None:
        return await self._database.read(lambda connection: self._find_one(connection, self.mapping.key == key))

    async def delete(self, key: str, *, audit: AuditEntry | None = None) -> None:
        """Gone for good, with all that belongs to it."""
        await self._execute_on(delete(self.mapping.table).where(self.mapping.key == key), key, audit)

    async def list(self, filters: Filter | None = None, limit: int = 50, offset: int = 0) -> Page[Model]:
        check_page(limit, offset)
        return await self._database.read(lambda connection: self._page(connection, filters, limit, offset))

    async def count(self, filters: Filter | None = None) -> int:
        return await self._database.read(lambda connection: self._count(connection, self._where(filters)))

    # What subclasses say of themselves.

    def _clauses(self, filters: Filter) -> tuple[ColumnElement[bool], ...]:
        raise NotImplementedError

    def _visible(self) -> tuple[ColumnElement[bool], ...]:
        """What holds of every row that can be seen."""
        return ()

    def _new(self, model: Model) -> Model:
        return model

    def _to_row(self, model: Model, by: str) -> dict[str, Any]:
        return self.mapping.to_row(model)

    # How it is done.

    def _where(self, filters: Filter | None) -> tuple[ColumnElement[bool], ...]:
        return (*self._visible(), *(() if filters is None else self._clauses(filters)))

    def _order(self) -> tuple[ColumnElement[Any], ...]:
        return self.mapping.column("created_ms").desc(), self.mapping.key.desc()

    def _count(self, connection: Connection, where: tuple[ColumnElement[bool], ...]) -> int:
        return connection.execute(select(func.count()).select_from(self.mapping.table).where(*where)).scalar_one()

    def _page(self, connection: Connection, filters: Filter | None, limit: int, offset: int) -> Page[Model]:
        where = self._where(filters)
        query = select(*self.mapping.columns).where(*where).order_by(*self._order()).limit(limit).offset(offset)
        rows = connection.execute(query).all()
        # A page that is not full is the last one: then there is nothing to count.
        total = offset + len(rows) if 0 < len(rows) < limit else self._count(connection, where)
        return Page(tuple(self.mapping.to_model(row) for row in rows), total, limit, offset)

    def _find_one(self, connection: Connection, *where: ColumnElement[bool], lock: bool = False) -> Model | None:
        query = select(*self.mapping.columns).where(*self._visible(), *where)
        row = connection.execute(query.with_for_update() if lock else query).first()
        return None if row is None else self.mapping.to_model(row)

    async def _execute_on(self, statement: Delete | Update, key: str, audit: AuditEntry | None = None) -> None:
        """Carries it out; NotFound where there is no such row."""

        def transaction(connection: Connection) -> None:
            if not connection.execute(statement).rowcount:
                raise self._not_found(key)

        await self._write(transaction, key, audit)

    async def _write(self, transaction: Transaction[Result], key: str, audit: AuditEntry | None = None) -> Result:
        try:
            return await self._database.write(transaction if audit is None else partial(_with_audit, transaction, audit))
        except IntegrityError as error:
            raise self._integrity_error(error, key) from error

    def _integrity_error(self, error: IntegrityError, key: str) -> RequestError:
        if is_missing_reference(error):
            return NotFound(f"the {self.mapping.label} {key!r} refers to something that does not exist")
        return Conflict(f"the {self.mapping.label} {key!r} exists already, or one with the same name")

    def _not_found(self, key: str) -> NotFound:
        return NotFound(f"there is no {self.mapping.label} {key!r}")


def _with_audit(transaction: Transaction[Result], audit: AuditEntry, connection: Connection) -> Result:
    answer = transaction(connection)
    insert_entries(connection, audit)
    return answer
