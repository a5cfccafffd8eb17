"""Retries: which failures, how often, and how long between."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import Conflict, PlatformFault, TooMany
from sandbox_runtime.retry import Backoff, retry

BACKOFF = Backoff(retries=3, first_s=1, factor=2, max_s=3, jitter=0)


class Calls:
    """Raise or return each of these in turn, and note the waits between them."""

    def __init__(self, *outcomes: Exception | str) -> None:
        self._outcomes = list(outcomes)
        self.waits: list[float] = []
        self.retries: list[tuple[int, str]] = []

    async def __call__(self) -> str:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def sleep(self, delay_s: float) -> None:
        self.waits.append(delay_s)

    async def before_retry(self, number: int, error: Exception | None) -> None:
        self.retries.append((number, str(error)))

    @property
    def left(self) -> int:
        return len(self._outcomes)

    async def run(self, backoff: Backoff = BACKOFF, budget_s: float = 60) -> str:
        return await retry(
            self,
            backoff,
            retry_error=lambda error: isinstance(error, PlatformFault | TooMany),
            retry_result=lambda result: result == "again",
            before_retry=self.before_retry,
            budget_s=budget_s,
            sleep=self.sleep,
        )


@pytest.mark.requirement("sandboxes-7.06")
async def test_failures_are_retried_after_growing_waits() -> None:
    calls = Calls(PlatformFault("one"), PlatformFault("two"), "done")
    assert await calls.run() == "done"
    assert calls.waits == [1, 2] and calls.retries == [(1, "one"), (2, "two")]


async def test_a_result_may_be_retried_too() -> None:
    calls = Calls("again", "done")
    assert await calls.run() == "done" and calls.retries == [(1, "None")]


async def test_the_last_attempt_decides() -> None:
    calls = Calls(*(PlatformFault(str(number)) for number in range(4)))
    with pytest.raises(PlatformFault, match="3"):
        await calls.run()
    assert calls.waits == [1, 2, 3]
    assert await Calls("again", "again", "again", "again").run() == "again"


async def test_other_errors_are_raised_at_once() -> None:
    calls = Calls(Conflict("no"), "done")
    with pytest.raises(Conflict):
        await calls.run()
    assert calls.left == 1


async def test_no_retry_starts_after_the_budget() -> None:
    calls = Calls(PlatformFault("one"), "done")
    with pytest.raises(PlatformFault):
        await calls.run(budget_s=0.5)
    assert calls.left == 1


async def test_a_busy_server_is_retried_no_sooner_than_it_asks_for() -> None:
    calls = Calls(TooMany("busy", 2.5), TooMany("busy", 100), "done")
    assert await calls.run() == "done" and calls.waits == [2.5, 3]


def test_jitter_shortens_waits() -> None:
    assert list(Backoff(retries=1, first_s=1, jitter=0.5).delays_s(lambda: 1.0)) == [0.5]
