"""How many requests a minute each key has left: a bucket that fills evenly. In memory, for this server alone."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MINUTE_S = 60.0
_MOST_BUCKETS = 10_000


class Pace:
    """per_minute: for keys that have no rate of their own; 0: as many as they like."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str, own_per_minute: int | None = None) -> float:
        """0 when the request may pass, which takes one from the bucket; otherwise how long until there is one again."""
        rate = self._per_minute if own_per_minute is None else own_per_minute
        if not rate:
            return 0.0
        now = self._clock()
        left, seen = self._buckets.pop(key, (float(rate), now))
        left = min(float(rate), left + (now - seen) * rate / _MINUTE_S)
        passes = left >= 1.0
        self._buckets[key] = (left - 1.0 if passes else left), now
        # A bucket that is forgotten is a full one: only as many as that many keys can use at once gain by it.
        while len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1.0 - left) * _MINUTE_S / rate
