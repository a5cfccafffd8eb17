"""Faults of ours are tried again, with waits that grow and are never the same for two who failed together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sandbox_runtime.errors import PlatformFault, SandboxError, TooMany, Unavailable

OUR_FAULTS = (PlatformFault, Unavailable, TooMany)
_LONGEST_WAIT_S = 10.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempts:
    """most: how often something is tried, the first time included. first_wait_s: before the second; each further wait is twice as
    long, to at most ten seconds."""

    most: int = 5
    first_wait_s: float = 0.1

    async def make(self, once: Callable[[], Awaitable[T]], again: Callable[[SandboxError], None]) -> T:
        """What came of the first attempt that was no fault of ours; the last attempt's fault is raised. again: told of each fault
        that is followed by another attempt."""
        for number in range(1, self.most):
            try:
                return await once()
            except OUR_FAULTS as fault:
                again(fault)
                await asyncio.sleep(self._wait_s(number, fault))
        return await once()

    def _wait_s(self, number: int, fault: SandboxError) -> float:
        grown_s: float = min(self.first_wait_s * 2 ** (number - 1), _LONGEST_WAIT_S)
        least_s = min(fault.retry_after_s, _LONGEST_WAIT_S) if isinstance(fault, TooMany) else 0.0
        return max(grown_s, least_s) * random.uniform(0.5, 1.5)
