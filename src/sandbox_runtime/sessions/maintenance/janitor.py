"""What time brings: heartbeats, sessions whose time is over, nodes that fell silent, rows that are old."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import NodeState, Session, SessionMode, SessionState
from sandbox_runtime.model.session import ENDED_SESSION_STATES, LIVE_SESSION_STATES
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions.executor import Executions
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.maintenance.storage_watcher import WATCH_EVERY_S, StorageWatcher
from sandbox_runtime.sessions.maintenance.supervisor import Supervisor
from sandbox_runtime.sessions.paging import all_sessions
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.store import NodeFilter, RetentionPolicy, SessionFilter

_AT_ONCE = 200
_LOST_NODE = "its node has not been heard of for a while"


@dataclass(slots=True)
class Swept:
    expired: int = 0
    idle: int = 0
    stuck: int = 0
    lost: int = 0
    let_go: int = 0
    forgotten: int = 0


class Janitor:
    def __init__(self, ground: Ground, lifecycle: Lifecycle, executions: Executions) -> None:
        self._ground = ground
        self._lifecycle = lifecycle
        self._supervisor = Supervisor(ground, lifecycle)
        self._watcher = StorageWatcher(ground, executions)
        self._tasks: list[asyncio.Task[None]] = []
        self._noted: dict[str, int] = {}

    async def __aenter__(self) -> Janitor:
        options = self._ground.options
        self._tasks = [
            asyncio.create_task(self._regularly(options.heartbeat_s, self.beat)),
            asyncio.create_task(self._regularly(options.cleanup_s, self.sweep)),
            asyncio.create_task(self._regularly(options.heartbeat_s, self._supervisor.round)),
            asyncio.create_task(self._regularly(min(WATCH_EVERY_S, options.heartbeat_s), self._watcher.round)),
        ]
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _regularly(self, pause_s: float, duty: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(pause_s)
            try:
                await duty()
            except SandboxError as error:
                self._ground.log.warning("the janitor could not do a duty", reason=str(error))
            except Exception:
                self._ground.log.exception("the janitor failed in an unforeseen way")

    async def beat(self) -> None:
        """Executions and nodes are alive, sessions were active, and those in our hands may have come to their end."""
        now_ms, store = timestamps.now_ms(), self._ground.store
        await store.executions.record_heartbeat(list(self._ground.directory.executions()), now_ms)
        for node in self._lifecycle.node_rows():
            await self._beat_node(node.id, now_ms)
        await self.note_activity()
        for live in list(self._ground.directory.open.values()):
            await self._check(live.session, now_ms, live.active_ms, busy=bool(live.executions), swept=Swept())

    async def supervise(self) -> None:
        await self._supervisor.round()

    async def watch_storage(self) -> int:
        return await self._watcher.round()

    async def note_activity(self) -> None:
        activity = {live.id: live.active_ms for live in self._ground.directory.open.values()}
        new = {key: at_ms for key, at_ms in activity.items() if self._noted.get(key) != at_ms}
        await self._ground.store.sessions.touch(new)
        self._noted = activity

    async def sweep(self, now_ms: int | None = None) -> Swept:
        """Everything once; bounded, and done again after a while."""
        swept, now_ms = Swept(), timestamps.now_ms() if now_ms is None else now_ms
        held = list(self._ground.directory.open.values())
        due = await self._due()
        await self._let_go_of(held, {session.id for session in due}, swept)
        for session in due:
            live = self._ground.directory.open.get(session.id)
            active_ms = live.active_ms if live is not None else session.last_activity_ms or session.created_ms
            await self._check(session, now_ms, active_ms, busy=live is not None and bool(live.executions), swept=swept)
        await self._look_for_silent_nodes(now_ms, swept)
        await self._forget_the_old(now_ms, swept)
        return swept

    async def _due(self) -> list[Session]:
        """Sessions that have not ended. Those of other nodes belong to other servers."""
        found: list[Session] = []
        for node in self._ground.hosts:
            found += await all_sessions(self._ground.store, SessionFilter(states=LIVE_SESSION_STATES, node=node))
        return found

    async def _let_go_of(self, held: list[LiveSession], living: set[str], swept: Swept) -> None:
        """Sessions that are open here and were ended, or deleted, by another server. Those that were made meanwhile are known
        by their rows."""
        for live in held:
            if live.id in living or live.ending:
                continue
            row = await self._ground.store.sessions.find(live.id)
            if row is None or row.state.ended:
                await self._lifecycle.let_go(live)
                swept.let_go += 1

    async def _check(self, session: Session, now_ms: int, active_ms: int, *, busy: bool, swept: Swept) -> None:
        options = self._ground.options
        if session.expires_ms is not None and session.expires_ms <= now_ms:
            swept.expired += await self._end(session, machine.Expired())
        elif session.state is SessionState.creating:
            if session.id not in self._ground.directory.open and now_ms - session.created_ms > options.creating_s * 1000:
                swept.stuck += await self._end(session, machine.TookTooLong(options.creating_s))
        elif session.idle_timeout_s is not None and not busy and now_ms - active_ms > session.idle_timeout_s * 1000:
            swept.idle += await self._end(session, machine.Idle(session.idle_timeout_s))

    async def _end(self, session: Session, event: machine.Event) -> bool:
        """Somebody else may have been quicker."""
        try:
            await self._lifecycle.apply(session.id, event, "janitor")
        except (Conflict, NotFound):
            return False
        return True

    async def _beat_node(self, node: str, now_ms: int) -> None:
        store, host = self._ground.store.nodes, self._ground.hosts[node]
        cpu, memory = host.usage()
        await store.record_heartbeat(node, now_ms, cpu, memory)
        row = await store.get(node)
        counted = self._lifecycle.counted(node)
        if any(getattr(row, name) != value for name, value in counted.items()) or row.state is NodeState.offline:
            with contextlib.suppress(Conflict):
                state = NodeState.online if row.state is NodeState.offline else row.state
                row = await store.update(row, state=state, **counted)
        self._lifecycle.nodes[node] = row

    async def _look_for_silent_nodes(self, now_ms: int, swept: Swept) -> None:
        """Of other servers. Their ephemeral sessions are lost; persistent ones wait for their node to come back."""
        silent_since_ms = now_ms - int(self._ground.options.silent_s * 1000)
        wanted = NodeFilter(states=(NodeState.online,), silent_since_ms=silent_since_ms)
        for node in (await self._ground.store.nodes.list(wanted, limit=_AT_ONCE)).items:
            if node.id in self._ground.hosts:
                continue
            with contextlib.suppress(Conflict):
                await self._ground.store.nodes.update(node, state=NodeState.offline, failures=node.failures + 1)
            of_node = SessionFilter(states=LIVE_SESSION_STATES, node=node.id, mode=SessionMode.ephemeral)
            for session in await all_sessions(self._ground.store, of_node):
                swept.lost += await self._end(session, machine.Lost(_LOST_NODE))

    async def _forget_the_old(self, now_ms: int, swept: Swept) -> None:
        """What was kept of files goes before the rows that know of it."""
        policy = RetentionPolicy()
        old = SessionFilter(
            states=ENDED_SESSION_STATES, mode=SessionMode.persistent, created_before_ms=now_ms - policy.sessions_ms
        )
        for session in await all_sessions(self._ground.store, old):
            if (session.completed_ms or session.updated_ms) < now_ms - policy.sessions_ms:
                await self._ground.snapshots.drop(session.id)
        gone = await self._ground.store.apply_retention(now_ms, policy)
        await self._ground.store.samples.compact(now_ms)
        swept.forgotten = gone.sessions + gone.executions
