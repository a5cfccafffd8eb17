"""Admission control: a fixed number of slots behind a queue that is bounded in length and in waiting time.

A released slot goes to the longest waiting caller, so no caller overtakes another and none starves.
"""

from __future__ import annotations

import asyncio

from sandbox_runtime.engine.fifo import FifoSlots
from sandbox_runtime.errors import TooMany
from sandbox_runtime.telemetry.metrics import Metrics

_MIN_RETRY_S, _MAX_RETRY_S = 1.0, 60.0
_NEWEST_SHARE = 0.1
"""Weight of the latest run in the moving average of how long a slot is held."""


class Admission:
    def __init__(self, places: int, queue_size: int, wait_s: float, metrics: Metrics) -> None:
        self._slots = FifoSlots(places, queue_size)
        self._places = places
        self._wait_s = wait_s
        self._metrics = metrics
        self._held_s = 0.0

    @property
    def busy(self) -> int:
        return self._slots.busy

    @property
    def waiting(self) -> int:
        return self._slots.waiting

    async def enter(self) -> float:
        """Wait for a slot and return the time at which it was acquired. Raises TooMany if the queue is full or on timeout."""
        now = asyncio.get_running_loop().time()
        if self._slots.acquire():
            self._metrics.record_queue_wait(0.0)
            return now
        if self._slots.full:
            self._metrics.record_rejection("queue_full")
            raise TooMany(f"{self.busy} programs are running, {self.waiting} are waiting; try again later", self._retry_after_s())
        await self._wait()
        acquired_at = asyncio.get_running_loop().time()
        self._metrics.record_queue_wait(acquired_at - now)
        return acquired_at

    def enter_if_free(self) -> float | None:
        """Return the time at which a slot was acquired, or None if none is free."""
        return asyncio.get_running_loop().time() if self._slots.acquire() else None

    def leave(self, entered: float) -> None:
        """Release a slot. `entered` is what `enter` returned."""
        held_s = asyncio.get_running_loop().time() - entered
        self._held_s += (held_s - self._held_s) * _NEWEST_SHARE
        self._slots.release()

    async def _wait(self) -> None:
        waiter = self._slots.wait()
        try:
            async with asyncio.timeout(self._wait_s):
                await waiter
        except BaseException as error:
            self._slots.abandon(waiter)
            if isinstance(error, TimeoutError):
                self._metrics.record_rejection("waited_too_long")
                raise TooMany(f"no slot became free within {self._wait_s:g} s; try again later", self._retry_after_s()) from None
            raise

    def _retry_after_s(self) -> float:
        """Estimate when the current queue will have been served."""
        expected_s = self._held_s * (self.waiting + 1) / self._places
        return min(max(expected_s, _MIN_RETRY_S), _MAX_RETRY_S)
