"""Kernels started ahead of time.

Theory of operation. Nothing is started until the first notebook comes: a deployment that never sees one pays nothing. From then
on the shelf keeps `size` kernels up, until no notebook has come for a while. Each is started by a task of its own, owned by the
shelf, as soon as one is missing; who comes while the shelf is empty waits for one of those, because it has a head start, and
only when all of them are spoken for starts one. A regular look drops kernels that died or became too old while they waited. When
kernels cannot be started, nothing is tried again until the next notebook, whose own attempt tells its caller why.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

from sandbox_runtime.engine.notebook.kernel import DidNotStart, LiveKernel
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.telemetry import Log

UNUSED_AFTER_S = 600.0
LOOK_EVERY_S = 30.0
_STOP_WITHIN_S = 30.0

Start = Callable[[], Awaitable[LiveKernel]]
End = Callable[[LiveKernel], Awaitable[None]]


class KernelShelf:
    def __init__(self, size: int, start: Start, end: End, log: Log) -> None:
        self._size = size
        self._start = start
        self._end = end
        self._log = log
        self._idle: deque[LiveKernel] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._waiting: deque[asyncio.Future[LiveKernel | None]] = deque()
        self._used_s = -UNUSED_AFTER_S
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._size:
            self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._size = 0
        tasks = [*self._starting, *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_WITHIN_S)
        await self._drop(list(self._idle))

    @property
    def idle(self) -> int:
        return len(self._idle)

    async def take(self) -> LiveKernel | None:
        """One that is up, or None: then it is for the caller to start one. The caller owes used() when done with it."""
        self._used_s = time.monotonic()
        while self._idle:
            kernel = self._idle.popleft()
            if kernel.alive and not kernel.stale:
                return kernel
            await self._end(kernel)
        if len(self._waiting) < len(self._starting):
            return await self._next_started()
        return None

    def used(self) -> None:
        """To start another any earlier would only slow the notebook that has just begun."""
        self._used_s = time.monotonic()
        while len(self._idle) + len(self._starting) < self._size:
            task = asyncio.create_task(self._add())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _next_started(self) -> LiveKernel | None:
        turn: asyncio.Future[LiveKernel | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and (kernel := turn.result()) is not None:
                self._hand_out(kernel)
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(turn)

    async def _add(self) -> None:
        """Whoever waits for it is let go in any case."""
        kernel = None
        try:
            kernel = await self._start()
        except (SandboxError, DidNotStart) as error:
            self._log.warning("no kernel can be started ahead of time", reason=str(error))
        except Exception:
            self._log.exception("starting a kernel ahead of time failed in an unforeseen way")
        finally:
            self._hand_out(kernel)

    def _hand_out(self, kernel: LiveKernel | None) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(kernel)
                return
        if kernel is not None:
            self._idle.append(kernel)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            unused = time.monotonic() - self._used_s > UNUSED_AFTER_S
            await self._drop([kernel for kernel in self._idle if unused or not kernel.alive or kernel.stale])

    async def _drop(self, kernels: list[LiveKernel]) -> None:
        for kernel in kernels:
            if kernel in self._idle:
                self._idle.remove(kernel)
                await self._end(kernel)
