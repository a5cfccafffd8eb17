"""Who did what. Entries are added, never changed, and leave by age alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from sandbox_runtime.model import AuditEntry
from sandbox_runtime.store import mappings
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.page import Page, check_page
from sandbox_runtime.store.tables import AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    kind: str | None = None
    subject: str | None = None
    owner: str | None = None
    actor: str | None = None
    since_ms: int | None = None


def insert_entries(connection: Connection, *entries: AuditEntry) -> None:
    connection.execute(mappings.AUDIT.insert, [_entry_row(entry) for entry in entries]).close()


def _entry_row(entry: AuditEntry) -> dict[str, Any]:
    row = mappings.AUDIT.to_row(entry)
    # The database counts.
    del row["f_id"]
    return row


class Audit:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, *entries: AuditEntry) -> None:
        """On their own. What belongs to a change goes with it, as its audit: then there is never one without the other."""
        if entries:
            await self._database.write(lambda connection: insert_entries(connection, *entries))

    async def list(self, filters: AuditFilter | None = None, limit: int = 50, offset: int = 0) -> Page[AuditEntry]:
        check_page(limit, offset)
        return await self._database.read(lambda connection: self._page(connection, filters or AuditFilter(), limit, offset))

    @staticmethod
    def _page(connection: Connection, filters: AuditFilter, limit: int, offset: int) -> Page[AuditEntry]:
        column = AUDIT.c
        pairs = (
            (filters.kind, column.f_kind),
            (filters.subject, column.f_subject_id),
            (filters.owner, column.f_owner),
            (filters.actor, column.f_actor),
        )
        since = () if filters.since_ms is None else (column.f_at >= filters.since_ms,)
        where = (*since, *(at == value for value, at in pairs if value is not None))
        query = select(*mappings.AUDIT.columns).where(*where).order_by(column.f_at.desc(), column.f_id.desc())
        rows = connection.execute(query.limit(limit).offset(offset)).all()
        total = connection.execute(select(func.count()).select_from(AUDIT).where(*where)).scalar_one()
        return Page(tuple(mappings.AUDIT.to_model(row) for row in rows), total, limit, offset)
