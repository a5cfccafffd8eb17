"""A session that stands still for a while: its interpreters, executions and terminals stop where they are and keep their memory.

Time limits of executions do not run meanwhile, and their places on the machine are others'. What is asked of a paused session is
refused until it is resumed; it can be ended, and its lifetime runs on. An idle timeout begins anew when it is resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.errors import Conflict
from sandbox_runtime.sessions.executions.slots import ExecutionSlots
from sandbox_runtime.sessions.registry import LiveSession

_LOCK_WITHIN_S = 10.0


@contextlib.asynccontextmanager
async def locked(live: LiveSession) -> AsyncIterator[None]:
    """Nothing is being added to the session meanwhile: half a context or half a package could not be told from a whole one."""
    try:
        async with asyncio.timeout(_LOCK_WITHIN_S):
            await live.change_lock.acquire()
    except TimeoutError as error:
        reason = "packages are being installed, contexts opened or copies made"
        raise Conflict(f"the session {live.id!r} is busy: {reason}; try again when that is done") from error
    try:
        yield
    finally:
        live.change_lock.release()


async def suspend(live: LiveSession, slots: ExecutionSlots) -> None:
    """All of it or nothing."""
    live.resumed.clear()
    try:
        await live.home.pause()
    except BaseException:
        resume(live)
        raise
    slots.release_all(live)


def resume(live: LiveSession) -> None:
    live.resumed.set()
    live.home.resume()
    live.touch()
