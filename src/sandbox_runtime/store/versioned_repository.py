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
from sandbox_runtime.store.repository import Kept, Shelf


class Changing(Kept, Protocol):
    """version counts its changes."""

    @property
    def version(self) -> int: ...
    @property
    def created_ms(self) -> int: ...
    @property
    def updated_ms(self) -> int: ...


Noun = TypeVar("Noun", bound=Changing)
Filter = TypeVar("Filter")


class Repository(Shelf[Noun, Filter]):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._updates: dict[tuple[str, ...], Update] = {}

    async def update(self, noun: Noun, *, by: str = "", audit: AuditEntry | None = None, **changes: Any) -> Noun:
        """Changes what was read. Conflict when somebody else has changed it since: read it again and decide anew."""
        new = self._next(noun, changes)
        values = self._changes(noun, new, by)
        await self._write(lambda connection: self._apply(connection, noun, values), noun.id, audit)
        return new

    async def update_if(
        self, key: str, expected: Collection[StrEnum], *, by: str = "", audit: AuditEntry | None = None, **changes: Any
    ) -> Noun:
        """Changes it when it is in one of the expected states, whatever its version; of many who try at once, one wins. Conflict
        when it is in another."""
        return await self._write(lambda connection: self._swap(connection, key, expected, changes, by), key, audit)

    def _swap(self, connection: Connection, key: str, expected: Collection[StrEnum], changes: Mapping[str, Any], by: str) -> Noun:
        found = self._one(connection, self.shape.key == key, lock=True)
        if found is None:
            raise self._missing(key)
        state = getattr(found, "state", None)
        if state not in expected:
            raise Conflict(f"the {self.shape.called} {key!r} is {state}, not {' or '.join(expected)}")
        new = self._next(found, changes)
        self._apply(connection, found, self._changes(found, new, by))
        return new

    def _apply(self, connection: Connection, before: Noun, values: Mapping[str, Any]) -> None:
        seen = {"seen_key": before.id, "seen_version": before.version}
        if connection.execute(self._update_of(tuple(values)), {**values, **seen}).rowcount == 1:
            return
        raise self._stale(connection, before)

    def _stale(self, connection: Connection, seen: Noun) -> RequestError:
        """What was read is no more."""
        if self._one(connection, self.shape.key == seen.id) is None:
            return self._missing(seen.id)
        return Conflict(f"the {self.shape.called} {seen.id!r} was changed by somebody else: read it again and decide anew")

    def _update_of(self, names: tuple[str, ...]) -> Update:
        """Kept, for there are few and making one takes longer than carrying it out."""
        if names not in self._updates:
            unchanged = self.shape.column("version") == bindparam("seen_version")
            at = and_(self.shape.key == bindparam("seen_key"), unchanged, *self._alive())
            self._updates[names] = update(self.shape.table).where(at).values({name: bindparam(name) for name in names})
        return self._updates[names]

    def _new(self, noun: Noun) -> Noun:
        return dataclasses.replace(noun, updated_ms=noun.updated_ms or noun.created_ms)

    def _next(self, noun: Noun, changes: Mapping[str, Any]) -> Noun:
        return dataclasses.replace(noun, **{"updated_ms": timestamps.now_ms(), **changes, "version": noun.version + 1})

    def _row_of(self, noun: Noun, by: str) -> dict[str, Any]:
        values = self.shape.values(noun)
        return {**values, "f_created_by": by, "f_updated_by": by} if by else values

    def _changes(self, before: Noun, after: Noun, by: str) -> dict[str, Any]:
        values = self.shape.changed(before, after)
        return {**values, "f_updated_by": by} if by else values
