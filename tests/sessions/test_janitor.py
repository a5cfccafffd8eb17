"""Periodic work on sessions. Times are passed in: the tests do not wait."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_runtime.model import Node, NodeState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.timestamps import now_ms

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


@pytest.mark.requirement("control_plane-3.09")
async def test_a_session_ends_when_its_time_is_over_or_nothing_was_asked_of_it(open_server: Any) -> None:
    async with open_server() as platform:
        sessions, janitor = platform.sessions, platform.sessions._janitor
        lasting = await sessions.create(SessionSpec())
        expiring = await sessions.create(SessionSpec(lifetime_s=600))
        idling = await sessions.create(SessionSpec(idle_timeout_s=60))
        busy = await sessions.create(SessionSpec(idle_timeout_s=60))
        running = await sessions.executions.submit(busy.id, ExecutionSpec(code="import time\ntime.sleep(60)"))
        report = await janitor.sweep(now_ms() + HOUR_MS)
        assert (report.expired, report.idle) == (1, 1)
        states = [(await sessions.get(one.id)).state for one in (lasting, expiring, idling, busy)]
        assert states == [SessionState.running, SessionState.timeout, SessionState.terminated, SessionState.running]
        await sessions.executions.cancel(running.id)


async def test_activity_is_written_down_and_seen_by_others(open_server: Any) -> None:
    async with open_server() as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec())
        done = await sessions.executions.run(session.id, ExecutionSpec(code="1"))
        await sessions._janitor.beat()
        row = await sessions.store.sessions.get(session.id)
        assert row.last_activity_ms is not None and row.last_activity_ms >= (done.completed_ms or 0)


@pytest.mark.requirement("control_plane-3.09")
async def test_a_session_that_never_came_up_has_failed(open_server: Any) -> None:
    async with open_server() as platform:
        sessions = platform.sessions
        await sessions.store.sessions.add(Session(id="stuck", template="python-basic", node="here", created_ms=now_ms()))
        assert (await sessions._janitor.sweep(now_ms() + HOUR_MS)).stuck == 1
        assert (await sessions.get("stuck")).state is SessionState.failed


@pytest.mark.requirement("control_plane-3.09")
async def test_a_node_that_fell_silent_is_offline_and_its_ephemeral_sessions_are_lost(open_server: Any) -> None:
    async with open_server() as platform:
        sessions, store = platform.sessions, platform.sessions.store
        await store.nodes.add(Node(id="gone", hostname="gone", created_ms=1, heartbeat_ms=now_ms() - HOUR_MS))
        for key, mode in (("lost", SessionMode.ephemeral), ("waits", SessionMode.persistent)):
            facts = {"template": "python-basic", "node": "gone", "state": SessionState.running, "created_ms": now_ms()}
            await store.sessions.add(Session(id=key, mode=mode, **facts))
        assert (await sessions._janitor.sweep()).lost == 1
        assert (await store.nodes.get("gone")).state is NodeState.offline
        assert [(await sessions.get(key)).state for key in ("lost", "waits")] == [SessionState.failed, SessionState.running]
        assert (await store.nodes.get("here")).state is NodeState.online


async def test_what_is_old_is_forgotten_with_its_files(open_server: Any) -> None:
    async with open_server() as platform:
        sessions, store = platform.sessions, platform.sessions.store
        session = await sessions.create(SessionSpec(mode=SessionMode.persistent))
        await sessions.executions.run(session.id, ExecutionSpec(code="open('f', 'w').write('x' * 100)"))
        storage = sessions._deps.snapshots._storage
        assert await storage.list(f"sessions/{session.id}/")
        await sessions.terminate(session.id)
        assert await storage.list(f"sessions/{session.id}/")
        assert (await sessions._janitor.sweep(now_ms() + 8 * DAY_MS)).forgotten >= 1
        assert await store.sessions.find(session.id) is None
        assert not await storage.list(f"sessions/{session.id}/")


async def test_a_node_is_noted_to_be_alive(open_server: Any) -> None:
    async with open_server() as platform:
        sessions, store = platform.sessions, platform.sessions.store
        before = await store.nodes.get("here")
        await sessions.create(SessionSpec())
        await sessions._janitor.beat()
        after = await store.nodes.get("here")
        assert (after.heartbeat_ms or 0) >= (before.heartbeat_ms or 0) and after.boxes == 1
        await store.nodes.update(after, state=NodeState.draining)
        await sessions._janitor.beat()
        assert sessions._lifecycle.nodes.rows["here"].state is NodeState.draining


async def test_a_session_that_another_server_ended_is_let_go(open_server: Any) -> None:
    async with open_server(warm_pool_enabled=False) as platform:
        sessions, store = platform.sessions, platform.sessions.store
        ended, deleted, kept = [await sessions.create(SessionSpec()) for _ in range(3)]
        await store.sessions.update_if(ended.id, (SessionState.running,), state=SessionState.terminated)
        await store.sessions.delete(deleted.id)
        assert (await sessions._janitor.sweep()).let_go == 2
        assert set(sessions._deps.registry.open) == {kept.id}
        assert len(platform.backend._resources.shared) == 1
