"""What every part of the sessions package needs: the store, the options, the live sessions and shared services."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import Session
from sandbox_runtime.sessions.nodes.node import NodeHost
from sandbox_runtime.sessions.options import SessionOptions
from sandbox_runtime.telemetry import Log, SessionMetrics
from sandbox_runtime.workspace.ledger import Ledger

if TYPE_CHECKING:
    from sandbox_runtime.engine import Admission
    from sandbox_runtime.sessions.executions.usage import UsageRecorder
    from sandbox_runtime.sessions.lifecycle.snapshots import SessionSnapshots
    from sandbox_runtime.sessions.registry import SessionRegistry
    from sandbox_runtime.store import SessionFilter, Store

_PAGE = 500


@dataclass(frozen=True, slots=True)
class SessionDeps:
    store: Store
    options: SessionOptions
    registry: SessionRegistry
    hosts: Mapping[str, NodeHost]
    """The nodes that this server opens environments on, by id."""
    snapshots: SessionSnapshots
    admission: Admission
    metrics: SessionMetrics
    log: Log
    recorder: UsageRecorder
    ledger: Ledger

    async def find_session(self, session_id: str, owner: str = "") -> Session:
        """Return the row of a session, with its latest activity. Raises NotFound if it is missing or of another owner."""
        live = self.registry.open.get(session_id)
        session = await self.store.sessions.get(session_id)
        if owner and session.owner != owner:
            raise NotFound(f"there is no session {session_id!r}")
        if live is not None and live.active_ms > (session.last_activity_ms or 0):
            return dataclasses.replace(session, last_activity_ms=live.active_ms)
        return session

    async def all_sessions(self, where: SessionFilter) -> list[Session]:
        """Return every matching row, read page by page. For background work; clients get one page at a time."""
        sessions: list[Session] = []
        while True:
            page = await self.store.sessions.list(where, limit=_PAGE, offset=len(sessions))
            sessions += page.items
            if not page.items or not page.has_more:
                return sessions
