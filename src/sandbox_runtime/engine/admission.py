"""Who may run now, who waits, and who is told to come back later.

A fixed number of places, and a queue in front of them that is bounded in length and in time. A place that becomes free is
handed to the longest waiting, so nobody overtakes and nobody starves.
"""

from __future__ import annotations

import asyncio
from collections import deque

from sandbox_runtime.errors import TooMany
from sandbox_runtime.telemetry import Metrics

_SHORTEST_RETRY_S, _LONGEST_RETRY_S = 1.0, 60.0
_NEWEST_SHARE = 0.1
"""How much the latest run counts in the running average of how long a place is held."""


class Admission:
    def __init__(self, places: int, queue_size: int, wait_s: float, metrics: Metrics) -> None:
        self._places = places
        self._queue_size = queue_size
        self._wait_s = wait_s
        self._metrics = metrics
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held_s = 0.0
        self.busy = 0

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def enter(self) -> float:
        """Returns when there is a place, with the moment it was given; raises TooMany instead of waiting too long."""
        now = asyncio.get_running_loop().time()
        if self.busy < self._places:
            self.busy += 1
            self._metrics.waited(0.0)
            return now
        if len(self._waiting) >= self._queue_size:
            self._metrics.rejected("queue_full")
            raise TooMany(f"{self.busy} programs are running and {self.waiting} wait; try again later", self._retry_after_s())
        await self._wait_in_line()
        given = asyncio.get_running_loop().time()
        self._metrics.waited(given - now)
        return given

    def enter_if_free(self) -> float | None:
        """The moment in which a place was given, or None where there is none that nobody waits for."""
        if self.busy >= self._places or self._waiting:
            return None
        self.busy += 1
        return asyncio.get_running_loop().time()

    def leave(self, entered: float) -> None:
        """entered is what enter returned."""
        held_s = asyncio.get_running_loop().time() - entered
        self._held_s += (held_s - self._held_s) * _NEWEST_SHARE
        self._hand_on()

    def _hand_on(self) -> None:
        """A place goes to the longest waiting without becoming free in between."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.busy -= 1

    async def _wait_in_line(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._wait_s):
                await turn
        except BaseException as error:
            self._give_up(turn)
            if isinstance(error, TimeoutError):
                self._metrics.rejected("waited_too_long")
                raise TooMany(f"no place became free within {self._wait_s:g} s; try again later", self._retry_after_s()) from None
            raise

    def _give_up(self, turn: asyncio.Future[None]) -> None:
        """The place may have been handed over in the very moment in which the wait ended: then it goes to the next."""
        if turn.done() and not turn.cancelled():
            self._hand_on()
        elif turn in self._waiting:
            self._waiting.remove(turn)

    def _retry_after_s(self) -> float:
        """When the queue as it stands will have been served."""
        expected_s = self._held_s * (self.waiting + 1) / self._places
        return min(max(expected_s, _SHORTEST_RETRY_S), _LONGEST_RETRY_S)
