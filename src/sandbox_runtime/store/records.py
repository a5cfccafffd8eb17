"""Boxes, artifacts and keys: what is written once or changes little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, bindparam, update

from sandbox_runtime.model import ApiKey, Artifact, BoxRecord, BoxState
from sandbox_runtime.store import mappings
from sandbox_runtime.store.repository import Repository
from sandbox_runtime.store.tables import ARTIFACTS, BOXES, KEYS
from sandbox_runtime.store.versioned_repository import VersionedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxFilter:
    """session "" finds those that stand ready and have none."""

    session: str | None = None
    template: str | None = None
    node: str | None = None
    backend: str | None = None
    states: tuple[BoxState, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactFilter:
    execution: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFilter:
    owner: str | None = None


def _equal_clauses(*pairs: tuple[Any, ColumnElement[Any]]) -> tuple[ColumnElement[bool], ...]:
    return tuple(column == value for value, column in pairs if value is not None)


class Boxes(VersionedRepository[BoxRecord, BoxFilter]):
    mapping = mappings.BOX

    def _clauses(self, filters: BoxFilter) -> tuple[ColumnElement[bool], ...]:
        column = BOXES.c
        states = () if filters.states is None else (column.f_status.in_(filters.states),)
        ready = (
            (column.f_session_id.is_(None),) if filters.session == "" else _equal_clauses((filters.session, column.f_session_id))
        )
        others = ((filters.template, column.f_template_id), (filters.node, column.f_node_id))
        return (*states, *ready, *_equal_clauses(*others, (filters.backend, column.f_runtime_type)))


class Artifacts(Repository[Artifact, ArtifactFilter]):
    mapping = mappings.ARTIFACT

    async def add_all(self, artifacts: Sequence[Artifact]) -> None:
        """All of them or, where one exists already, none."""
        rows = [self.mapping.to_row(artifact) for artifact in artifacts]
        if rows:
            await self._write(lambda connection: connection.execute(self.mapping.insert, rows).close(), artifacts[0].id)

    def _clauses(self, filters: ArtifactFilter) -> tuple[ColumnElement[bool], ...]:
        return _equal_clauses((filters.execution, ARTIFACTS.c.f_execution_id))


class Keys(VersionedRepository[ApiKey, KeyFilter]):
    mapping = mappings.KEY

    async def find_by_digest(self, digest: str) -> ApiKey | None:
        """Whether it still opens anything is for the caller to ask: ApiKey.opens."""
        return await self._database.read(lambda connection: self._find_one(connection, KEYS.c.f_digest == digest))

    async def record_use(self, uses: Mapping[str, int]) -> None:
        """Notes when keys (by id) were last used. No change of its own: it stands in the way of nobody's update."""
        rows = [{"seen_key": key, "at_ms": at_ms} for key, at_ms in uses.items()]
        statement = update(KEYS).where(KEYS.c.f_id == bindparam("seen_key")).values(f_last_used_at=bindparam("at_ms"))
        if rows:
            await self._database.write(lambda connection: connection.execute(statement, rows).close())

    def _clauses(self, filters: KeyFilter) -> tuple[ColumnElement[bool], ...]:
        return _equal_clauses((filters.owner, KEYS.c.f_owner))
