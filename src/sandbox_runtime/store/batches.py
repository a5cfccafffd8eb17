"""Batches of completions: found by owner and state; sent twice with one idempotency key, they exist once."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import AuditEntry, Batch, BatchState
from sandbox_runtime.store import mappings
from sandbox_runtime.store.tables import BATCHES
from sandbox_runtime.store.versioned_repository import VersionedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFilter:
    owner: str | None = None
    dataset: str | None = None
    states: tuple[BatchState, ...] | None = None


class Batches(VersionedRepository[Batch, BatchFilter]):
    mapping = mappings.BATCH

    async def add_once(self, batch: Batch, *, audit: AuditEntry | None = None) -> tuple[Batch, bool]:
        """The batch and whether it is new: with a key that its owner has used, it is the one of that time."""
        try:
            return await self.add(batch, audit=audit), True
        except Conflict:
            first = await self.find_by_key(batch.owner, batch.key)
            if first is None:
                raise
            return first, False

    async def find_by_key(self, owner: str, key: str) -> Batch | None:
        if not key:
            return None
        at = (BATCHES.c.f_owner == owner, BATCHES.c.f_idempotency_key == key)
        return await self._database.read(lambda connection: self._find_one(connection, *at))

    def _clauses(self, filters: BatchFilter) -> tuple[ColumnElement[bool], ...]:
        pairs = ((filters.owner, BATCHES.c.f_owner), (filters.dataset, BATCHES.c.f_dataset))
        same = tuple(column == value for value, column in pairs if value is not None)
        return same if filters.states is None else (*same, BATCHES.c.f_status.in_(filters.states))
