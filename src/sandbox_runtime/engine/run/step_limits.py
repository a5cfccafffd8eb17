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
        self._lines: dict[tuple[str, str], Admission] = {}

    @asynccontextmanager
    async def turn(self, language: str, step: str, together: int) -> AsyncIterator[None]:
        """Raises TooMany where it takes too long to come."""
        line = self._lines.get((language, step))
        if line is None:
            line = self._lines[language, step] = Admission(together, self._queue_size, self._wait_s, self._metrics)
        entered = await line.enter()
        try:
            yield
        finally:
            line.leave(entered)
