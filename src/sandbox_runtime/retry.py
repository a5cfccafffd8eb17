"""Retry with exponential backoff and jitter. The only retry loop of the server; the client in sdk/ has its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sandbox_runtime.errors import TooMany

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
BeforeRetry = Callable[[int, Exception | None], Awaitable[None]]
"""Called with the number of the retry, from 1, and the error of the attempt before it."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often a call is retried and how long to wait before each retry."""

    retries: int = 3
    """Attempts after the first."""
    first_s: float = 0.5
    factor: float = 2.0
    max_s: float = 30.0
    jitter: float = 0.5
    """Share of each wait that is random, so that callers that failed together do not retry together."""

    def delays_s(self, chance: Callable[[], float] = random.random) -> Iterator[float]:
        for attempt in range(self.retries):
            whole = min(self.max_s, self.first_s * self.factor**attempt)
            yield whole * (1 - self.jitter * chance())


async def retry(
    call: Callable[[], Awaitable[T]],
    backoff: Backoff,
    *,
    retry_error: Callable[[Exception], bool] = lambda error: False,
    retry_result: Callable[[T], bool] = lambda result: False,
    before_retry: BeforeRetry | None = None,
    budget_s: float = float("inf"),
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Call until it returns a result or raises an error that is not to be retried; the last attempt decides.

    - retry_error, retry_result: whether this error or result deserves another attempt.
    - budget_s: no retry starts after this time.

    TooMany is retried no sooner than it asks for, up to `backoff.max_s`.
    """
    ends_at = asyncio.get_running_loop().time() + budget_s
    for number, delay_s in enumerate(backoff.delays_s(), start=1):
        failure: Exception | None = None
        try:
            result = await call()
            if not retry_result(result):
                return result
        except Exception as error:
            delay_s = _delay_s(error, delay_s, backoff)
            if not retry_error(error) or asyncio.get_running_loop().time() + delay_s >= ends_at:
                raise
            failure = error
        if before_retry is not None:
            await before_retry(number, failure)
        await sleep(delay_s)
    return await call()


def _delay_s(error: Exception, delay_s: float, backoff: Backoff) -> float:
    return max(delay_s, min(error.retry_after_s, backoff.max_s)) if isinstance(error, TooMany) else delay_s
