"""The warm pool of environments."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_runtime.model import PoolSizes, SessionMode, Template
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentKind, EnvironmentPool

EPHEMERAL = SessionMode.ephemeral


async def wait_for_size(pool: EnvironmentPool, size: int) -> None:
    async with asyncio.timeout(30):
        while pool.size != size:
            await asyncio.sleep(0.01)


def placement_counts(platform: Any) -> dict[str, float]:
    text = platform.metrics.exposition().decode()
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("sandbox_sessions_total")]
    return {row[0].partition('way="')[2].partition('"')[0]: float(row[1]) for row in rows}


@pytest.mark.requirement("control_plane-6.04")
async def test_sessions_take_homes_that_stand_ready_and_others_take_their_place(open_server: Any) -> None:
    async with open_server(warm_pool_size=2, warm_pool_persistent_size=0) as platform:
        sessions = platform.sessions
        pool = sessions._lifecycle.environments.pool
        await wait_for_size(pool, 2)
        session = await sessions.create(SessionSpec())
        assert (await sessions.executions.run(session.id, ExecutionSpec(code="print('warm')"))).stdout == "warm\n"
        assert placement_counts(platform) == {"warm": 1}
        await wait_for_size(pool, 2)


@pytest.mark.requirement("control_plane-6.05")
async def test_modes_and_templates_have_shelves_of_their_own(open_server: Any) -> None:
    async with open_server(warm_pool_size=1, warm_pool_persistent_size=1) as platform:
        sessions = platform.sessions
        pool = sessions._lifecycle.environments.pool
        await wait_for_size(pool, 2)
        own = Template(id="own", name="Own", pool=PoolSizes(ephemeral=3), created_ms=1)
        await sessions.templates.add(own)
        await sessions.create(SessionSpec(template="own"))
        assert placement_counts(platform) == {"cold": 1}
        await wait_for_size(pool, 5)
        await sessions.create(SessionSpec(mode=SessionMode.persistent))
        assert placement_counts(platform) == {"cold": 1, "warm": 1}


@pytest.mark.requirement("control_plane-6.05")
async def test_the_size_follows_demand_and_falls_back(open_server: Any) -> None:
    async with open_server(warm_pool_size=1, warm_pool_persistent_size=0, warm_pool_max=4) as platform:
        sessions = platform.sessions
        pool = sessions._lifecycle.environments.pool
        for _ in range(6):
            await sessions.create(SessionSpec())
        await wait_for_size(pool, 4)
        for _ in range(6):
            pool._decay()
        pool._trim()
        assert pool.size == 1


@pytest.mark.requirement("control_plane-6.05")
async def test_homes_that_nobody_asks_for_are_given_up(open_server: Any) -> None:
    async with open_server(warm_pool_size=2, warm_pool_persistent_size=0, warm_pool_max_idle_s=1) as platform:
        pool = platform.sessions._lifecycle.environments.pool
        await wait_for_size(pool, 2)
        await asyncio.sleep(1.1)
        pool._trim()
        assert pool.size == 0
        assert not pool.has(EnvironmentKind("python-basic", EPHEMERAL, 1024**3))


async def test_without_a_pool_everything_works_cold(open_server: Any) -> None:
    async with open_server(warm_pool_enabled=False) as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec())
        assert (await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"))).stdout == "1\n"
        assert placement_counts(platform) == {"cold": 1} and sessions._lifecycle.environments.pool.size == 0
