"""Token buckets, with a clock of the test."""

from __future__ import annotations

import pytest

from sandbox_runtime.rate_limit import KeyedRateLimiter, TokenBucket


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_evenly() -> None:
    clock = Clock()
    limiter = KeyedRateLimiter(60, clock)
    assert all(limiter.take("k") == 0 for _ in range(60))
    assert 0 < limiter.take("k") <= 1
    clock.now += 1
    assert limiter.take("k") == 0 and limiter.take("k") > 0
    clock.now += 3600
    assert all(limiter.take("k") == 0 for _ in range(60)) and limiter.take("k") > 0


def test_keys_have_buckets_of_their_own() -> None:
    limiter = KeyedRateLimiter(1, Clock())
    assert limiter.take("a") == 0 and limiter.take("b") == 0 and limiter.take("a") > 0


def test_a_key_s_own_rate_goes_before_everybody_s() -> None:
    limiter = KeyedRateLimiter(1, Clock())
    assert [limiter.take("a", 2) == 0 for _ in range(3)] == [True, True, False]


def test_without_a_rate_there_is_no_end() -> None:
    limiter = KeyedRateLimiter(0, Clock())
    assert all(limiter.take("a") == 0 for _ in range(1000))


@pytest.mark.requirement("mcp-3.16")
def test_a_burst_passes_and_then_the_rate() -> None:
    clock = Clock()
    bucket = TokenBucket(100, 200, clock)
    assert sum(bucket.take() == 0 for _ in range(201)) == 200
    clock.now += 0.5
    assert sum(bucket.take() == 0 for _ in range(100)) == 50


def test_the_least_recently_used_key_starts_anew() -> None:
    limiter = KeyedRateLimiter(1, Clock(), max_keys=1)
    assert limiter.take("a") == 0 and limiter.take("b") == 0 and limiter.take("a") == 0
