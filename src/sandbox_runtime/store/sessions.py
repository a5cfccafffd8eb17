"""Sessions: found by state, owner, agent, template, node, and by what is due."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, or_, select, update

from sandbox_runtime.model import AuditEntry, Session, SessionMode, SessionState, SessionUsage
from sandbox_runtime.store import mappings
from sandbox_runtime.store.tables import SESSIONS
from sandbox_runtime.store.versioned_repository import VersionedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """What is None does not matter. idle_before_ms: no activity since; expired_at_ms: its time was over by then."""

    states: tuple[SessionState, ...] | None = None
    owner: str | None = None
    agent: str | None = None
    template: str | None = None
    node: str | None = None
    box: str | None = None
    mode: SessionMode | None = None
    idle_before_ms: int | None = None
    expired_at_ms: int | None = None
    created_before_ms: int | None = None


class Sessions(VersionedRepository[Session, SessionFilter]):
    mapping = mappings.SESSION

    async def touch(self, activity: Mapping[str, int]) -> None:
        """Notes when sessions (by id) were last active. No change of its own: it stands in the way of nobody's update, and ids
        that are gone are passed over. An older time than the one kept is passed over too."""
        rows = [{"seen_key": key, "at_ms": at_ms} for key, at_ms in activity.items()]
        if rows:
            await self._database.write(lambda connection: _touch(connection, rows))

    async def add_usage(self, usage: Mapping[str, SessionUsage]) -> None:
        """Adds processor time to what sessions (by id) had used, and notes the rest as it is now. No change of its own, as
        touch. What is None is left as it was noted."""
        if usage:
            await self._database.write(lambda connection: _add_usage(connection, usage))

    async def get_usage(self, key: str) -> SessionUsage:
        """What was noted. Raises NotFound."""
        query = select(*(SESSIONS.c[name] for name in _USAGE.values())).where(SESSIONS.c.f_id == key)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        if row is None:
            raise self._not_found(key)
        return SessionUsage(*row)

    async def delete_unchanged(self, session: Session, *, audit: AuditEntry | None = None) -> None:
        """As delete, and only what was read: one that was changed since, or a new one of that name, stays, and that is a
        Conflict."""
        await self._write(lambda connection: self._delete(connection, session), session.id, audit)

    def _delete(self, connection: Connection, seen: Session) -> None:
        column = self.mapping.column
        same = (self.mapping.key == seen.id, column("version") == seen.version, column("created_ms") == seen.created_ms)
        if not connection.execute(delete(SESSIONS).where(*same)).rowcount:
            raise self._stale(connection, seen)

    def _clauses(self, filters: SessionFilter) -> tuple[ColumnElement[bool], ...]:
        column = SESSIONS.c
        clauses: builtins.list[ColumnElement[bool]] = []
        if filters.states is not None:
            clauses.append(column.f_status.in_(filters.states))
        for value, at in (
            (filters.owner, column.f_owner),
            (filters.agent, column.f_agent_id),
            (filters.template, column.f_template_id),
            (filters.node, column.f_runtime_node),
            (filters.box, column.f_container_id),
            (filters.mode, column.f_mode),
        ):
            if value is not None:
                clauses.append(at == value if value else at.is_(None) if at.nullable else at == "")
        if filters.idle_before_ms is not None:
            clauses.append(column.f_last_activity_at < filters.idle_before_ms)
        if filters.expired_at_ms is not None:
            clauses.append(column.f_expires_at <= filters.expired_at_ms)
        if filters.created_before_ms is not None:
            clauses.append(column.f_created_at < filters.created_before_ms)
        return tuple(clauses)


_USAGE = {
    "cpu_s": "f_cpu_usage_seconds",
    "memory_bytes": "f_memory_usage_bytes",
    "disk_bytes": "f_disk_usage_bytes",
    "network_rx_bytes": "f_network_rx_bytes",
    "network_tx_bytes": "f_network_tx_bytes",
    "updated_ms": "f_last_resource_update",
}


def _add_usage(connection: Connection, usage: Mapping[str, SessionUsage]) -> None:
    for key, used in usage.items():
        given = {column: getattr(used, name) for name, column in _USAGE.items() if getattr(used, name) is not None}
        if "f_cpu_usage_seconds" in given:
            given["f_cpu_usage_seconds"] += func.coalesce(SESSIONS.c.f_cpu_usage_seconds, 0.0)
        connection.execute(update(SESSIONS).where(SESSIONS.c.f_id == key).values(given)).close()


def _touch(connection: Connection, rows: list[dict[str, object]]) -> None:
    at, key = SESSIONS.c.f_last_activity_at, SESSIONS.c.f_id
    later = or_(at.is_(None), at < bindparam("at_ms"))
    statement = update(SESSIONS).where(key == bindparam("seen_key"), later).values(f_last_activity_at=bindparam("at_ms"))
    connection.execute(statement, rows)
