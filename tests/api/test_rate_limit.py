"""So many requests a minute, without waiting for one."""

from __future__ import annotations

from sandbox_runtime.api.middleware.rate_limit import Pace


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_evenly() -> None:
    clock = Clock()
    pace = Pace(60, clock)
    assert all(pace.wait_s("k") == 0 for _ in range(60))
    assert 0 < pace.wait_s("k") <= 1
    clock.now += 1
    assert pace.wait_s("k") == 0 and pace.wait_s("k") > 0
    clock.now += 3600
    assert all(pace.wait_s("k") == 0 for _ in range(60)) and pace.wait_s("k") > 0


def test_keys_have_buckets_of_their_own() -> None:
    pace = Pace(1, Clock())
    assert pace.wait_s("a") == 0 and pace.wait_s("b") == 0 and pace.wait_s("a") > 0


def test_a_key_s_own_rate_goes_before_everybody_s() -> None:
    pace = Pace(1, Clock())
    assert [pace.wait_s("a", 2) == 0 for _ in range(3)] == [True, True, False]


def test_without_a_rate_there_is_no_end() -> None:
    pace = Pace(0, Clock())
    assert all(pace.wait_s("a") == 0 for _ in range(1000))
