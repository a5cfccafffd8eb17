"""Steps of which only so many may be taken at once over the whole server, such as those that need the one GPU."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.telemetry import Metrics


class StepLimits:
    """Whoever waits for a turn has a box and a place already, so waiting is bounded as it is for those."""

    def __init__(self, queue_size: int, wait_s: float, metrics: Metrics) -> None:
        self._queue_size = queue_size
        self._wait_s = wait_s
        self._metrics = metrics
        self._queues: dict[tuple[str, str], Admission] = {}

    @asynccontextmanager
    async def acquire(self, language: str, step: str, max_concurrent: int) -> AsyncIterator[None]:
        """Raises TooMany where it takes too long to come."""
        queue = self._queues.get((language, step))
        if queue is None:
            queue = self._queues[language, step] = Admission(max_concurrent, self._queue_size, self._wait_s, self._metrics)
        entered = await queue.enter()
        try:
            yield
        finally:
            queue.leave(entered)
