"""Event loop lag: what holds the loop up shows in the metrics."""

from __future__ import annotations

import asyncio
import time

from sandbox_runtime.telemetry import Metrics, measure_loop_lag
from sandbox_runtime.telemetry.loop_lag import WINDOW_S, LoopLag


async def test_a_callback_that_holds_the_loop_is_seen() -> None:
    metrics = Metrics()
    async with asyncio.timeout(30), measure_loop_lag(metrics) as lag:
        await asyncio.sleep(0)
        time.sleep(0.5)
        while not lag.max_s:
            await asyncio.sleep(0.01)
        assert lag.max_s > 0.3
    assert 'sandbox_loop_lag_seconds_bucket{le="0.25"} 0.0' in metrics.exposition().decode()


def test_the_greatest_lag_is_that_of_the_last_minute() -> None:
    lag, now = LoopLag(Metrics()), time.monotonic()
    lag.add(3.0, now - WINDOW_S - 1)
    lag.add(0.5, now - 1)
    lag.add(0.1, now)
    assert lag.max_s == 0.5


def test_all_three_forms_are_exposed() -> None:
    metrics = Metrics()
    LoopLag(metrics).add(0.2, time.monotonic())
    text = metrics.exposition().decode()
    assert "sandbox_loop_lag_last_seconds 0.2" in text and "sandbox_loop_lag_max_seconds 0.2" in text
    assert "sandbox_loop_lag_seconds_count 1.0" in text
