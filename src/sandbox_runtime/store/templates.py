"""Templates: deleted ones stay as rows, for the sessions made from them, and free their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, update

from sandbox_runtime import timestamps
from sandbox_runtime.model import AuditEntry, Template
from sandbox_runtime.store import mappings
from sandbox_runtime.store.tables import TEMPLATES
from sandbox_runtime.store.versioned_repository import VersionedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFilter:
    runtime: str | None = None
    active: bool | None = None
    name: str | None = None


class Templates(VersionedRepository[Template, TemplateFilter]):
    mapping = mappings.TEMPLATE

    async def add(self, model: Template, *, by: str = "", audit: AuditEntry | None = None) -> Template:
        """An id that was deleted may be used anew; then its row holds the new template."""
        new = self._new(model)
        values = self._to_row(new, by)
        await self._write(lambda connection: _put(connection, values), model.id, audit)
        return new

    async def delete(self, key: str, *, audit: AuditEntry | None = None, by: str = "", at_ms: int | None = None) -> None:
        """Nobody sees it any more. Sessions made from it go on."""
        values = {"f_deleted_at": at_ms or timestamps.now_ms(), "f_deleted_by": by}
        await self._execute_on(update(TEMPLATES).where(TEMPLATES.c.f_id == key, *self._visible()).values(values), key, audit)

    async def purge(self, key: str, *, audit: AuditEntry | None = None) -> None:
        """Gone for good, deleted before or not, with every session made from it."""
        await self._execute_on(delete(TEMPLATES).where(TEMPLATES.c.f_id == key), key, audit)

    def _visible(self) -> tuple[ColumnElement[bool], ...]:
        return (TEMPLATES.c.f_deleted_at == 0,)

    def _clauses(self, filters: TemplateFilter) -> tuple[ColumnElement[bool], ...]:
        pairs = (
            (filters.runtime, TEMPLATES.c.f_runtime_type),
            (filters.active, TEMPLATES.c.f_is_active),
            (filters.name, TEMPLATES.c.f_name),
        )
        return tuple(column == value for value, column in pairs if value is not None)


def _put(connection: Connection, values: dict[str, Any]) -> None:
    gone = (TEMPLATES.c.f_id == values["f_id"], TEMPLATES.c.f_deleted_at != 0)
    revived = connection.execute(update(TEMPLATES).where(*gone).values({**values, "f_deleted_by": ""})).rowcount
    if not revived:
        connection.execute(insert(TEMPLATES), values)
