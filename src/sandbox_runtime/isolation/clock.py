"""A clock per box that stops while the box is paused.

Time limits of commands use this clock, so that a pause costs a command no time. Timeouts for the platform's own work (opening
or closing a box) use the event loop's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Timer:
    def __init__(self, clock: Clock, due_s: float, action: Callable[[], object]) -> None:
        self._clock = clock
        self._action = action
        self._handle: asyncio.TimerHandle | None = None
        self.due_s = due_s

    def cancel(self) -> None:
        self.suspend()
        self._clock.forget(self)

    def suspend(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def schedule(self, in_s: float) -> None:
        self._handle = asyncio.get_running_loop().call_later(in_s, self._fire)

    def _fire(self) -> None:
        self._clock.forget(self)
        self._action()


class Clock:
    """Starts running. Pausing a paused clock has no effect."""

    def __init__(self) -> None:
        self._paused_s = 0.0
        self._paused_at_s: float | None = None
        self._timers: set[Timer] = set()

    def time(self) -> float:
        now_s = asyncio.get_running_loop().time() if self._paused_at_s is None else self._paused_at_s
        return now_s - self._paused_s

    def call_later(self, in_s: float, action: Callable[[], object]) -> Timer:
        timer = Timer(self, self.time() + in_s, action)
        self._timers.add(timer)
        if self._paused_at_s is None:
            timer.schedule(in_s)
        return timer

    @asynccontextmanager
    async def timeout(self, within_s: float) -> AsyncIterator[None]:
        """Like asyncio.timeout, by this clock."""
        async with asyncio.timeout(None) as bound:
            timer = self.call_later(within_s, lambda: bound.reschedule(0.0))
            try:
                yield
            finally:
                timer.cancel()

    def pause(self) -> None:
        if self._paused_at_s is None:
            self._paused_at_s = asyncio.get_running_loop().time()
            for timer in self._timers:
                timer.suspend()

    def resume(self) -> None:
        if self._paused_at_s is not None:
            self._paused_s += asyncio.get_running_loop().time() - self._paused_at_s
            self._paused_at_s = None
            for timer in self._timers:
                timer.schedule(max(0.0, timer.due_s - self.time()))

    def forget(self, timer: Timer) -> None:
        self._timers.discard(timer)
