"""A bounded number of places, a bounded queue, a bounded wait."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_runtime.engine import Admission
from sandbox_runtime.errors import TooMany
from sandbox_runtime.telemetry import Metrics


def admission(places: int = 1, queue_size: int = 10, wait_s: float = 10) -> Admission:
    return Admission(places, queue_size, wait_s, Metrics())


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_there_are_as_many_places_as_configured() -> None:
    gate = admission(places=3)
    entered = [await gate.enter() for _ in range(3)]
    fourth = asyncio.create_task(gate.enter())
    await settle()
    assert (gate.busy, gate.waiting, fourth.done()) == (3, 1, False)
    gate.leave(entered[0])
    await fourth
    assert (gate.busy, gate.waiting) == (3, 0)


async def test_who_waits_longest_is_next() -> None:
    gate, order = admission(), []

    async def visit(name: int) -> None:
        entered = await gate.enter()
        order.append(name)
        await asyncio.sleep(0)
        gate.leave(entered)

    async with asyncio.TaskGroup() as group:
        for name in range(6):
            group.create_task(visit(name))
    assert order == list(range(6)) and gate.busy == 0


async def test_a_newcomer_does_not_overtake() -> None:
    gate = admission()
    entered = await gate.enter()
    waiting = asyncio.create_task(gate.enter())
    await settle()
    gate.leave(entered)
    newcomer = asyncio.create_task(gate.enter())
    await settle()
    assert waiting.done() and not newcomer.done()
    gate.leave(waiting.result())
    gate.leave(await newcomer)


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back() -> None:
    gate = admission(queue_size=1)
    entered = await gate.enter()
    waiting = asyncio.create_task(gate.enter())
    await settle()
    with pytest.raises(TooMany) as refused:
        await gate.enter()
    assert refused.value.retry_after_s >= 1
    gate.leave(entered)
    gate.leave(await waiting)


async def test_without_a_queue_there_is_no_waiting() -> None:
    gate = admission(queue_size=0)
    await gate.enter()
    with pytest.raises(TooMany):
        await gate.enter()


async def test_the_wait_is_bounded_and_leaves_no_trace() -> None:
    gate = admission(wait_s=0.02)
    entered = await gate.enter()
    with pytest.raises(TooMany, match=r"within 0\.02 s"):
        await gate.enter()
    assert gate.waiting == 0
    gate.leave(entered)
    assert gate.busy == 0


async def test_who_gives_up_waiting_is_skipped() -> None:
    gate = admission()
    entered = await gate.enter()
    first, second = (asyncio.create_task(gate.enter()) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    gate.leave(entered)
    gate.leave(await second)
    assert (gate.busy, gate.waiting) == (0, 0)


async def test_a_place_handed_over_in_the_moment_of_giving_up_goes_to_the_next() -> None:
    gate = admission()
    entered = await gate.enter()
    first, second = (asyncio.create_task(gate.enter()) for _ in range(2))
    await settle()
    gate.leave(entered)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.leave(await asyncio.wait_for(second, 5))
    assert gate.busy == 0


async def test_refusals_and_waits_are_counted() -> None:
    metrics = Metrics()
    gate = Admission(1, 0, 1, metrics)
    await gate.enter()
    with pytest.raises(TooMany):
        await gate.enter()
    assert 'sandbox_rejections_total{reason="queue_full"} 1.0' in metrics.exposition().decode()
