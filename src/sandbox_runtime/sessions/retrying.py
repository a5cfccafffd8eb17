"""How often something that failed is tried again, and how long is waited before: longer each time, and never all at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sandbox_runtime.errors import SandboxError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Backoff:
    """retries: beside the first attempt. jitter: the share of each wait that is left to chance, so that those who failed together
    do not come back together."""

    retries: int = 3
    first_s: float = 0.5
    factor: float = 2.0
    longest_s: float = 30.0
    jitter: float = 0.5

    def delays_s(self, chance: Callable[[], float] = random.random) -> Iterator[float]:
        for attempt in range(self.retries):
            whole = min(self.longest_s, self.first_s * self.factor**attempt)
            yield whole * (1 - self.jitter * chance())


async def tried_again(
    work: Callable[[], Awaitable[Result]],
    backoff: Backoff,
    transient: tuple[type[SandboxError], ...],
    budget_s: float,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Result:
    """What the work returns. An error that is not transient, the last one, and one after which the time would be over before the
    next attempt, are raised as they are."""
    ends_at = asyncio.get_running_loop().time() + budget_s
    for delay_s in backoff.delays_s():
        try:
            return await work()
        except transient:
            if asyncio.get_running_loop().time() + delay_s >= ends_at:
                raise
        await pause(delay_s)
    return await work()
