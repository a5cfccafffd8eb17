"""Boxes opened ahead of time.

Theory of operation. There is a shelf for each policy that is worth keeping boxes for. A shelf has a target: as many boxes as
commands ran at once lately, never fewer than its floor nor more than the pool's maximum; a shelf without a floor keeps one
more while it is in use, so that a run that comes alone does not share its cores with the opening of the next box. One task
for each shelf, owned by the pool, opens boxes up to the target and closes those above it; it sleeps until a box was used or
the last one is taken (while others wait, opening one would only slow the run that has just begun), or the regular tick lets
the remembered peak fade. take() never waits for that task: an empty shelf means opening a box on demand. A box serves once:
discard() closes it. When a box turns out to be broken its shelf is emptied (distrust), because whatever broke it may have
broken its neighbours. While the backend fails, the filling task backs off, and take() tells the caller the backend's own
error.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Mapping
from typing import Self

from sandbox_runtime.errors import PlatformFault, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Policy
from sandbox_runtime.telemetry import Log, Metrics

OPEN_WITHIN_S = 30.0
CLOSE_WITHIN_S = 30.0
TICK_S = 5.0
_PEAK_DECAY = 0.5
_CANCEL_AGAIN_S = 0.5
_FIRST_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 5.0


class _PolicyPool:
    def __init__(self, policy: Policy, floor: int) -> None:
        self.policy = policy
        self.floor = floor
        self.idle: deque[Box] = deque()
        self.in_use = 0
        self.peak = 0.0
        self.wake = asyncio.Event()
        self.failure: SandboxError | None = None

    def decay(self) -> None:
        self.peak = max(float(self.in_use), self.peak * _PEAK_DECAY if self.peak > 1 else 0.0)
        self.wake.set()


class BoxPool:
    """floors: how many boxes to keep at the least for each policy; policies not named are always opened on demand."""

    def __init__(self, backend: Backend, floors: Mapping[Policy, int], max_boxes: int, metrics: Metrics, log: Log) -> None:
        self._backend = backend
        self._max_boxes = max(max_boxes, *floors.values(), 0)
        self._metrics = metrics
        self._log = log
        self._pools = {policy: _PolicyPool(policy, floor) for policy, floor in floors.items()}
        self._fill_tasks: list[asyncio.Task[None]] = []
        self._closing_tasks: set[asyncio.Task[None]] = set()
        self._prestarted = 0
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        self._fill_tasks = [asyncio.create_task(self._maintain(pool)) for pool in self._pools.values()]
        self._fill_tasks.append(asyncio.create_task(self._tick()))
        for pool in self._pools.values():
            pool.wake.set()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @property
    def idle(self) -> int:
        return sum(len(pool.idle) for pool in self._pools.values())

    @property
    def in_use(self) -> int:
        return sum(pool.in_use for pool in self._pools.values()) - self._prestarted

    def add_prestarted(self, boxes: int) -> None:
        """That many more (or fewer) of those taken are not in use but wait with something started in them."""
        self._prestarted += boxes

    @property
    def failure(self) -> SandboxError | None:
        """Why no boxes can be opened at present, if that is so."""
        return next((pool.failure for pool in self._pools.values() if pool.failure), None)

    async def take(self, policy: Policy) -> Box:
        """A box that nobody used before. The caller owes discard()."""
        if not self._open:
            raise Unavailable("the platform is shutting down")
        pool = self._pools.get(policy)
        if pool is None:
            return await self._open_now(policy)
        pool.in_use += 1
        if pool.in_use > pool.peak:
            pool.peak = pool.in_use
        self._drop_outdated(pool)
        if pool.idle:
            self._metrics.record_box("ready")
            box = pool.idle.popleft()
            if not pool.idle:
                pool.wake.set()
            return box
        pool.wake.set()
        try:
            return await self._open_now(policy)
        except BaseException:
            pool.in_use -= 1
            raise

    async def discard(self, policy: Policy, box: Box) -> None:
        """Close a box that was taken. When the caller is cancelled meanwhile, the pool finishes the closing."""
        try:
            await box.close()
        except asyncio.CancelledError:
            self._close_in_background(box)
            raise
        finally:
            if pool := self._pools.get(policy):
                pool.in_use -= 1
                pool.wake.set()

    def drop_idle(self, policy: Policy) -> None:
        """A box of this policy was broken: drop those that wait beside it."""
        self._metrics.record_fault("box")
        pool = self._pools.get(policy)
        while pool and pool.idle:
            self._close_in_background(pool.idle.popleft())

    def _drop_outdated(self, pool: _PolicyPool) -> None:
        """Boxes of an interpreter that was upgraded since. The oldest come first."""
        while pool.idle and pool.idle[0].outdated:
            self._close_in_background(pool.idle.popleft())

    async def close(self) -> None:
        """Idempotent. Afterwards no task and no idle box of the pool is left."""
        self._open = False
        await self._stop_fill_tasks()
        for pool in self._pools.values():
            while pool.idle:
                self._close_in_background(pool.idle.popleft())
        if self._closing_tasks:
            await asyncio.wait(self._closing_tasks, timeout=CLOSE_WITHIN_S)

    async def _stop_fill_tasks(self) -> None:
        """A keeper may be in the middle of an opening that takes the cancellation for its own: so it is asked until it ends."""
        pending, deadline = set(self._fill_tasks), asyncio.get_running_loop().time() + CLOSE_WITHIN_S
        while pending and asyncio.get_running_loop().time() < deadline:
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=_CANCEL_AGAIN_S)
        self._fill_tasks.clear()

    async def _open_now(self, policy: Policy) -> Box:
        self._metrics.record_box("opened")
        return await self._open_box(policy)

    async def _open_box(self, policy: Policy) -> Box:
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                return await self._backend.open(policy)
        except TimeoutError as error:
            raise PlatformFault(f"no box could be opened within {OPEN_WITHIN_S:g} s") from error

    def _target(self, pool: _PolicyPool) -> int:
        spare = 1 if pool.peak and not pool.floor else 0
        return min(self._max_boxes, max(pool.floor, math.ceil(pool.peak) + spare))

    async def _maintain(self, pool: _PolicyPool) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while self._open:
            await pool.wake.wait()
            pool.wake.clear()
            if await self._fill(pool):
                backoff_s = _FIRST_BACKOFF_S
                self._shrink(pool)
                continue
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _MAX_BACKOFF_S)
            pool.wake.set()

    async def _fill(self, pool: _PolicyPool) -> bool:
        """Whether the shelf reached its target."""
        self._drop_outdated(pool)
        try:
            while len(pool.idle) < self._target(pool):
                pool.idle.append(await self._open_box(pool.policy))
                pool.failure = None
        except SandboxError as error:
            self._failed(pool, error)
            return False
        except Exception as error:
            self._failed(pool, PlatformFault(f"a box could not be opened: {error}"))
            self._log.exception("opening a box failed in an unforeseen way")
            return False
        return True

    def _failed(self, pool: _PolicyPool, error: SandboxError) -> None:
        if pool.failure is None:
            self._log.warning("boxes cannot be opened", preset=pool.policy.preset, reason=str(error))
        self._metrics.record_fault("open")
        pool.failure = error

    def _shrink(self, pool: _PolicyPool) -> None:
        while len(pool.idle) > self._target(pool):
            self._close_in_background(pool.idle.popleft())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for pool in self._pools.values():
                pool.decay()

    def _close_in_background(self, box: Box) -> None:
        """Close a box in the background, in a task that close() waits for."""
        task = asyncio.create_task(self._close(box))
        self._closing_tasks.add(task)
        task.add_done_callback(self._closing_tasks.discard)

    async def _close(self, box: Box) -> None:
        try:
            await box.close()
        except Exception as error:
            self._metrics.record_fault("close")
            self._log.error("a box could not be closed", box=box.id, reason=str(error))
