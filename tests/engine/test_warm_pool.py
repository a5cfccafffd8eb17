"""The two generic pools: items handed out once, opened in the background, closed when not needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from sandbox_runtime.engine.pools.standby import Standby
from sandbox_runtime.engine.pools.warm_pool import WarmPool
from sandbox_runtime.errors import PlatformFault


class Opener:
    """Opens numbers. `gate` holds openings back, `failing` lets them fail."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.failing = False
        self.attempts = 0
        self.closed: list[int] = []
        self.broken: set[int] = set()
        self.target = 2
        self.errors: list[Exception] = []

    async def open(self) -> int:
        self.attempts += 1
        number = self.attempts
        await self.gate.wait()
        if self.failing:
            raise PlatformFault("none today")
        return number

    async def open_for(self, key: str) -> int:
        return await self.open()

    async def close(self, number: int) -> None:
        self.closed.append(number)

    def pool(self, *, one_by_one: bool = False, backoff_s: tuple[float, float] | None = None) -> WarmPool[int]:
        return WarmPool(
            self.open,
            self.close,
            target=lambda: self.target,
            usable=lambda number: number not in self.broken,
            on_failure=self.errors.append,
            one_by_one=one_by_one,
            backoff_s=backoff_s,
        )


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


@pytest.fixture
async def opener() -> AsyncIterator[Opener]:
    yield Opener()


async def test_items_are_opened_up_to_the_target_and_handed_out_once(opener: Opener) -> None:
    pool = opener.pool()
    assert pool.pop() is None
    pool.refill()
    await until(lambda: len(pool.idle) == 2)
    assert {pool.pop(), pool.pop(), pool.pop()} == {1, 2, None}
    await pool.close()


async def test_one_by_one_opens_a_single_item_at_a_time(opener: Opener) -> None:
    pool = opener.pool(one_by_one=True)
    opener.gate.clear()
    pool.refill()
    pool.refill()
    await until(lambda: opener.attempts == 1)
    assert pool.size == 1
    opener.gate.set()
    await until(lambda: len(pool.idle) == 2)
    await pool.close()


async def test_a_caller_waits_for_an_item_that_is_being_opened(opener: Opener) -> None:
    pool = opener.pool()
    opener.gate.clear()
    pool.refill()
    takers = [asyncio.create_task(pool.take()) for _ in range(3)]
    await asyncio.wait(takers, return_when=asyncio.FIRST_COMPLETED)
    assert takers[2].result() is None
    opener.gate.set()
    assert {await takers[0], await takers[1]} == {1, 2}
    await pool.close()


async def test_a_cancelled_caller_leaves_its_item_to_the_pool(opener: Opener) -> None:
    pool = opener.pool()
    opener.gate.clear()
    pool.refill()
    taker = asyncio.create_task(pool.take())
    await until(lambda: opener.attempts == 2)
    taker.cancel()
    opener.gate.set()
    await until(lambda: len(pool.idle) == 2)
    await pool.close()
    assert sorted(opener.closed) == [1, 2]


async def test_unusable_items_are_closed_and_the_newest_are_kept(opener: Opener) -> None:
    opener.target = 4
    pool = opener.pool(one_by_one=True)
    pool.refill()
    await until(lambda: len(pool.idle) == 4)
    opener.broken = {4}
    opener.target = 2
    pool.trim()
    assert list(pool.idle) == [2, 3]
    opener.broken = {2}
    assert pool.pop() == 3
    await pool.close()
    assert sorted(opener.closed) == [1, 2, 4]


async def test_a_failed_opening_is_reported_and_tried_again_after_a_while(opener: Opener) -> None:
    opener.target, opener.failing = 1, True
    pool = opener.pool(backoff_s=(0.01, 0.01))
    pool.refill()
    await until(lambda: len(opener.errors) == 1)
    pool.refill()
    assert opener.attempts == 1 and pool.failure is not None
    opener.failing = False
    await until(lambda: len(pool.idle) == 1)
    assert pool.failure is None
    await pool.close()


async def test_a_closed_pool_opens_nothing_and_keeps_nothing(opener: Opener) -> None:
    pool = opener.pool()
    opener.gate.clear()
    pool.refill()
    await until(lambda: opener.attempts == 2)
    await pool.close()
    pool.refill()
    assert pool.size == 0


async def test_a_standby_item_goes_to_the_caller_with_its_key(opener: Opener) -> None:
    standby = Standby(opener.open_for, opener.close, 60)
    assert await standby.take("a") is None
    standby.prepare("a")
    standby.prepare("b")
    assert await standby.take("a") == 1 and opener.attempts == 1
    standby.prepare("a")
    assert await standby.take("b") is None
    await standby.close()
    assert opener.closed == [2]


async def test_a_standby_item_that_cannot_be_opened_is_none(opener: Opener) -> None:
    opener.failing = True
    standby = Standby(opener.open_for, opener.close, 60)
    standby.prepare("a")
    assert await standby.take("a") is None
    await standby.close()


async def test_a_standby_item_is_closed_when_its_caller_is_cancelled_or_its_time_is_over(opener: Opener) -> None:
    standby = Standby(opener.open_for, opener.close, 0.01)
    standby.prepare("a")
    await until(lambda: opener.closed == [1])
    opener.gate.clear()
    standby.prepare("a")
    taker = asyncio.create_task(standby.take("a"))
    await until(lambda: not standby.waiting)
    taker.cancel()
    opener.gate.set()
    await until(lambda: opener.closed == [1, 2])
    await standby.close()
