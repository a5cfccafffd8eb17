"""Stop, start, start anew: sessions know pausing alone, so one that was stopped is a paused one in which nothing is left."""

from __future__ import annotations

import asyncio
import contextlib

from sandbox_runtime.api.dialects.sandboxes.mapping.answers import about_of
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import noted
from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import ExecutionState, Session, SessionState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter

_MOST = 200
_UNDER_WAY = (ExecutionState.pending, ExecutionState.running)


async def stop(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """Whatever runs in it ends, its interpreters too; files stay. One that stands still already is left as it is."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is not SessionState.paused:
        await _end_all(sessions, sandbox_id, owner)
        session = await sessions.pause(sandbox_id, owner)
    return await sessions.change(sandbox_id, owner, about_json=noted({**about_of(session), "stopped": True}))


async def start(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """Conflict for one that has ended; one that runs is left as it is."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is SessionState.paused:
        session = await sessions.resume(sandbox_id, owner)
    if session.state.ended:
        raise Conflict(f"the sandbox {sandbox_id!r} has ended ({session.state}): make another")
    if about_of(session).get("stopped"):
        about = {name: value for name, value in about_of(session).items() if name != "stopped"}
        return await sessions.change(sandbox_id, owner, about_json=noted(about))
    return session


async def restart(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """Nothing but the files is as it was."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is SessionState.paused:
        session = await start(sessions, sandbox_id, owner)
    await _end_all(sessions, sandbox_id, owner)
    return session


async def _end_all(sessions: Sessions, sandbox_id: str, owner: str) -> None:
    """What ends by itself meanwhile is passed over."""
    contexts = await sessions.contexts.list(sandbox_id, owner)  # raises where it is not running
    page = await sessions.executions.list(ExecutionFilter(session=sandbox_id, states=_UNDER_WAY), _MOST, 0, owner)
    await asyncio.gather(*(sessions.executions.cancel(one.id, owner) for one in page.items))
    for context in contexts:
        with contextlib.suppress(NotFound):
            await sessions.contexts.close(sandbox_id, context.id, owner)
