"""Mount namespaces of boxes that are gone.

Whoever lets go of a mount namespace last waits in the kernel until everything that was mounted there is gone: a millisecond or
more, and longer on a busy machine. That must not be the program, whose end would be told so much later, nor the event loop.
So the server holds each until its box is closed, and a thread lets go of it, together with those that came up meanwhile.
"""

from __future__ import annotations

import asyncio
import os


class Lingering:
    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._next: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    async def close(self, descriptor: int) -> None:
        """Returns when it is closed. A caller that is cancelled leaves it to be closed all the same."""
        self._waiting.append(descriptor)
        if self._next is None:
            self._next = asyncio.create_task(self._close_waiting())
        await asyncio.shield(self._next)

    async def _close_waiting(self) -> None:
        """One thread at a time: who comes while it is busy is taken along by the next one."""
        async with self._turn:
            waiting, self._waiting, self._next = self._waiting, [], None
            await asyncio.to_thread(_close_all, waiting)


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
