"""A session that stands still for a while: its interpreters, executions and terminals stop where they are and keep their memory.

Time limits of executions do not run meanwhile, and their places on the machine are others'. What is asked of a paused session is
refused until it is resumed; it can be ended, and its lifetime runs on. An idle timeout begins anew when it is resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.errors import Conflict
from sandbox_runtime.sessions.executions.slots import Places
from sandbox_runtime.sessions.registry import LiveSession

_TURN_WITHIN_S = 10.0


@contextlib.asynccontextmanager
async def turn(live: LiveSession) -> AsyncIterator[None]:
    """Nothing is being added to the session meanwhile: half a context or half a package could not be told from a whole one."""
    try:
        async with asyncio.timeout(_TURN_WITHIN_S):
            await live.guard.acquire()
    except TimeoutError as error:
        told = "packages are being installed, contexts opened or copies made"
        raise Conflict(f"the session {live.id!r} is busy: {told}; try again when that is done") from error
    try:
        yield
    finally:
        live.guard.release()


async def halt(live: LiveSession, places: Places) -> None:
    """All of it or nothing."""
    live.going.clear()
    try:
        await live.home.pause()
    except BaseException:
        go_on(live)
        raise
    places.give_up(live)


def go_on(live: LiveSession) -> None:
    live.going.set()
    live.home.resume()
    live.touch()
