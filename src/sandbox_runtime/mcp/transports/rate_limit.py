"""How many requests a second one server takes: a bucket that fills steadily and lets bursts through."""

from __future__ import annotations

import time
from collections.abc import Callable

PER_S, BURST = 100.0, 200.0


class Bucket:
    def __init__(self, per_s: float = PER_S, burst: float = BURST, now: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._burst, self._now = per_s, burst, now
        self._left = burst
        self._at_s = now()

    def take(self) -> bool:
        """Whether there is room for one more."""
        now_s = self._now()
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if self._left < 1:
            return False
        self._left -= 1
        return True
