"""Event loop lag: how late the loop runs a timer. Every client waits that long, whoever it is that holds the loop up."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client import Histogram

from sandbox_runtime.telemetry.metrics import SECONDS, Metrics

INTERVAL_S = 0.1
WINDOW_S = 60.0


class LoopLag:
    """Lag samples of one event loop: a histogram since the start, and the greatest of the last minute."""

    def __init__(self, metrics: Metrics) -> None:
        self._histogram = Histogram(
            "sandbox_loop_lag_seconds", "How late the event loop ran a timer", buckets=SECONDS, registry=metrics.registry
        )
        self._recent: deque[tuple[float, float]] = deque()
        self._last = 0.0
        metrics.add_gauge("sandbox_loop_lag_last_seconds", "Lag of the event loop in the latest sample", lambda: self._last)
        metrics.add_gauge("sandbox_loop_lag_max_seconds", "Greatest lag of the event loop in the last minute", lambda: self.max_s)

    @property
    def max_s(self) -> float:
        """The greatest lag of the last minute."""
        self._drop_old(time.monotonic())
        return self._recent[0][1] if self._recent else 0.0

    def add(self, lag_s: float, now_s: float) -> None:
        """Take a sample. Of the recent ones only those are kept that are greater than all after them."""
        self._last = lag_s
        self._histogram.observe(lag_s)
        while self._recent and self._recent[-1][1] <= lag_s:
            self._recent.pop()
        self._recent.append((now_s, lag_s))
        self._drop_old(now_s)

    async def measure(self) -> None:
        """Sample until cancelled."""
        while True:
            began_s = time.monotonic()
            await asyncio.sleep(INTERVAL_S)
            now_s = time.monotonic()
            self.add(max(0.0, now_s - began_s - INTERVAL_S), now_s)

    def _drop_old(self, now_s: float) -> None:
        while self._recent and self._recent[0][0] < now_s - WINDOW_S:
            self._recent.popleft()


@asynccontextmanager
async def measure_loop_lag(metrics: Metrics) -> AsyncIterator[LoopLag]:
    """Measure the running loop for the time of the block."""
    lag = LoopLag(metrics)
    task = asyncio.create_task(lag.measure())
    try:
        yield lag
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
