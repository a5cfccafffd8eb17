"""Stop, start and restart a sandbox. Sessions can only be paused: a stopped sandbox is a paused session with nothing running."""

from __future__ import annotations

import asyncio
import contextlib

from sandbox_runtime.api.dialects.sandboxes.mapping.answers import about_of
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import to_about_json
from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import ExecutionState, Session, SessionState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter

_MAX_EXECUTIONS = 200
_UNFINISHED = (ExecutionState.pending, ExecutionState.running)


async def stop(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """End everything that runs in the sandbox, interpreters too, and pause it. Files are kept. A paused one becomes stopped."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is not SessionState.paused:
        await _end_all(sessions, sandbox_id, owner)
        session = await sessions.pause(sandbox_id, owner)
    return await sessions.change(sandbox_id, owner, about_json=to_about_json({**about_of(session), "stopped": True}))


async def start(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """Resume the sandbox if it is paused. Raises Conflict if it has ended."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is SessionState.paused:
        session = await sessions.resume(sandbox_id, owner)
    if session.state.ended:
        raise Conflict(f"the sandbox {sandbox_id!r} has ended ({session.state}): create another")
    if about_of(session).get("stopped"):
        about = {name: value for name, value in about_of(session).items() if name != "stopped"}
        return await sessions.change(sandbox_id, owner, about_json=to_about_json(about))
    return session


async def restart(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    """End everything that runs in the sandbox and leave it running. Only files are kept."""
    session = await sessions.get(sandbox_id, owner)
    if session.state is SessionState.paused:
        session = await start(sessions, sandbox_id, owner)
    await _end_all(sessions, sandbox_id, owner)
    return session


async def _end_all(sessions: Sessions, sandbox_id: str, owner: str) -> None:
    """Cancel executions and close contexts. Raises if the sandbox is not running."""
    contexts = await sessions.contexts.list(sandbox_id, owner)
    page = await sessions.executions.list(ExecutionFilter(session=sandbox_id, states=_UNFINISHED), _MAX_EXECUTIONS, 0, owner)
    await asyncio.gather(*(sessions.executions.cancel(execution.id, owner) for execution in page.items))
    for context in contexts:
        with contextlib.suppress(NotFound):  # it ended meanwhile
            await sessions.contexts.close(sandbox_id, context.id, owner)
