"""A clock that can be stopped, and what waits by it."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_runtime.isolation.clock import Clock

WITHIN_S = 30.0


async def test_a_timer_fires_when_its_time_has_come_and_not_while_the_clock_stands_still() -> None:
    clock, fired = Clock(), asyncio.Event()
    clock.call_later(0.01, fired.set)
    clock.pause()
    clock.pause()
    await asyncio.sleep(0.1)
    assert not fired.is_set()
    clock.resume()
    async with asyncio.timeout(WITHIN_S):
        await fired.wait()


async def test_a_timer_that_was_set_or_cancelled_while_the_clock_stood_still_is_heeded() -> None:
    clock, fired, never = Clock(), asyncio.Event(), asyncio.Event()
    early = clock.call_later(0.0, never.set)
    clock.pause()
    clock.call_later(0.0, fired.set)
    early.cancel()
    await asyncio.sleep(0.02)
    assert not fired.is_set()
    clock.resume()
    async with asyncio.timeout(WITHIN_S):
        await fired.wait()
    assert not never.is_set()


async def test_a_timeout_is_by_the_clock() -> None:
    clock = Clock()
    clock.pause()
    asyncio.get_running_loop().call_later(0.05, clock.resume)
    began = clock.time()
    with pytest.raises(TimeoutError):
        async with clock.timeout(0.01):
            await asyncio.Event().wait()
    assert clock.time() - began >= 0.01


async def test_what_ends_in_time_is_left_alone() -> None:
    clock = Clock()
    async with clock.timeout(WITHIN_S):
        await asyncio.sleep(0)
    clock.pause()
    clock.resume()
    await asyncio.sleep(0)
