"""Breakers, waits that grow, and what several checks say together."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import Conflict, PlatformFault, TooMany
from sandbox_runtime.model.health import Check, CheckKind, Health, HealthStatus
from sandbox_runtime.sessions.maintenance.breaker import TRY_WITHIN_S, Breaker, BreakerState
from sandbox_runtime.sessions.retrying import Backoff, tried_again


def test_the_status_of_all_checks_is_that_of_the_worst() -> None:
    good = Check(CheckKind.liveness, HealthStatus.healthy)
    bad = Check(CheckKind.resource, HealthStatus.unhealthy, "full")
    assert Health("s", 0, (good, bad, good)).worst == bad
    assert Health("s", 0, ()).status is HealthStatus.unknown


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.requirement("sandboxes-7.06")
def test_a_breaker_opens_after_failures_in_a_row_lets_one_try_and_closes_when_that_went_well() -> None:
    clock = Clock()
    breaker = Breaker("it", failures=2, open_s=10, clock=clock)
    breaker.check()
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.state is BreakerState.closed
    breaker.failed()
    assert breaker.state is BreakerState.open
    with pytest.raises(TooMany) as refused:
        breaker.check()
    assert refused.value.retry_after_s == 10
    clock.now = 10
    assert breaker.state is BreakerState.half_open
    breaker.check()
    with pytest.raises(TooMany):
        breaker.check()  # one tries already
    breaker.failed()
    assert breaker.state is BreakerState.open
    clock.now = 20
    breaker.check()
    clock.now += TRY_WITHIN_S
    breaker.check()  # the one before was not heard of again
    breaker.succeeded()
    assert breaker.state is BreakerState.closed


@pytest.mark.requirement("sandboxes-7.06")
async def test_what_failed_is_tried_again_after_waits_that_grow_and_within_a_time() -> None:
    waits: list[float] = []
    tries = 0

    async def work() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise PlatformFault("not yet")
        return "done"

    async def pause(delay_s: float) -> None:
        waits.append(delay_s)

    backoff = Backoff(retries=3, first_s=1, factor=2, longest_s=3, jitter=0)
    assert await tried_again(work, backoff, (PlatformFault,), 60, pause) == "done" and waits == [1, 2]
    assert list(backoff.delays_s()) == [1, 2, 3]
    assert list(Backoff(retries=1, first_s=1, jitter=0.5).delays_s(lambda: 1.0)) == [0.5]
    tries = 0
    with pytest.raises(PlatformFault):
        await tried_again(work, backoff, (PlatformFault,), 0.5, pause)
    assert tries == 1, "the next attempt would have begun after the time was over"

    async def refused() -> str:
        raise Conflict("no")

    with pytest.raises(Conflict):
        await tried_again(refused, backoff, (PlatformFault,), 60, pause)
