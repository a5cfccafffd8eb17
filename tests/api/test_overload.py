"""An overloaded server lets requests wait for a bounded time, then returns an error that clients can retry.

Tests that need the server's slots to be in use for an exact time take them themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLACES, QUEUE = 2, 2
ECHO = {"code": "echo 1", "language": "bash"}
SLOW = {"code": "sleep 0.5", "language": "bash"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with serving(_settings(tmp_path_factory, queue_wait_s=0.3)) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def patient(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with serving(_settings(tmp_path_factory, queue_wait_s=60)) as opened:
        yield opened


def _settings(folders: pytest.TempPathFactory, **more: Any) -> Settings:
    """Nothing else uses slots: no language checks, no prestarted programs."""
    return Settings(
        state_dir=str(folders.mktemp("state")),
        max_concurrency=PLACES,
        queue_size=QUEUE,
        pool_size=0,
        started_pool_size=0,
        check_languages=False,
        log_level="error",
        **more,
    )


@contextlib.asynccontextmanager
async def every_place_taken(client: Client) -> AsyncIterator[None]:
    admission = client.platform.admission
    entered = [await admission.enter() for _ in range(PLACES)]
    try:
        yield
    finally:
        for entry in entered:
            admission.leave(entry)


async def until_waiting(client: Client, count: int) -> None:
    async with asyncio.timeout(30):
        while client.platform.admission.waiting < count:
            await asyncio.sleep(0.01)


def idle(client: Client) -> bool:
    return (client.platform.admission.busy, client.platform.admission.waiting, client.platform.pool.in_use) == (0, 0, 0)


@pytest.mark.requirement("fusion-1.15", "fusion-6.04")
async def test_overload_is_answered_with_504_and_when_to_come_back(small: Client) -> None:
    async with asyncio.timeout(60), every_place_taken(small):
        answers = await asyncio.gather(*(small.post("/run_code", json=ECHO) for _ in range(12)))
    for answer in answers:
        assert answer.status_code == 504
        assert int(answer.headers["retry-after"]) >= 1 and answer.json()["detail"]
    freed = sorted("became free" in answer.json()["detail"] for answer in answers)
    assert freed == [False] * (12 - QUEUE) + [True] * QUEUE


async def test_who_waits_within_the_bound_is_served(patient: Client) -> None:
    async with every_place_taken(patient):
        waiting = [asyncio.create_task(patient.post("/run_code", json=ECHO)) for _ in range(QUEUE)]
        await until_waiting(patient, QUEUE)
    assert [(await entry).json()["status"] for entry in waiting] == ["Success"] * QUEUE


async def test_after_overload_the_server_serves_again(small: Client) -> None:
    answers = await asyncio.gather(*(small.post("/run_code", json=SLOW) for _ in range(8)))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {200, 504} and statuses.count(200) >= PLACES
    assert (await small.run_code("echo 1", "bash"))["status"] == "Success"
    assert idle(small)


async def test_health_answers_under_load(patient: Client) -> None:
    async with every_place_taken(patient):
        load = [asyncio.create_task(patient.post("/run_code", json=ECHO)) for _ in range(QUEUE)]
        await until_waiting(patient, QUEUE)
        refused = await asyncio.gather(*(patient.post("/run_code", json=ECHO) for _ in range(4)))
        freed = (await patient.get("/health")).json()
        assert freed["queue"]["running"] == PLACES
    assert {entry.status_code for entry in refused} == {504} and {(await entry).status_code for entry in load} == {200}
    assert idle(patient)
