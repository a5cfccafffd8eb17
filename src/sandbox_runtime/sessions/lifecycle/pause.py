"""Pause and resume: interpreters, executions and terminals of a session stop where they are and keep their memory.

Time limits of executions do not run meanwhile, and their slots go to others. Requests to a paused session are refused until it is
resumed; it can be ended, and its lifetime continues. Its idle timeout starts again when it is resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from sandbox_runtime.errors import Conflict

if TYPE_CHECKING:
    from sandbox_runtime.sessions.executions.slots import ExecutionSlots
    from sandbox_runtime.sessions.registry import LiveSession

_LOCK_WITHIN_S = 10.0


@contextlib.asynccontextmanager
async def locked(live: LiveSession) -> AsyncIterator[None]:
    """Hold the session's change lock: no context, package or fork may be half-made when it is paused. Raises Conflict if busy."""
    try:
        async with asyncio.timeout(_LOCK_WITHIN_S):
            await live.change_lock.acquire()
    except TimeoutError as error:
        reason = "packages are being installed, contexts opened or forks made"
        raise Conflict(f"the session {live.id!r} is busy: {reason}; try again when that is done") from error
    try:
        yield
    finally:
        live.change_lock.release()


async def pause(live: LiveSession, slots: ExecutionSlots) -> None:
    """Pause everything in the session, or nothing if it fails."""
    live.resumed.clear()
    try:
        await live.environment.pause()
    except BaseException:
        resume(live)
        raise
    slots.release_all(live)


def resume(live: LiveSession) -> None:
    live.resumed.set()
    live.environment.resume()
    live.touch()
