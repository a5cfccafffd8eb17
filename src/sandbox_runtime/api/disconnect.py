"""Whether the caller is still there: nobody waits for the run of a client that hung up.

Asking costs a task of its own, and most runs are over before anyone could have lost patience. So a run begins with a timer alone;
only what is still under way when it fires is watched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

WATCH_AFTER_S = 0.05

Result = TypeVar("Result")


async def while_present(request: Request, work: Awaitable[Result]) -> Result:
    """What the work returns. It is cancelled when the client hangs up; then ClientDisconnect is raised, which the gate knows.
    The body of the request must have been read before."""
    task = asyncio.current_task()
    assert task is not None
    watch = _Watch(request.receive, task)
    timer = asyncio.get_running_loop().call_later(WATCH_AFTER_S, watch.begin)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.gone and task.uncancel() == 0:
            raise ClientDisconnect from None
        raise
    finally:
        timer.cancel()
        watch.end()


class _Watch:
    def __init__(self, receive: Receive, task: asyncio.Task[object]) -> None:
        self._receive = receive
        self._task = task
        self._watching: asyncio.Task[None] | None = None
        self.gone = False

    def begin(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._until_gone())

    def end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self._task.cancel()
