"""Boxes opened ahead of time.

Theory of operation. Each policy worth it has a WarmPool. Its target is the number of commands that ran concurrently lately,
at least its floor and at most the pool's maximum. A policy without a floor keeps one more while it is in use, so that a single
run does not share its cores with the opening of the next box. Boxes are opened one after another when a box was used or the last
one is taken (while others wait, opening one would only slow the run that has just started), and at every tick, which also lets
the remembered peak decay. take() never waits for that: if no box is idle, one is opened on demand. A box serves once: discard()
closes it. If a box turns out to be broken, drop_idle() closes the idle boxes of its policy, because the cause may have broken
them too. While the backend fails, openings back off, and take() raises the backend's own error.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Mapping
from typing import Self

from sandbox_runtime.engine.pools.background import BackgroundTasks, cancel_all, repeat
from sandbox_runtime.engine.pools.warm_pool import WarmPool
from sandbox_runtime.errors import PlatformFault, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model.policy import Policy
from sandbox_runtime.telemetry.logs import Log
from sandbox_runtime.telemetry.metrics import Metrics

OPEN_WITHIN_S = 30.0
TICK_S = 5.0
_PEAK_DECAY = 0.5
_FIRST_BACKOFF_S, _MAX_BACKOFF_S = 0.1, 5.0


class _PolicyBoxes:
    """The demand for boxes of one policy."""

    def __init__(self, policy: Policy, floor: int, max_boxes: int) -> None:
        self.policy = policy
        self.in_use = 0
        self.peak = 0.0
        self.warm: WarmPool[Box]
        self._floor = floor
        self._max_boxes = max_boxes

    def target(self) -> int:
        spare = 1 if self.peak and not self._floor else 0
        return min(self._max_boxes, max(self._floor, math.ceil(self.peak) + spare))

    def decay(self) -> None:
        self.peak = max(float(self.in_use), self.peak * _PEAK_DECAY if self.peak > 1 else 0.0)


class BoxPool:
    """Keeps at least `floors[policy]` boxes of each policy. Boxes of other policies are always opened on demand."""

    def __init__(self, backend: Backend, floors: Mapping[Policy, int], max_boxes: int, metrics: Metrics, log: Log) -> None:
        self._backend = backend
        self._metrics = metrics
        self._log = log
        max_boxes = max(max_boxes, *floors.values(), 0)
        self._policies = {policy: self._policy_boxes(policy, floor, max_boxes) for policy, floor in floors.items()}
        self._tick_task: asyncio.Task[None] | None = None
        self._closing = BackgroundTasks("a box could not be closed")
        self._prestarted = 0
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        self._tick_task = asyncio.create_task(repeat(TICK_S, self._tick))
        for boxes in self._policies.values():
            boxes.warm.refill()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @property
    def idle(self) -> int:
        return sum(len(boxes.warm.idle) for boxes in self._policies.values())

    @property
    def in_use(self) -> int:
        return sum(boxes.in_use for boxes in self._policies.values()) - self._prestarted

    def add_prestarted(self, boxes: int) -> None:
        """Count this many more (or fewer) taken boxes as waiting with a started interpreter, not as in use."""
        self._prestarted += boxes

    @property
    def failure(self) -> Exception | None:
        """Why boxes cannot be opened now, if they cannot."""
        return next((boxes.warm.failure for boxes in self._policies.values() if boxes.warm.failure), None)

    async def take(self, policy: Policy) -> Box:
        """Return an unused box. The caller must discard() it."""
        if not self._open:
            raise Unavailable("the platform is shutting down")
        boxes = self._policies.get(policy)
        if boxes is None:
            return await self._open_now(policy)
        boxes.in_use += 1
        if boxes.in_use > boxes.peak:
            boxes.peak = boxes.in_use
        warm = boxes.warm
        box = warm.pop()
        if not warm.idle:
            warm.refill()
        if box is not None:
            self._metrics.record_box("ready")
            return box
        try:
            return await self._open_now(policy)
        except BaseException:
            boxes.in_use -= 1
            raise

    async def discard(self, policy: Policy, box: Box) -> None:
        """Close a box that was taken. If the caller is cancelled, the pool closes it."""
        try:
            await box.close()
        except asyncio.CancelledError:
            self._closing.start(self._close(box))
            raise
        finally:
            if boxes := self._policies.get(policy):
                boxes.in_use -= 1
                boxes.warm.refill()

    def drop_idle(self, policy: Policy) -> None:
        """Close the idle boxes of a policy, because one of its boxes was broken."""
        self._metrics.record_fault("box")
        if boxes := self._policies.get(policy):
            boxes.warm.drop()

    async def close(self) -> None:
        """Idempotent. No task and no idle box of the pool remains."""
        self._open = False
        if self._tick_task is not None:
            await cancel_all([self._tick_task])
        await asyncio.gather(*(boxes.warm.close() for boxes in self._policies.values()))
        await self._closing.wait()

    def _policy_boxes(self, policy: Policy, floor: int, max_boxes: int) -> _PolicyBoxes:
        boxes = _PolicyBoxes(policy, floor, max_boxes)
        boxes.warm = WarmPool(
            lambda: self._open_ahead(policy),
            self._close,
            target=boxes.target,
            usable=_is_current,
            on_failure=lambda error: self._on_failure(boxes, error),
            backoff_s=(_FIRST_BACKOFF_S, _MAX_BACKOFF_S),
            one_by_one=True,
        )
        return boxes

    async def _open_now(self, policy: Policy) -> Box:
        self._metrics.record_box("opened")
        return await open_in_time(self._backend.open(policy))

    async def _open_ahead(self, policy: Policy) -> Box:
        try:
            return await open_in_time(self._backend.open(policy))
        except SandboxError:
            raise
        except Exception as error:
            self._log.exception("opening a box failed in an unforeseen way")
            raise PlatformFault(f"a box could not be opened: {error}") from error

    def _on_failure(self, boxes: _PolicyBoxes, error: Exception) -> None:
        if boxes.warm.failure is None:
            self._log.warning("boxes cannot be opened", preset=boxes.policy.preset, reason=str(error))
        self._metrics.record_fault("open")

    def _tick(self) -> None:
        for boxes in self._policies.values():
            boxes.decay()
            boxes.warm.trim()
            boxes.warm.refill()

    async def _close(self, box: Box) -> None:
        try:
            await box.close()
        except Exception as error:
            self._metrics.record_fault("close")
            self._log.error("a box could not be closed", box=box.id, reason=str(error))


async def open_in_time(opening: Awaitable[Box]) -> Box:
    """Wait for a box that is being opened. Raises PlatformFault after OPEN_WITHIN_S."""
    try:
        async with asyncio.timeout(OPEN_WITHIN_S):
            return await opening
    except TimeoutError as error:
        raise PlatformFault(f"no box could be opened within {OPEN_WITHIN_S:g} s") from error


def _is_current(box: Box) -> bool:
    """Whether the interpreter of the box is still the installed one."""
    return not box.outdated
