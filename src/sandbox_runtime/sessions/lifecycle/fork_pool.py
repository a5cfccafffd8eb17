"""A place for the next copy of a session, opened ahead of it.

A session that was forked is likely to be forked again: the home of the next copy, with an empty interpreter for each of the
session's, is opened in the background and waits for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox_runtime.engine.contexts import Context
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.sessions.nodes.node import Home

CLOSE_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A home, and contexts in it that have run nothing."""

    home: Home
    contexts: tuple[Context, ...]


class Spare:
    """opening: opens one with so many contexts. keep_s: how long it waits."""

    def __init__(self, opening: Callable[[int], Awaitable[Spot]], keep_s: float) -> None:
        self._opening = opening
        self._keep_s = keep_s
        self._count = 0
        self._task: asyncio.Task[Spot] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._burials: set[asyncio.Task[None]] = set()

    @property
    def waits(self) -> bool:
        return self._task is not None

    def prepare(self, contexts: int) -> None:
        if self._task is None and self._keep_s > 0:
            self._count = contexts
            self._task = asyncio.create_task(self._open(contexts))
            self._expiry = asyncio.get_running_loop().call_later(self._keep_s, self._drop)

    async def take(self, contexts: int) -> Spot | None:
        """One that fits, now the caller's; None where there is none."""
        if self._task is None or self._count != contexts:
            self._drop()
            return None
        task = self._forget()
        assert task is not None
        try:
            with contextlib.suppress(SandboxError, OSError):
                return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._bury(task)
            raise
        return None

    async def close(self) -> None:
        self._drop()
        if self._burials:
            await asyncio.wait(self._burials, timeout=CLOSE_WITHIN_S)

    async def _open(self, contexts: int) -> Spot:
        return await self._opening(contexts)

    def _drop(self) -> None:
        task = self._forget()
        if task is not None:
            self._bury(task)

    def _forget(self) -> asyncio.Task[Spot] | None:
        if self._expiry is not None:
            self._expiry.cancel()
        task, self._task, self._expiry = self._task, None, None
        return task

    def _bury(self, task: asyncio.Task[Spot]) -> None:
        burial = asyncio.create_task(_closed(task))
        self._burials.add(burial)
        burial.add_done_callback(self._burials.discard)


async def _closed(task: asyncio.Task[Spot]) -> None:
    with contextlib.suppress(SandboxError, OSError):
        await (await task).home.close()
