"""The standby box of an environment: waits for the next command.

It is opened in the background soon after the previous one was used. Soon, not at once: closing the used box and opening another
takes longer than returning the result of the command, and the waiting caller comes first. If commands follow each other without
a pause, the next one would wait for its box, so it is opened while the previous one still runs.
"""

from __future__ import annotations

import asyncio

from sandbox_runtime.engine.pools.box_pool import open_in_time
from sandbox_runtime.engine.pools.standby import Standby
from sandbox_runtime.isolation.port import Backend, Box, Files
from sandbox_runtime.model.policy import Policy

CLOSE_DELAY_S = 0.01
BACK_TO_BACK_S = 0.05
"""Commands with less than this between them are back to back."""


class BoxStandby:
    """The boxes of one environment. The standby box waits at most `idle_s`."""

    def __init__(self, backend: Backend, files: Files, idle_s: float) -> None:
        self._backend = backend
        self._files = files
        self._standby: Standby[Policy, Box] = Standby(self._open, _close, idle_s)
        self._used_boxes: list[Box] = []
        self._next_policy: Policy | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._released_at = float("-inf")
        self._back_to_back = False
        self._closed = False

    @property
    def waiting(self) -> bool:
        return self._standby.waiting or self._next_policy is not None

    async def take(self, policy: Policy) -> Box:
        """Return a box. The caller must release() it."""
        self._next_policy = None
        self._back_to_back = asyncio.get_running_loop().time() - self._released_at < BACK_TO_BACK_S
        box = await self._standby.take(policy)
        if box is None:
            return await self._open(policy)
        if box.outdated:
            self._standby.closing.start(box.close())
            return await self._open(policy)
        if self._back_to_back:
            self._standby.prepare(policy)
        return box

    def prepare(self, policy: Policy) -> None:
        """Open a box for the next command. Does nothing if one waits already."""
        self._standby.prepare(policy)

    def release(self, box: Box, following: Policy | None = None) -> None:
        """Close a used box soon, in the background: once a command has an outcome all its processes are dead, so no caller needs
        to wait for the rest. `following` is the policy of the next box to open."""
        self._used_boxes.append(box)
        if following is not None and not self._standby.waiting:
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
        await self._standby.close()

    def _close_used(self) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
        boxes, policy = self._used_boxes, self._next_policy
        self._used_boxes, self._next_policy, self._close_timer = [], None, None
        for box in boxes:
            self._standby.closing.start(box.close())
        if policy is not None and not self._closed:
            self._standby.prepare(policy)

    async def _open(self, policy: Policy) -> Box:
        return await open_in_time(self._backend.open(policy, self._files))


async def _close(box: Box) -> None:
    await box.close()
