"""Periodic work: heartbeats, expired and idle sessions, silent nodes, and rows past their retention."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import NodeState, Session, SessionMode, SessionState
from sandbox_runtime.model.session import ENDED_SESSION_STATES, LIVE_SESSION_STATES
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.maintenance.storage_watcher import WATCH_EVERY_S, StorageWatcher
from sandbox_runtime.sessions.maintenance.supervisor import Supervisor
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.store import NodeFilter, RetentionPolicy, SessionFilter

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

_PAGE = 200
_SILENT_NODE = "its node has sent no heartbeat for a while"


@dataclass(slots=True)
class SweepReport:
    """What one sweep did. The field names are part of the HTTP API."""

    expired: int = 0
    """Sessions past their lifetime."""
    idle: int = 0
    """Sessions past their idle timeout."""
    stuck: int = 0
    """Sessions that were never ready."""
    lost: int = 0
    """Ephemeral sessions of silent nodes."""
    let_go: int = 0
    """Open sessions that another server had ended."""
    forgotten: int = 0
    """Deleted rows of sessions and executions."""


class Janitor:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle, executor: Executor) -> None:
        self._deps = deps
        self._lifecycle = lifecycle
        self._supervisor = Supervisor(deps, lifecycle)
        self._watcher = StorageWatcher(deps, executor)
        self._tasks: list[asyncio.Task[None]] = []
        self._written_activity: dict[str, int] = {}

    async def __aenter__(self) -> Janitor:
        options = self._deps.options
        self._tasks = [
            asyncio.create_task(self._run_periodically(options.heartbeat_every_s, self.beat)),
            asyncio.create_task(self._run_periodically(options.sweep_every_s, self.sweep)),
            asyncio.create_task(self._run_periodically(options.heartbeat_every_s, self._supervisor.round)),
            asyncio.create_task(self._run_periodically(min(WATCH_EVERY_S, options.heartbeat_every_s), self._watcher.round)),
        ]
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run_periodically(self, pause_s: float, duty: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(pause_s)
            try:
                await duty()
            except SandboxError as error:
                self._deps.log.warning("the janitor could not do a duty", reason=str(error))
            except Exception:
                self._deps.log.exception("the janitor failed in an unforeseen way")

    async def beat(self) -> None:
        """Write heartbeats of executions and nodes and the activity of sessions; end open sessions that are due."""
        now_ms, store = timestamps.now_ms(), self._deps.store
        await store.executions.record_heartbeat(list(self._deps.registry.executions()), now_ms)
        for node in self._lifecycle.nodes.current():
            await self._beat_node(node.id, now_ms)
        await self.note_activity()
        for live in list(self._deps.registry.open.values()):
            await self._check(live.session, now_ms, live.active_ms, busy=bool(live.executions), report=SweepReport())

    async def supervise(self) -> None:
        await self._supervisor.round()

    async def watch_storage(self) -> int:
        return await self._watcher.round()

    async def note_activity(self) -> None:
        activity = {live.id: live.active_ms for live in self._deps.registry.open.values()}
        new = {key: at_ms for key, at_ms in activity.items() if self._written_activity.get(key) != at_ms}
        await self._deps.store.sessions.touch(new)
        self._written_activity = activity

    async def sweep(self, now_ms: int | None = None) -> SweepReport:
        """End sessions that are due, mark silent nodes, and delete rows past their retention."""
        report, now_ms = SweepReport(), timestamps.now_ms() if now_ms is None else now_ms
        live_sessions = list(self._deps.registry.open.values())
        rows = await self._live_rows()
        await self._close_ended(live_sessions, {session.id for session in rows}, report)
        for session in rows:
            live = self._deps.registry.open.get(session.id)
            active_ms = live.active_ms if live is not None else session.last_activity_ms or session.created_ms
            await self._check(session, now_ms, active_ms, busy=live is not None and bool(live.executions), report=report)
        await self._mark_silent_nodes(now_ms, report)
        await self._apply_retention(now_ms, report)
        return report

    async def _live_rows(self) -> list[Session]:
        """Return the live sessions of this server's nodes; other servers look after theirs."""
        rows: list[Session] = []
        for node in self._deps.hosts:
            rows += await self._deps.all_sessions(SessionFilter(states=LIVE_SESSION_STATES, node=node))
        return rows

    async def _close_ended(self, live_sessions: list[LiveSession], live_ids: set[str], report: SweepReport) -> None:
        """Close sessions that are open here and were ended or deleted by another server. Sessions created since `live_ids` was
        read are recognised by their rows."""
        for live in live_sessions:
            if live.id in live_ids or live.closing:
                continue
            row = await self._deps.store.sessions.find(live.id)
            if row is None or row.state.ended:
                await self._lifecycle.transitions.release_ended(live)
                report.let_go += 1

    async def _check(self, session: Session, now_ms: int, active_ms: int, *, busy: bool, report: SweepReport) -> None:
        options = self._deps.options
        if session.expires_ms is not None and session.expires_ms <= now_ms:
            report.expired += await self._end(session, machine.Expired())
        elif session.state is SessionState.creating:
            if session.id not in self._deps.registry.open and now_ms - session.created_ms > options.create_timeout_s * 1000:
                report.stuck += await self._end(session, machine.TookTooLong(options.create_timeout_s))
        elif session.idle_timeout_s is not None and not busy and now_ms - active_ms > session.idle_timeout_s * 1000:
            report.idle += await self._end(session, machine.Idle(session.idle_timeout_s))

    async def _end(self, session: Session, event: machine.Event) -> bool:
        """Apply the event. Return False if the session was ended or deleted in the meantime."""
        try:
            await self._lifecycle.transitions.apply(session.id, event, "janitor")
        except (Conflict, NotFound):
            return False
        return True

    async def _beat_node(self, node: str, now_ms: int) -> None:
        store, host = self._deps.store.nodes, self._deps.hosts[node]
        cpu, memory = host.usage()
        await store.record_heartbeat(node, now_ms, cpu, memory)
        row = await store.get(node)
        allocated = self._lifecycle.nodes.allocated(node)
        if any(getattr(row, name) != value for name, value in allocated.items()) or row.state is NodeState.offline:
            with contextlib.suppress(Conflict):
                state = NodeState.online if row.state is NodeState.offline else row.state
                row = await store.update(row, state=state, **allocated)
        self._lifecycle.nodes.rows[node] = row

    async def _mark_silent_nodes(self, now_ms: int, report: SweepReport) -> None:
        """Mark silent nodes of other servers as offline. Their ephemeral sessions are lost; persistent ones wait for the node."""
        silent_since_ms = now_ms - int(self._deps.options.node_timeout_s * 1000)
        silent = NodeFilter(states=(NodeState.online,), silent_since_ms=silent_since_ms)
        for node in (await self._deps.store.nodes.list(silent, limit=_PAGE)).items:
            if node.id in self._deps.hosts:
                continue
            with contextlib.suppress(Conflict):
                await self._deps.store.nodes.update(node, state=NodeState.offline, failures=node.failures + 1)
            of_node = SessionFilter(states=LIVE_SESSION_STATES, node=node.id, mode=SessionMode.ephemeral)
            for session in await self._deps.all_sessions(of_node):
                report.lost += await self._end(session, machine.NodeLost(_SILENT_NODE))

    async def _apply_retention(self, now_ms: int, report: SweepReport) -> None:
        """Delete old rows; snapshots first, because only the rows refer to them."""
        policy = RetentionPolicy()
        old = SessionFilter(
            states=ENDED_SESSION_STATES, mode=SessionMode.persistent, created_before_ms=now_ms - policy.sessions_ms
        )
        for session in await self._deps.all_sessions(old):
            if (session.completed_ms or session.updated_ms) < now_ms - policy.sessions_ms:
                await self._deps.snapshots.drop(session.id)
        deleted = await self._deps.store.apply_retention(now_ms, policy)
        await self._deps.store.samples.compact(now_ms)
        report.forgotten = deleted.sessions + deleted.executions
