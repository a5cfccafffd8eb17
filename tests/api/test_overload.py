"""More than the server can do: a bounded wait, then an answer that clients can retry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.api.servers import Client, serving

from sandbox_runtime.settings import Settings

SLOW = {"code": "sleep 0.7", "language": "bash"}


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Client]:
    settings = Settings(
        state_dir=str(tmp_path), max_concurrency=2, queue_size=2, queue_wait_s=0.3, pool_size=0, log_level="error"
    )
    async with serving(settings) as opened:
        await opened.run_code("true", "bash")
        yield opened


@pytest.mark.requirement("fusion-1.15", "fusion-6.04")
async def test_overload_is_answered_with_504_and_when_to_come_back(small: Client) -> None:
    async with asyncio.timeout(30):
        answers = await asyncio.gather(*(small.post("/run_code", json=SLOW) for _ in range(12)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] * 2 + [504] * 10
    for answer in answers:
        if answer.status_code == 504:
            assert int(answer.headers["retry-after"]) >= 1 and answer.json()["detail"]


async def test_who_waits_within_the_bound_is_served(small: Client) -> None:
    quick = {"code": "sleep 0.05", "language": "bash"}
    answers = await asyncio.gather(*(small.post("/run_code", json=quick) for _ in range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4


async def test_after_overload_the_server_serves_again(small: Client) -> None:
    await asyncio.gather(*(small.post("/run_code", json=SLOW) for _ in range(8)))
    assert (await small.run_code("echo 1", "bash"))["status"] == "Success"
    assert (small.platform.admission.busy, small.platform.admission.waiting, small.platform.pool.in_use) == (0, 0, 0)


async def test_health_answers_under_load(small: Client) -> None:
    load = [asyncio.create_task(small.post("/run_code", json=SLOW)) for _ in range(6)]
    await asyncio.sleep(0.1)
    told = (await small.get("/health")).json()
    assert told["queue"]["running"] == 2
    await asyncio.gather(*load)
