"""Token buckets: how many requests may pass, one after another and in bursts. In memory, for this process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

Clock = Callable[[], float]


class TokenBucket:
    """Holds up to `burst` tokens and refills at `per_s`. Starts full."""

    __slots__ = ("_at_s", "_burst", "_clock", "_per_s", "_tokens")

    def __init__(self, per_s: float, burst: float, clock: Clock = time.monotonic) -> None:
        self._per_s, self._burst, self._clock = per_s, burst, clock
        self._tokens = burst
        self._at_s = clock()

    def take(self) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now_s = self._clock()
        self._tokens = min(self._burst, self._tokens + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if self._tokens < 1:
            return (1 - self._tokens) / self._per_s
        self._tokens -= 1
        return 0.0


class KeyedRateLimiter:
    """One bucket for each key, the least recently used ones dropped beyond `max_keys`. A dropped bucket starts full again."""

    def __init__(self, per_minute: int, clock: Clock = time.monotonic, max_keys: int = 10_000) -> None:
        self._per_minute = per_minute
        self._max_keys = max_keys
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, int], TokenBucket] = OrderedDict()

    def take(self, key: str, per_minute: int | None = None) -> float:
        """Take a token of this key and return 0, or return the seconds until there is one.

        per_minute: the rate of this key, if it has its own; 0 is unlimited.
        """
        rate = self._per_minute if per_minute is None else per_minute
        if not rate:
            return 0.0
        bucket = self._buckets.pop((key, rate), None) or TokenBucket(rate / 60, float(rate), self._clock)
        self._buckets[key, rate] = bucket
        while len(self._buckets) > self._max_keys:
            self._buckets.popitem(last=False)
        return bucket.take()
