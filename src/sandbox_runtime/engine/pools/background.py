"""Tasks that an object owns: started in the background, waited for or cancelled when it closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

CLOSE_WITHIN_S = 30.0
"""How long a closing object waits for its tasks."""
_CANCEL_AGAIN_S = 0.5


class BackgroundTasks:
    """Reports a task that fails to the event loop, with `message`."""

    def __init__(self, message: str) -> None:
        self._message = message
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    async def wait(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_WITHIN_S)

    async def cancel(self) -> None:
        await cancel_all(self._tasks)

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler({"message": self._message, "exception": error})


async def cancel_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks until they end: one may take the cancellation for its own timeout and continue."""
    pending, deadline = set(tasks), asyncio.get_running_loop().time() + CLOSE_WITHIN_S
    while pending and asyncio.get_running_loop().time() < deadline:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_S)


async def repeat(interval_s: float, call: Callable[[], None]) -> None:
    """Call a function at regular intervals until cancelled."""
    while True:
        await asyncio.sleep(interval_s)
        call()
