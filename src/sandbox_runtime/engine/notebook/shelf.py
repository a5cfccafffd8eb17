"""Kernels started ahead of time.

Theory of operation. Nothing is started until the first notebook comes: a deployment that never sees one pays nothing. From then on
one task, owned by the shelf, keeps `size` kernels up, until no notebook has come for a while. It sleeps until a notebook has been
served (to start one earlier would only slow that notebook) or the last kernel was taken. A kernel that died or became too old
while it waited is replaced. While kernels cannot be started, the task backs off; who asks meanwhile is told by their own attempt.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

from sandbox_runtime.engine.notebook.kernel import LiveKernel
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.telemetry import Log

UNUSED_AFTER_S = 600.0
LOOK_EVERY_S = 30.0
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
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
        self._wake = asyncio.Event()
        self._used_s = -UNUSED_AFTER_S
        self._keeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._size:
            self._keeper = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait((self._keeper,), timeout=_STOP_WITHIN_S)
        while self._idle:
            await self._end(self._idle.popleft())

    @property
    def idle(self) -> int:
        return len(self._idle)

    def take(self) -> LiveKernel | None:
        """One that is up, or None: then the caller starts one. The caller owes used() when done."""
        found = next((kernel for kernel in self._idle if kernel.alive and not kernel.stale), None)
        if found is not None:
            self._idle.remove(found)
        if not self._idle:
            self.used()
        return found

    def used(self) -> None:
        self._used_s = time.monotonic()
        self._wake.set()

    async def _keep(self) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S if self._idle else None):
                    await self._wake.wait()
            self._wake.clear()
            await self._drop_useless()
            try:
                await self._fill()
                backoff_s = _FIRST_BACKOFF_S
            except SandboxError as error:
                self._log.warning("no kernel can be started ahead of time", reason=str(error))
                await asyncio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, _LONGEST_BACKOFF_S)
            except Exception:
                self._log.exception("starting a kernel ahead of time failed in an unforeseen way")
                await asyncio.sleep(_LONGEST_BACKOFF_S)

    async def _fill(self) -> None:
        while self._in_use and len(self._idle) < self._size:
            self._idle.append(await self._start())

    async def _drop_useless(self) -> None:
        useless = [kernel for kernel in self._idle if not self._in_use or not kernel.alive or kernel.stale]
        for kernel in useless:
            self._idle.remove(kernel)
            await self._end(kernel)

    @property
    def _in_use(self) -> bool:
        return time.monotonic() - self._used_s < UNUSED_AFTER_S
