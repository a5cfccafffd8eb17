"""Close the mount namespaces of ended boxes in a background thread.

Whoever closes the last reference to a mount namespace waits in the kernel until everything mounted in it is gone: a millisecond
or more, longer on a busy machine. Neither the program (its end would be reported late), nor the event loop, nor the caller
should wait for that. So the server keeps a descriptor of each namespace until its box is closed, and a thread closes it. No
process is left in such a namespace and only the server holds a descriptor, so nothing can enter it. The backlog is bounded: a
caller that closes a box while too many wait, waits for them.
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
        """Schedule the descriptor to be closed soon."""
        self._waiting.append(descriptor)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close_waiting())
        if len(self._waiting) > MAX_WAITING:
            await self.empty()

    async def empty(self) -> None:
        """Wait until everything scheduled so far is closed. Cancelling the caller does not cancel the closing."""
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def _close_waiting(self) -> None:
        """Close in one thread at a time; descriptors that arrive meanwhile are closed in the next round."""
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                await asyncio.to_thread(_close_all, waiting)
        finally:
            self._closing = None


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
