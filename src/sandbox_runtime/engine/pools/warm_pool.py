"""What takes long to start, such as kernels of notebooks, started ahead of time.

Theory of operation. Nothing is started until the first one is asked for: a deployment that never needs any pays nothing. From
then on the shelf keeps `size` of them up, until none has been asked for in a while. Each is started by a task of its own, owned
by the shelf, as soon as one is missing; who comes while the shelf is empty waits for one of those, because it has a head start,
and only when all of them are spoken for is told to start one. A regular look drops those that died or became too old while they
waited. When none can be started, nothing is tried again until the next one is asked for, whose own attempt tells why.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, Self, TypeVar

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.telemetry import Log

IDLE_AFTER_S = 600.0
CHECK_INTERVAL_S = 30.0
_STOP_WITHIN_S = 30.0


class Poolable(Protocol):
    """stale: it has waited too long to be of use."""

    @property
    def alive(self) -> bool: ...

    @property
    def stale(self) -> bool: ...


Item = TypeVar("Item", bound=Poolable)


class CannotStart(Exception):
    """For starters to raise beside the errors of the platform: nothing can be started, and that is nobody's fault."""


class WarmPool(Generic[Item]):
    """what: its name in the log."""

    def __init__(
        self, what: str, size: int, start: Callable[[], Awaitable[Item]], end: Callable[[Item], Awaitable[None]], log: Log
    ) -> None:
        self._name = what
        self._size = size
        self._start = start
        self._end = end
        self._log = log
        self._idle: deque[Item] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._waiting: deque[asyncio.Future[Item | None]] = deque()
        self._used_s = -IDLE_AFTER_S
        self._check_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._size:
            self._check_task = asyncio.create_task(self._check())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._size = 0
        tasks = [*self._starting, *([self._check_task] if self._check_task else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_WITHIN_S)
        await self._drop(list(self._idle))

    @property
    def idle(self) -> int:
        return len(self._idle)

    async def take(self) -> Item | None:
        """One that is up, or None: then it is for the caller to start one. The caller owes used() when done with it."""
        self._used_s = time.monotonic()
        while self._idle:
            item = self._idle.popleft()
            if item.alive and not item.stale:
                return item
            await self._end(item)
        if len(self._waiting) < len(self._starting):
            return await self._next_started()
        return None

    def refill(self) -> None:
        """To start another any earlier would only slow what has just begun."""
        self._used_s = time.monotonic()
        while len(self._idle) + len(self._starting) < self._size:
            task = asyncio.create_task(self._add())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _next_started(self) -> Item | None:
        waiter: asyncio.Future[Item | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and (item := waiter.result()) is not None:
                self._hand_out(item)
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(waiter)

    async def _add(self) -> None:
        """Whoever waits for it is let go in any case."""
        item = None
        try:
            item = await self._start()
        except (SandboxError, CannotStart) as error:
            self._log.warning("nothing can be started ahead of time", what=self._name, reason=str(error))
        except Exception:
            self._log.exception("starting ahead of time failed in an unforeseen way", what=self._name)
        finally:
            self._hand_out(item)

    def _hand_out(self, item: Item | None) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(item)
                return
        if item is not None:
            self._idle.append(item)

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            unused = time.monotonic() - self._used_s > IDLE_AFTER_S
            await self._drop([item for item in self._idle if unused or not item.alive or item.stale])

    async def _drop(self, items: list[Item]) -> None:
        for item in items:
            if item in self._idle:
                self._idle.remove(item)
                await self._end(item)
