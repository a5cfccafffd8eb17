"""A box that waits for the next command of a home.

One for each home that was used lately: opened in the background soon after the one before was used, closed when nothing came for
a while. A box of another kind than the one asked for is of no use and goes.

Soon, and not at once: closing the box that was used and opening another takes longer than telling what came of its command, and
whoever waits for that comes first. Only where commands follow one another without a pause the next one would wait for its box:
then it is opened while the one before is still running.
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
"""Commands with less than this between them follow one another."""


class Standby:
    """idle_s: how long a box may wait."""

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
        """The caller owes release()."""
        opening, fits = self._opening, self._policy == policy
        self._next_policy = None
        self._back_to_back = asyncio.get_running_loop().time() - self._released_at < BACK_TO_BACK_S
        self._clear()
        if opening is not None and fits:
            with contextlib.suppress(SandboxError):  # what went wrong in the background may go well now
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
        """Have one ready for the next. Does nothing while another waits."""
        if self._closed or self._opening is not None or self._idle_s <= 0:
            return
        self._policy = policy
        self._opening = asyncio.create_task(self._open(policy))
        self._expire_timer = asyncio.get_running_loop().call_later(self._idle_s, self._expire)

    def release(self, box: Box, following: Policy | None = None) -> None:
        """Close a box that was taken, soon and in the background: with a command's outcome all its processes are dead, so nobody
        need wait for the rest. following: then have one of this kind ready for the next."""
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
        """A caller that is cancelled leaves the box to be closed when it is there."""
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
        """A box that cannot be closed is told by the event loop's own complaint; the keeper ends it with the server."""
        self._closing_tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            handler_result = {"message": "a box of a session could not be closed", "exception": task.exception()}
            asyncio.get_running_loop().call_exception_handler(handler_result)


async def _close_opened(opening: asyncio.Task[Box]) -> None:
    with contextlib.suppress(SandboxError):
        box = await opening
        await box.close()
