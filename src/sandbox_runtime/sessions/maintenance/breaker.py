"""A circuit breaker: what has failed many times in a row is not tried for a while, so that nobody waits for what will fail.

    closed ──failures in a row──▶ open ──open_s──▶ half open ──success──▶ closed
                                   ▲                   │
                                   └──────failure──────┘
Half open, one at a time may try; everybody else is told to come back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

from sandbox_runtime.errors import TooMany

TRY_WITHIN_S = 60.0
"""Whoever may try and is not heard of again has lost its turn after this time."""


class BreakerState(StrEnum):
    closed = "closed"
    open = "open"
    half_open = "half_open"


class Breaker:
    def __init__(self, what: str, failures: int = 5, open_s: float = 15.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._most = failures
        self._open_s = open_s
        self._clock = clock
        self._failures = 0
        self._until = 0.0
        self._trying_until = 0.0

    @property
    def state(self) -> BreakerState:
        if self._failures < self._most:
            return BreakerState.closed
        return BreakerState.open if self._clock() < self._until else BreakerState.half_open

    def check(self) -> None:
        """Raises TooMany where it must not be tried now. Whoever passes owes succeeded(), failed() or withdrawn()."""
        state, now = self.state, self._clock()
        if state is BreakerState.closed:
            return
        wait_s = self._until - now if state is BreakerState.open else self._trying_until - now
        if wait_s > 0:
            told = f"{self._what} failed {self._failures} times in a row and is not tried for a while; try again later"
            raise TooMany(told, max(1.0, wait_s if state is BreakerState.open else 1.0))
        self._trying_until = now + TRY_WITHIN_S

    def withdrawn(self) -> None:
        """It came to nothing for reasons of its own: another may try."""
        self._trying_until = 0.0

    def succeeded(self) -> None:
        self._failures = 0
        self._trying_until = 0.0

    def failed(self) -> None:
        self._failures += 1
        self._trying_until = 0.0
        if self._failures >= self._most:
            self._until = self._clock() + self._open_s
