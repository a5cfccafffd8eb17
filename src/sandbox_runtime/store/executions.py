"""Executions: found by session and state; asked for twice with one idempotency key, they exist once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import Artifact, AuditEntry, Execution, ExecutionState
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.store import mappings
from sandbox_runtime.store.page import Page
from sandbox_runtime.store.tables import EXECUTIONS
from sandbox_runtime.store.versioned_repository import VersionedRepository

PAGE_TEXT_BYTES = 16 * MIB
"""A page ends where its texts would go beyond this; there is always one execution on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionFilter:
    """What is None does not matter. silent_since_ms: no heartbeat since then, though there was one before."""

    session: str | None = None
    states: tuple[ExecutionState, ...] | None = None
    silent_since_ms: int | None = None
    created_before_ms: int | None = None


class Executions(VersionedRepository[Execution, ExecutionFilter]):
    mapping = mappings.EXECUTION

    async def add_once(self, execution: Execution, *, by: str = "", audit: AuditEntry | None = None) -> tuple[Execution, bool]:
        """The execution and whether it is new: with an idempotency key that its session has seen, it is the one of that time."""
        try:
            return await self.add(execution, by=by, audit=audit), True
        except Conflict:
            first = await self.find_by_key(execution.session, execution.idempotency_key)
            if first is None:
                raise
            return first, False

    async def add_ended(
        self, execution: Execution, artifacts: Sequence[Artifact] = (), *, by: str = "", audit: AuditEntry | None = None
    ) -> Execution:
        """One that nobody knew of before it ended, with the files that it left, in one."""
        new = self._new(execution)
        row, files = self._to_row(new, by), _artifact_rows(artifacts)

        def transaction(connection: Connection) -> None:
            connection.execute(self.mapping.insert, row).close()
            _insert_artifacts(connection, files)

        await self._write(transaction, execution.id, audit)
        return new

    async def end(self, execution: Execution, artifacts: Sequence[Artifact] = (), **changes: Any) -> Execution:
        """As update, with the files that it left, in one."""
        new = self._next(execution, changes)
        values, files = self._changed_columns(execution, new, ""), _artifact_rows(artifacts)

        def transaction(connection: Connection) -> None:
            self._update_row(connection, execution, values)
            _insert_artifacts(connection, files)

        await self._write(transaction, execution.id)
        return new

    async def find_by_key(self, session: str, idempotency_key: str) -> Execution | None:
        if not idempotency_key:
            return None
        at = (EXECUTIONS.c.f_session_id == session, EXECUTIONS.c.f_idempotency_key == idempotency_key)
        return await self._database.read(lambda connection: self._find_one(connection, *at))

    async def latest(self, session: str) -> Execution | None:
        page = await self.list(ExecutionFilter(session=session), limit=1)
        return page.items[0] if page.items else None

    async def record_heartbeat(self, keys: Collection[str], at_ms: int) -> None:
        """Notes that these are alive. No change of its own: it stands in the way of nobody's update."""
        if keys:
            statement = update(EXECUTIONS).where(EXECUTIONS.c.f_id.in_(sorted(keys))).values(f_last_heartbeat_at=at_ms)
            await self._database.write(lambda connection: connection.execute(statement).close())

    def _clauses(self, filters: ExecutionFilter) -> tuple[ColumnElement[bool], ...]:
        column, clauses = EXECUTIONS.c, []
        if filters.session is not None:
            clauses.append(column.f_session_id == filters.session)
        if filters.states is not None:
            clauses.append(column.f_status.in_(filters.states))
        if filters.silent_since_ms is not None:
            clauses.append(column.f_last_heartbeat_at < filters.silent_since_ms)
        if filters.created_before_ms is not None:
            clauses.append(column.f_created_at < filters.created_before_ms)
        return tuple(clauses)

    def _page(self, connection: Connection, filters: ExecutionFilter | None, limit: int, offset: int) -> Page[Execution]:
        """Sizes first, so that a page of large outputs takes no more memory than one of small ones."""
        where = self._where(filters)
        sizes = select(self.mapping.key, EXECUTIONS.c.f_text_bytes).where(*where).order_by(*self._order())
        found = connection.execute(sizes.limit(limit).offset(offset)).all()
        total = offset + len(found) if 0 < len(found) < limit else self._count(connection, where)
        keys = _fit_keys(PAGE_TEXT_BYTES, [(row[0], row[1]) for row in found])
        rows = connection.execute(select(*self.mapping.columns).where(self.mapping.key.in_(keys)).order_by(*self._order())).all()
        return Page(tuple(self.mapping.to_model(row) for row in rows), total, limit, offset)


def _artifact_rows(artifacts: Sequence[Artifact]) -> list[dict[str, Any]]:
    return [mappings.ARTIFACT.to_row(artifact) for artifact in artifacts]


def _insert_artifacts(connection: Connection, files: list[dict[str, Any]]) -> None:
    if files:
        connection.execute(mappings.ARTIFACT.insert, files).close()


def _fit_keys(max_bytes: int, sizes: list[tuple[str, int]]) -> list[str]:
    keys: list[str] = []
    for key, size in sizes:
        max_bytes -= size
        if keys and max_bytes < 0:
            break
        keys.append(key)
    return keys
