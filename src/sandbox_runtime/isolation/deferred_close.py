"""Mount namespaces of boxes that are gone.

Whoever lets go of a mount namespace last waits in the kernel until everything that was mounted there is gone: a millisecond or
more, and longer on a busy machine. That must be neither the program, whose end would be told so much later, nor the event loop,
nor the caller. So the server holds on to each until its box is closed, and a thread lets go of it behind the caller's back.
Nothing can get into such a namespace any more: no process is left in it, and the descriptor is ours alone. What waits is bounded:
whoever closes a box while too many wait, waits for them.
"""

from __future__ import annotations

import asyncio
import os

MAX_WAITING = 32


class DeferredCloser:
    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._closing: asyncio.Task[None] | None = None

    async def close(self, descriptor: int) -> None:
        """Sees to it that it is closed, soon."""
        self._waiting.append(descriptor)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close_waiting())
        if len(self._waiting) > MAX_WAITING:
            await self.empty()

    async def empty(self) -> None:
        """Returns when all that came up to now are closed. A caller that is cancelled leaves them to be closed all the same."""
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def _close_waiting(self) -> None:
        """One thread at a time: those that come while it is busy are taken along by its next turn."""
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                await asyncio.to_thread(_close_all, waiting)
        finally:
            self._closing = None


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
