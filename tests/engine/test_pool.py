"""Boxes opened ahead of time: single use, refilled, sized by demand, nothing left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.engine.faulty import FaultyBackend

from sandbox_runtime.engine import BoxPool
from sandbox_runtime.engine.pools import background, box_pool
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.model import Policy
from sandbox_runtime.telemetry import Metrics, open_log

POLICY = Policy()
OTHER = Policy(disk_files=1000)


@pytest.fixture
async def pool(backend: FaultyBackend, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BoxPool]:
    monkeypatch.setattr(box_pool, "TICK_S", 0.05)
    monkeypatch.setattr(box_pool, "_FIRST_BACKOFF_S", 0.02)
    async with backend, BoxPool(backend, {POLICY: 2}, 8, Metrics(), open_log("error")) as opened:
        yield opened


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_the_floor_is_kept_ready(pool: BoxPool) -> None:
    await until(lambda: pool.idle == 2)


async def test_a_box_that_was_taken_is_replaced_and_never_given_again(pool: BoxPool, backend: FaultyBackend) -> None:
    seen = set()
    for _ in range(5):
        await until(lambda: pool.idle >= 2)
        box = await pool.take(POLICY)
        assert box.id not in seen and box in backend.open_boxes
        seen.add(box.id)
        await pool.discard(POLICY, box)
        assert box not in backend.open_boxes


async def test_an_empty_pool_means_opening_on_demand_not_waiting(pool: BoxPool) -> None:
    boxes = await asyncio.gather(*(pool.take(POLICY) for _ in range(6)))
    assert len({box.id for box in boxes}) == 6
    for box in boxes:
        await pool.discard(POLICY, box)


async def test_the_pool_grows_to_the_recent_peak_but_not_beyond_its_maximum(pool: BoxPool) -> None:
    boxes = [await pool.take(POLICY) for _ in range(5)]
    await until(lambda: pool.idle == 5)
    boxes += [await pool.take(POLICY) for _ in range(15)]
    await until(lambda: pool.idle == 8)
    for box in boxes:
        await pool.discard(POLICY, box)


async def test_the_pool_shrinks_to_its_floor_when_idle(pool: BoxPool, backend: FaultyBackend) -> None:
    boxes = [await pool.take(POLICY) for _ in range(6)]
    await until(lambda: pool.idle == 6)
    for box in boxes:
        await pool.discard(POLICY, box)
    await until(lambda: pool.idle == 2 and len(backend.open_boxes) == 2)


async def test_a_policy_without_a_floor_keeps_a_spare_while_it_is_in_use(backend: FaultyBackend) -> None:
    async with backend, BoxPool(backend, {POLICY: 0}, 8, Metrics(), open_log("error")) as pool:
        assert pool.idle == 0
        box = await pool.take(POLICY)
        await until(lambda: pool.idle == 2)
        await pool.discard(POLICY, box)
        assert pool.idle == 2


async def test_a_policy_without_a_pool_is_opened_on_demand(pool: BoxPool) -> None:
    await until(lambda: pool.idle == 2)
    box = await pool.take(OTHER)
    assert pool.idle == 2
    await pool.discard(OTHER, box)


async def test_a_failing_backend_is_told_to_the_caller_and_not_asked_without_end(pool: BoxPool, backend: FaultyBackend) -> None:
    await until(lambda: pool.idle == 2)
    backend.failing = True
    pool.drop_idle(POLICY)
    with pytest.raises(PlatformFault, match="no boxes today"):
        await pool.take(POLICY)
    await until(lambda: pool.failure is not None)
    asked = backend.refused
    await asyncio.sleep(0.3)
    assert backend.refused - asked < 10
    assert pool.in_use == 0


async def test_the_pool_recovers_with_its_backend(pool: BoxPool, backend: FaultyBackend) -> None:
    backend.failing = True
    pool.drop_idle(POLICY)
    with pytest.raises(PlatformFault):
        await pool.take(POLICY)
    backend.failing = False
    await until(lambda: pool.idle >= 2 and pool.failure is None)


async def test_drop_idle_closes_the_waiting_boxes(pool: BoxPool, backend: FaultyBackend) -> None:
    await until(lambda: pool.idle == 2)
    waiting = {box.id for box in backend.open_boxes}
    pool.drop_idle(POLICY)
    await until(lambda: not waiting & {box.id for box in backend.open_boxes})
    await until(lambda: pool.idle == 2)


async def test_a_box_that_cannot_be_closed_stops_nothing(pool: BoxPool, backend: FaultyBackend) -> None:
    await until(lambda: pool.idle == 2)
    box = backend.open_boxes[0]
    closing = box.close

    async def refuse() -> None:
        raise PlatformFault("it holds on")

    box.close = refuse
    pool.drop_idle(POLICY)
    await until(lambda: pool.idle == 2)
    await pool.close()
    await closing()
    assert not backend.open_boxes


async def test_a_cancelled_discard_is_finished_by_the_pool(pool: BoxPool, backend: FaultyBackend) -> None:
    box: Any = await pool.take(POLICY)
    closing, entered = box.close, asyncio.Event()

    async def slow() -> None:
        entered.set()
        await asyncio.sleep(0.05)
        await closing()

    box.close = slow
    discarding = asyncio.create_task(pool.discard(POLICY, box))
    await entered.wait()
    discarding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await discarding
    await pool.close()
    assert not backend.open_boxes


async def test_closing_leaves_no_box_and_no_task(backend: FaultyBackend) -> None:
    async with backend:
        before = asyncio.all_tasks()
        async with BoxPool(backend, {POLICY: 3}, 8, Metrics(), open_log("error")) as pool:
            await until(lambda: pool.idle == 3)
        assert not backend.open_boxes and asyncio.all_tasks() == before
    with pytest.raises(Unavailable, match="shutting down"):
        await pool.take(POLICY)


async def test_a_pool_of_nothing_opens_nothing_ahead(backend: FaultyBackend) -> None:
    async with backend, BoxPool(backend, {}, 0, Metrics(), open_log("error")) as pool:
        await asyncio.sleep(0.05)
        assert not backend.boxes
        await pool.discard(POLICY, await pool.take(POLICY))
        assert len(backend.boxes) == 1


async def test_a_backend_that_never_answers_is_a_fault_of_ours(backend: FaultyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_pool, "OPEN_WITHIN_S", 0.05)
    backend.open_delay_s = 60
    async with backend, BoxPool(backend, {}, 0, Metrics(), open_log("error")) as pool:
        with pytest.raises(PlatformFault, match=r"within 0\.05 s"):
            await pool.take(POLICY)


async def test_closing_ends_although_an_opening_swallows_the_cancellation(
    backend: FaultyBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_CANCEL_AGAIN_S", 0.02)
    opening, entered = backend.open, asyncio.Event()

    async def stubborn(policy: Policy) -> Any:
        try:
            entered.set()
            await asyncio.sleep(0.2)
        except asyncio.CancelledError:
            pass
        return await opening(policy)

    backend.open = stubborn  # type: ignore[method-assign]
    async with asyncio.timeout(20), backend:
        async with BoxPool(backend, {POLICY: 3}, 8, Metrics(), open_log("error")):
            await entered.wait()
        assert not backend.open_boxes
