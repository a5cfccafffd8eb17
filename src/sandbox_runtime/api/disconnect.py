"""Cancel work when the client disconnects.

Watching a connection takes a task, and most requests finish before a client could lose patience. So only a timer is started at
first; requests that are still running when it fires are watched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

WATCH_DELAY_S = 0.05

Result = TypeVar("Result")


async def cancel_on_disconnect(request: Request, work: Awaitable[Result]) -> Result:
    """Return the result of the work. If the client disconnects, cancel the work and raise ClientDisconnect.

    Read the request body first. The access middleware handles ClientDisconnect.
    """
    task = asyncio.current_task()
    assert task is not None
    watch = _DisconnectWatch(request.receive, task)
    timer = asyncio.get_running_loop().call_later(WATCH_DELAY_S, watch.start)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.disconnected and task.uncancel() == 0:
            raise ClientDisconnect from None
        raise
    finally:
        timer.cancel()
        watch.stop()


class _DisconnectWatch:
    def __init__(self, receive: Receive, task: asyncio.Task[object]) -> None:
        self._receive = receive
        self._task = task
        self._watcher: asyncio.Task[None] | None = None
        self.disconnected = False

    def start(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._wait())

    def stop(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.disconnected = True
        self._task.cancel()
