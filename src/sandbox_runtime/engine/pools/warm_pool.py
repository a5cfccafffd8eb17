"""A pool of items that are opened before they are needed.

Theory of operation. The pool keeps idle items up to a target, which its owner computes. Each item is handed out once: pop() never
waits, take() waits for an item that is already being opened, because that one has a head start. refill() opens missing items: all
concurrently, or one after another until the target is reached. trim() closes items above the target or no longer usable. The
owner calls both when demand changes. After a failed opening the pool backs off; without `backoff_s` it opens nothing until the
next refill(), and the next caller's own attempt shows why.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from sandbox_runtime.engine.pools.background import BackgroundTasks, cancel_all, repeat

Item = TypeVar("Item")


class WarmPool(Generic[Item]):
    """Idle items of one kind.

    - open_item, close_item: open and close one.
    - target: how many should be idle now.
    - usable: whether an idle item can still be handed out.
    - on_failure: receives the error of a failed opening.
    - backoff_s: first and longest wait after a failed opening.
    - one_by_one: open items one after another, and continue until the target is reached.
    - trim_every_s: interval of automatic trims, from the first refill() on.
    """

    def __init__(
        self,
        open_item: Callable[[], Awaitable[Item]],
        close_item: Callable[[Item], Awaitable[None]],
        *,
        target: Callable[[], int],
        usable: Callable[[Item], bool],
        on_failure: Callable[[Exception], None],
        backoff_s: tuple[float, float] | None = None,
        one_by_one: bool = False,
        trim_every_s: float | None = None,
    ) -> None:
        self._open_item = open_item
        self._close_item = close_item
        self._target = target
        self._usable = usable
        self._on_failure = on_failure
        self._backoff_s = backoff_s
        self._one_by_one = one_by_one
        self._trim_every_s = trim_every_s
        self._trim_task: asyncio.Task[None] | None = None
        self.idle: deque[Item] = deque()
        self.failure: Exception | None = None
        """Error of the latest opening, if it failed."""
        self._wait_s = 0.0
        self._retry: asyncio.TimerHandle | None = None
        self._opening: set[asyncio.Task[None]] = set()
        self._waiters: deque[asyncio.Future[Item | None]] = deque()
        self._closing = BackgroundTasks("an item of a pool could not be closed")
        self._closed = False

    @property
    def size(self) -> int:
        """Idle items and those being opened."""
        return len(self.idle) + len(self._opening)

    def pop(self) -> Item | None:
        """Return a usable item, or None if none is idle."""
        while self.idle:
            item = self.idle.popleft()
            if self._usable(item):
                return item
            self.close_in_background(item)
        return None

    async def take(self) -> Item | None:
        """Return a usable item, or None if none is idle or about to be: the caller opens its own."""
        item = self.pop()
        if item is None and len(self._waiters) < len(self._opening):
            return await self._next_opened()
        return item

    def refill(self) -> None:
        """Open items up to the target."""
        if self._closed or self._retry is not None:
            return
        if self._trim_every_s is not None and self._trim_task is None:
            self._trim_task = asyncio.create_task(repeat(self._trim_every_s, self.trim))
        while not (self._one_by_one and self._opening) and self.size < self._target():
            task = asyncio.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._continue)

    def trim(self) -> None:
        """Close items that are above the target or no longer usable."""
        items, target = list(self.idle), self._target()
        self.idle.clear()
        for item in reversed(items):
            if len(self.idle) < target and self._usable(item):
                self.idle.appendleft(item)
            else:
                self.close_in_background(item)

    def drop(self) -> None:
        """Close all idle items."""
        while self.idle:
            self.close_in_background(self.idle.popleft())

    def close_in_background(self, item: Item) -> None:
        self._closing.start(self._close(item))

    async def close(self) -> None:
        """Idempotent. No task and no idle item remains."""
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
        await cancel_all([*self._opening, *([self._trim_task] if self._trim_task else [])])
        self.drop()
        await self._closing.wait()

    async def _open(self) -> None:
        """Open one item. A waiting caller is released in any case."""
        item = None
        try:
            item = await self._open_item()
            self.failure, self._wait_s = None, 0.0
        except Exception as error:
            self._fail(error)
        finally:
            self._hand_out(item)

    def _continue(self, task: asyncio.Task[None]) -> None:
        self._opening.discard(task)
        if self._one_by_one and self.failure is None:
            self.refill()

    def _fail(self, error: Exception) -> None:
        self._on_failure(error)
        self.failure = error
        if self._backoff_s is not None and self._retry is None:
            first_s, max_s = self._backoff_s
            self._wait_s = min(self._wait_s * 2, max_s) if self._wait_s else first_s
            self._retry = asyncio.get_running_loop().call_later(self._wait_s, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self.refill()

    def _hand_out(self, item: Item | None) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(item)
                return
        if item is not None:
            self.idle.append(item)

    async def _next_opened(self) -> Item | None:
        waiter: asyncio.Future[Item | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and (item := waiter.result()) is not None:
                self._hand_out(item)
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiters.remove(waiter)

    async def _close(self, item: Item) -> None:
        await self._close_item(item)
