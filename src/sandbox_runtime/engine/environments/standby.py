"""A box that waits for the next command of an environment.

Each recently used environment has one: opened in the background soon after the previous one was used, closed after an idle
time. A box of another policy than the requested one is closed.

Soon, not at once: closing the used box and opening another takes longer than returning the result of the command, and the
waiting caller comes first. If commands follow each other without a pause, the next one would wait for its box, so it is opened
while the previous one still runs.
"""

from __future__ import annotations

import asyncio
import contextlib

from sandbox_runtime.errors import PlatformFault, SandboxError
from sandbox_runtime.isolation.port import Backend, Box, Files
from sandbox_runtime.model import Policy

OPEN_WITHIN_S = 30.0
CLOSE_DELAY_S = 0.01
BACK_TO_BACK_S = 0.05
"""Commands with less than this between them are back to back."""


class Standby:
    """The standby box of one environment. It waits at most `idle_s`."""

    def __init__(self, backend: Backend, files: Files, idle_s: float) -> None:
        self._backend = backend
        self._files = files
        self._idle_s = idle_s
        self._policy: Policy | None = None
        self._opening: asyncio.Task[Box] | None = None
        self._expire_timer: asyncio.TimerHandle | None = None
        self._closing_tasks: set[asyncio.Task[None]] = set()
        self._used_boxes: list[Box] = []
        self._next_policy: Policy | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._released_at = float("-inf")
        self._back_to_back = False
        self._closed = False

    @property
    def waiting(self) -> bool:
        return self._opening is not None or self._next_policy is not None

    async def take(self, policy: Policy) -> Box:
        """Return a box. The caller must release() it."""
        opening, fits = self._opening, self._policy == policy
        self._next_policy = None
        self._back_to_back = asyncio.get_running_loop().time() - self._released_at < BACK_TO_BACK_S
        self._clear()
        if opening is not None and fits:
            with contextlib.suppress(SandboxError):  # what failed in the background may succeed now
                box = await self._shielded(opening)
                if box is not None and not box.outdated:
                    self._prepare_back_to_back(policy)
                    return box
                self._close_in_background(opening)
        elif opening is not None:
            self._close_in_background(opening)
        return await self._open(policy)

    def _prepare_back_to_back(self, policy: Policy) -> None:
        if self._back_to_back:
            self.prepare(policy)

    def prepare(self, policy: Policy) -> None:
        """Open a box for the next command. Does nothing if one waits already."""
        if self._closed or self._opening is not None or self._idle_s <= 0:
            return
        self._policy = policy
        self._opening = asyncio.create_task(self._open(policy))
        self._expire_timer = asyncio.get_running_loop().call_later(self._idle_s, self._expire)

    def release(self, box: Box, following: Policy | None = None) -> None:
        """Close a used box soon, in the background: once a command has an outcome all its processes are dead, so no caller
        needs to wait for the rest. `following` is the policy of the next box to open."""
        self._used_boxes.append(box)
        if following is not None and self._opening is None:
            self._next_policy = following
        loop = asyncio.get_running_loop()
        self._released_at = loop.time()
        if self._closed or self._back_to_back:
            self._close_used()
        elif self._close_timer is None:
            self._close_timer = loop.call_later(CLOSE_DELAY_S, self._close_used)

    async def close(self) -> None:
        self._closed = True
        self._close_used()
        self._expire()
        if self._closing_tasks:
            await asyncio.wait(self._closing_tasks, timeout=OPEN_WITHIN_S)

    def _close_used(self) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
        spent, variables = self._used_boxes, self._next_policy
        self._used_boxes, self._next_policy, self._close_timer = [], None, None
        for box in spent:
            self._keep(asyncio.create_task(box.close()))
        if variables is not None:
            self.prepare(variables)

    async def _open(self, policy: Policy) -> Box:
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                return await self._backend.open(policy, self._files)
        except TimeoutError as error:
            raise PlatformFault(f"no box could be opened within {OPEN_WITHIN_S:g} s") from error

    async def _shielded(self, opening: asyncio.Task[Box]) -> Box | None:
        """Wait for the box. If the caller is cancelled, the box is closed when it is open."""
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._close_in_background(opening)
            raise

    def _expire(self) -> None:
        opening = self._opening
        self._clear()
        if opening is not None:
            self._close_in_background(opening)

    def _clear(self) -> None:
        if self._expire_timer is not None:
            self._expire_timer.cancel()
        self._opening = self._expire_timer = self._policy = None

    def _close_in_background(self, opening: asyncio.Task[Box]) -> None:
        self._keep(asyncio.create_task(_close_opened(opening)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._closing_tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Report a box that cannot be closed to the event loop; the watchdog ends it with the server."""
        self._closing_tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            handler_result = {"message": "a box of a session could not be closed", "exception": task.exception()}
            asyncio.get_running_loop().call_exception_handler(handler_result)


async def _close_opened(opening: asyncio.Task[Box]) -> None:
    with contextlib.suppress(SandboxError):
        box = await opening
        await box.close()
