"""A fixed number of slots with a bounded first-in, first-out queue in front of them."""

from __future__ import annotations

import asyncio
from collections import deque

Turn = asyncio.Future[None]


class FifoSlots:
    """A released slot goes to the longest waiting without becoming free in between, so nobody overtakes."""

    def __init__(self, slots: int, max_waiting: int) -> None:
        self._slots = slots
        self._max_waiting = max_waiting
        self._waiting: deque[Turn] = deque()
        self.busy = 0

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def free(self) -> bool:
        return self.busy < self._slots

    @property
    def full(self) -> bool:
        """Whether the next caller finds neither a slot nor room in the queue."""
        return not self.free and self.waiting >= self._max_waiting

    def acquire(self) -> bool:
        """Take a free slot, or return False."""
        if self.busy >= self._slots:
            return False
        self.busy += 1
        return True

    def wait(self) -> Turn:
        """Join the queue. The future is done when the slot is the caller's. The caller checks `full` first."""
        turn: Turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        return turn

    def release(self) -> None:
        """Hand a slot to the longest waiting, or free it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.busy -= 1

    def abandon(self, turn: Turn) -> None:
        """Leave the queue; release the slot if it was handed over in the meantime."""
        if turn in self._waiting:
            self._waiting.remove(turn)
        elif turn.done() and not turn.cancelled():
            self.release()
