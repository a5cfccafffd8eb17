"""Retries of judging steps that fail through the platform's fault."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sandbox_runtime.errors import PlatformFault, TooMany, Unavailable
from sandbox_runtime.retry import Backoff, retry

OUR_FAULTS = (PlatformFault, Unavailable, TooMany)
_MAX_WAIT_S = 10.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempts:
    most: int = 5
    """Attempts in all, the first included."""
    first_wait_s: float = 0.1
    """Wait before the second attempt; each further wait is twice as long, up to ten seconds."""

    async def make(self, once: Callable[[], Awaitable[T]], again: Callable[[Exception], None]) -> T:
        """Return the first result that is no platform fault, or raise the last fault. `again` sees retried faults."""

        async def before_retry(number: int, fault: Exception | None) -> None:
            assert fault is not None
            again(fault)

        backoff = Backoff(self.most - 1, self.first_wait_s, max_s=_MAX_WAIT_S)
        return await retry(once, backoff, retry_error=lambda error: isinstance(error, OUR_FAULTS), before_retry=before_retry)
