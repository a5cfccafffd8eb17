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
_FADE = 0.5
_ASK_AGAIN_S = 0.5
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.1, 5.0


class _Shelf:
    def __init__(self, policy: Policy, floor: int) -> None:
        self.policy = policy
        self.floor = floor
        self.idle: deque[Box] = deque()
        self.in_use = 0
        self.peak = 0.0
        self.wake = asyncio.Event()
        self.failure: SandboxError | None = None

    def fade(self) -> None:
        self.peak = max(float(self.in_use), self.peak * _FADE if self.peak > 1 else 0.0)
        self.wake.set()


class BoxPool:
    """floors: how many boxes to keep at the least for each policy; policies not named are always opened on demand."""

    def __init__(self, backend: Backend, floors: Mapping[Policy, int], most: int, metrics: Metrics, log: Log) -> None:
        self._backend = backend
        self._most = max(most, *floors.values(), 0)
        self._metrics = metrics
        self._log = log
        self._shelves = {policy: _Shelf(policy, floor) for policy, floor in floors.items()}
        self._keepers: list[asyncio.Task[None]] = []
        self._burials: set[asyncio.Task[None]] = set()
        self._aside = 0
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        self._keepers = [asyncio.create_task(self._keep(shelf)) for shelf in self._shelves.values()]
        self._keepers.append(asyncio.create_task(self._tick()))
        for shelf in self._shelves.values():
            shelf.wake.set()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    @property
    def idle(self) -> int:
        return sum(len(shelf.idle) for shelf in self._shelves.values())

    @property
    def in_use(self) -> int:
        return sum(shelf.in_use for shelf in self._shelves.values()) - self._aside

    def set_aside(self, boxes: int) -> None:
        """That many more (or fewer) of those taken are not in use but wait with something started in them."""
        self._aside += boxes

    @property
    def failure(self) -> SandboxError | None:
        """Why no boxes can be opened at present, if that is so."""
        return next((shelf.failure for shelf in self._shelves.values() if shelf.failure), None)

    async def take(self, policy: Policy) -> Box:
        """A box that nobody used before. The caller owes discard()."""
        if not self._open:
            raise Unavailable("the platform is shutting down")
        shelf = self._shelves.get(policy)
        if shelf is None:
            return await self._open_now(policy)
        shelf.in_use += 1
        if shelf.in_use > shelf.peak:
            shelf.peak = shelf.in_use
        self._drop_outdated(shelf)
        if shelf.idle:
            self._metrics.record_box("ready")
            box = shelf.idle.popleft()
            if not shelf.idle:
                shelf.wake.set()
            return box
        shelf.wake.set()
        try:
            return await self._open_now(policy)
        except BaseException:
            shelf.in_use -= 1
            raise

    async def discard(self, policy: Policy, box: Box) -> None:
        """Close a box that was taken. When the caller is cancelled meanwhile, the pool finishes the closing."""
        try:
            await box.close()
        except asyncio.CancelledError:
            self._bury(box)
            raise
        finally:
            if shelf := self._shelves.get(policy):
                shelf.in_use -= 1
                shelf.wake.set()

    def distrust(self, policy: Policy) -> None:
        """A box of this policy was broken: drop those that wait beside it."""
        self._metrics.record_fault("box")
        shelf = self._shelves.get(policy)
        while shelf and shelf.idle:
            self._bury(shelf.idle.popleft())

    def _drop_outdated(self, shelf: _Shelf) -> None:
        """Boxes of an interpreter that was upgraded since. The oldest come first."""
        while shelf.idle and shelf.idle[0].outdated:
            self._bury(shelf.idle.popleft())

    async def close(self) -> None:
        """Idempotent. Afterwards no task and no idle box of the pool is left."""
        self._open = False
        await self._stop_keepers()
        for shelf in self._shelves.values():
            while shelf.idle:
                self._bury(shelf.idle.popleft())
        if self._burials:
            await asyncio.wait(self._burials, timeout=CLOSE_WITHIN_S)

    async def _stop_keepers(self) -> None:
        """A keeper may be in the middle of an opening that takes the cancellation for its own: so it is asked until it ends."""
        pending, deadline = set(self._keepers), asyncio.get_running_loop().time() + CLOSE_WITHIN_S
        while pending and asyncio.get_running_loop().time() < deadline:
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=_ASK_AGAIN_S)
        self._keepers.clear()

    async def _open_now(self, policy: Policy) -> Box:
        self._metrics.record_box("opened")
        return await self._open_box(policy)

    async def _open_box(self, policy: Policy) -> Box:
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                return await self._backend.open(policy)
        except TimeoutError as error:
            raise PlatformFault(f"no box could be opened within {OPEN_WITHIN_S:g} s") from error

    def _target(self, shelf: _Shelf) -> int:
        spare = 1 if shelf.peak and not shelf.floor else 0
        return min(self._most, max(shelf.floor, math.ceil(shelf.peak) + spare))

    async def _keep(self, shelf: _Shelf) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while self._open:
            await shelf.wake.wait()
            shelf.wake.clear()
            if await self._fill(shelf):
                backoff_s = _FIRST_BACKOFF_S
                self._shrink(shelf)
                continue
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _LONGEST_BACKOFF_S)
            shelf.wake.set()

    async def _fill(self, shelf: _Shelf) -> bool:
        """Whether the shelf reached its target."""
        self._drop_outdated(shelf)
        try:
            while len(shelf.idle) < self._target(shelf):
                shelf.idle.append(await self._open_box(shelf.policy))
                shelf.failure = None
        except SandboxError as error:
            self._failed(shelf, error)
            return False
        except Exception as error:
            self._failed(shelf, PlatformFault(f"a box could not be opened: {error}"))
            self._log.exception("opening a box failed in an unforeseen way")
            return False
        return True

    def _failed(self, shelf: _Shelf, error: SandboxError) -> None:
        if shelf.failure is None:
            self._log.warning("boxes cannot be opened", preset=shelf.policy.preset, reason=str(error))
        self._metrics.record_fault("open")
        shelf.failure = error

    def _shrink(self, shelf: _Shelf) -> None:
        while len(shelf.idle) > self._target(shelf):
            self._bury(shelf.idle.popleft())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for shelf in self._shelves.values():
                shelf.fade()

    def _bury(self, box: Box) -> None:
        """Close a box in the background, in a task that close() waits for."""
        task = asyncio.create_task(self._closed(box))
        self._burials.add(task)
        task.add_done_callback(self._burials.discard)

    async def _closed(self, box: Box) -> None:
        try:
            await box.close()
        except Exception as error:
            self._metrics.record_fault("close")
            self._log.error("a box could not be closed", box=box.id, reason=str(error))
