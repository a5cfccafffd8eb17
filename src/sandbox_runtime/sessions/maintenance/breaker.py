"""A circuit breaker: a call that failed repeatedly is refused for a while, so that nobody waits for what will fail.

    closed ──failures in a row──▶ open ──open_s──▶ half open ──success──▶ closed
                                   ▲                   │
                                   └──────failure──────┘

When it is half open, one caller at a time may try; the others are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

from sandbox_runtime.errors import TooMany

TRY_WITHIN_S = 60.0
"""A caller that may try and reports nothing within this time loses its turn."""


class BreakerState(StrEnum):
    closed = "closed"
    open = "open"
    half_open = "half_open"


class Breaker:
    def __init__(
        self, subject: str, failures: int = 5, open_s: float = 15.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._subject = subject
        self._max_failures = failures
        self._open_s = open_s
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._trying_open_until = 0.0

    @property
    def state(self) -> BreakerState:
        if self._failures < self._max_failures:
            return BreakerState.closed
        return BreakerState.open if self._clock() < self._open_until else BreakerState.half_open

    def check(self) -> None:
        """Raise TooMany if the call must not be tried now. Otherwise call one of the record methods or `release` afterwards."""
        state, now = self.state, self._clock()
        if state is BreakerState.closed:
            return
        wait_s = self._open_until - now if state is BreakerState.open else self._trying_open_until - now
        if wait_s > 0:
            message = f"{self._subject} failed {self._failures} times in a row and is suspended for a while; try again later"
            raise TooMany(message, max(1.0, wait_s if state is BreakerState.open else 1.0))
        self._trying_open_until = now + TRY_WITHIN_S

    def release(self) -> None:
        """Report a call that neither succeeded nor failed: another may try."""
        self._trying_open_until = 0.0

    def record_success(self) -> None:
        self._failures = 0
        self._trying_open_until = 0.0

    def record_failure(self) -> None:
        self._failures += 1
        self._trying_open_until = 0.0
        if self._failures >= self._max_failures:
            self._open_until = self._clock() + self._open_s
