"""Limits on concurrent steps over the whole server, such as steps that need the only GPU."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.telemetry.metrics import Metrics


class StepLimits:
    """A waiting step already holds a box and a slot, so waiting is bounded as in the admission."""

    def __init__(self, queue_size: int, wait_s: float, metrics: Metrics) -> None:
        self._queue_size = queue_size
        self._wait_s = wait_s
        self._metrics = metrics
        self._queues: dict[tuple[str, str], Admission] = {}

    @asynccontextmanager
    async def acquire(self, language: str, step: str, max_concurrent: int) -> AsyncIterator[None]:
        """Hold one of `max_concurrent` turns for this step. Raises TooMany if none becomes free in time."""
        queue = self._queues.get((language, step))
        if queue is None:
            queue = self._queues[language, step] = Admission(max_concurrent, self._queue_size, self._wait_s, self._metrics)
        entered = await queue.enter()
        try:
            yield
        finally:
            queue.leave(entered)
