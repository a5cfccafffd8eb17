"""Health, events, usage and boxes of sessions."""

from __future__ import annotations

import dataclasses

from sandbox_runtime import timestamps
from sandbox_runtime.model import AuditEntry, BoxRecord, BoxState, MetricSample, Session, SessionState, SessionUsage
from sandbox_runtime.model.health import Health
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.maintenance import health
from sandbox_runtime.store import AuditFilter, Page, SessionFilter

_BOX_STATES = {
    SessionState.creating: BoxState.created,
    SessionState.running: BoxState.running,
    SessionState.paused: BoxState.paused,
}


class MonitorApi:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps

    async def health(self, session_id: str, owner: str = "") -> Health:
        """Check a session now."""
        session = await self._deps.find_session(session_id, owner)
        live = self._deps.registry.open.get(session_id)
        return health.check_row(session) if live is None else health.check_live(live)

    async def events(self, session_id: str, limit: int = 50, offset: int = 0, owner: str = "") -> Page[AuditEntry]:
        """Return changes of a session's state and health and attempts to repair it, the newest first."""
        await self._deps.find_session(session_id, owner)
        return await self._deps.store.audit.list(AuditFilter(kind="session", subject=session_id), limit, offset)

    async def usage(self, session_id: str, owner: str = "") -> SessionUsage:
        """Return the resources that a session has used so far."""
        await self._deps.find_session(session_id, owner)
        await self._deps.recorder.write()
        return await self._deps.store.sessions.get_usage(session_id)

    async def samples(
        self, session_id: str, owner: str = "", *, name: str | None = None, since_ms: int = 0
    ) -> tuple[MetricSample, ...]:
        """Return measurements in order of time. Older samples cover longer intervals."""
        await self._deps.find_session(session_id, owner)
        await self._deps.recorder.write()
        return await self._deps.store.samples.list(session_id, name=name, since_ms=since_ms)

    async def boxes(
        self, where: SessionFilter | None = None, limit: int = 50, offset: int = 0, owner: str = ""
    ) -> Page[BoxRecord]:
        """Return the boxes of the matching sessions: each session has one for as long as its row exists."""
        where = where or SessionFilter()
        where = dataclasses.replace(where, owner=owner) if owner else where
        page = await self._deps.store.sessions.list(where, limit, offset)
        return Page(tuple(box_record(session) for session in page.items), page.total, page.limit, page.offset)

    async def check_storage(self) -> None:
        """Raise if files of persistent sessions cannot be saved now."""
        await self._deps.snapshots.check()


def box_record(session: Session) -> BoxRecord:
    return BoxRecord(
        id=session.box or f"box_of_{session.id}"[:128],
        session=session.id,
        template=session.template,
        backend=session.backend,
        node=session.node,
        name=f"sandbox-{session.id}"[:128],
        state=_BOX_STATES.get(session.state, BoxState.exited),
        cpu_cores=session.resources.cpu_cores,
        memory_mb=session.resources.memory_bytes // MIB,
        disk_mb=session.resources.disk_bytes // MIB,
        exit_reason=session.state if session.state.ended else "",
        created_ms=session.created_ms,
        updated_ms=session.updated_ms or timestamps.now_ms(),
        started_ms=session.started_ms,
        exited_ms=session.completed_ms,
    )
