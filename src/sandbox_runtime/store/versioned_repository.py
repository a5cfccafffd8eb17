"""What can be done with things that change: two who change the same one at once are told, and one of them wins."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Update, and_, bindparam, update

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, RequestError
from sandbox_runtime.model import AuditEntry
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.repository import HasId, Repository


class Versioned(HasId, Protocol):
    """version counts its changes."""

    @property
    def version(self) -> int: ...
    @property
    def created_ms(self) -> int: ...
    @property
    def updated_ms(self) -> int: ...


Model = TypeVar("Model", bound=Versioned)
Filter = TypeVar("Filter")


class VersionedRepository(Repository[Model, Filter]):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._updates: dict[tuple[str, ...], Update] = {}

    async def update(self, model: Model, *, by: str = "", audit: AuditEntry | None = None, **changes: Any) -> Model:
        """Changes what was read. Conflict when somebody else has changed it since: read it again and decide anew."""
        new = self._next(model, changes)
        values = self._changed_columns(model, new, by)
        await self._write(lambda connection: self._update_row(connection, model, values), model.id, audit)
        return new

    async def update_if(
        self, key: str, expected: Collection[StrEnum], *, by: str = "", audit: AuditEntry | None = None, **changes: Any
    ) -> Model:
        """Changes it when it is in one of the expected states, whatever its version; of many who try at once, one wins. Conflict
        when it is in another."""
        return await self._write(lambda connection: self._swap(connection, key, expected, changes, by), key, audit)

    def _swap(
        self, connection: Connection, key: str, expected: Collection[StrEnum], changes: Mapping[str, Any], by: str
    ) -> Model:
        found = self._find_one(connection, self.mapping.key == key, lock=True)
        if found is None:
            raise self._not_found(key)
        state = getattr(found, "state", None)
        if state not in expected:
            raise Conflict(f"the {self.mapping.label} {key!r} is {state}, not {' or '.join(expected)}")
        new = self._next(found, changes)
        self._update_row(connection, found, self._changed_columns(found, new, by))
        return new

    def _update_row(self, connection: Connection, before: Model, values: Mapping[str, Any]) -> None:
        seen = {"seen_key": before.id, "seen_version": before.version}
        if connection.execute(self._update_statement(tuple(values)), {**values, **seen}).rowcount == 1:
            return
        raise self._stale(connection, before)

    def _stale(self, connection: Connection, seen: Model) -> RequestError:
        """What was read is no more."""
        if self._find_one(connection, self.mapping.key == seen.id) is None:
            return self._not_found(seen.id)
        return Conflict(f"the {self.mapping.label} {seen.id!r} was changed by somebody else: read it again and decide anew")

    def _update_statement(self, names: tuple[str, ...]) -> Update:
        """Cached, for there are few and making one takes longer than carrying it out."""
        if names not in self._updates:
            unchanged = self.mapping.column("version") == bindparam("seen_version")
            at = and_(self.mapping.key == bindparam("seen_key"), unchanged, *self._visible())
            self._updates[names] = update(self.mapping.table).where(at).values({name: bindparam(name) for name in names})
        return self._updates[names]

    def _new(self, model: Model) -> Model:
        return dataclasses.replace(model, updated_ms=model.updated_ms or model.created_ms)

    def _next(self, model: Model, changes: Mapping[str, Any]) -> Model:
        return dataclasses.replace(model, **{"updated_ms": timestamps.now_ms(), **changes, "version": model.version + 1})

    def _to_row(self, model: Model, by: str) -> dict[str, Any]:
        values = self.mapping.to_row(model)
        return {**values, "f_created_by": by, "f_updated_by": by} if by else values

    def _changed_columns(self, before: Model, after: Model, by: str) -> dict[str, Any]:
        values = self.mapping.changed_columns(before, after)
        return {**values, "f_updated_by": by} if by else values
