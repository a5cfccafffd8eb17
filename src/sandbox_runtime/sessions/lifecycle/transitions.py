"""State changes of sessions, and what each change closes, releases or deletes.

Every change of state takes one path: read the row, let the state machine decide, write the row if nobody changed it meanwhile,
then carry out the effects of the decision.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, SandboxError
from sandbox_runtime.model import Session, SessionMode
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry, session_entry
from sandbox_runtime.sessions.lifecycle import pause

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps
    from sandbox_runtime.sessions.executions.executor import Executor
    from sandbox_runtime.sessions.registry import LiveSession

_MAX_ATTEMPTS = 5
_CLOSE_WITHIN_S = 60.0
SESSION_ENDED = "its session ended"


class Transitions:
    def __init__(self, deps: SessionDeps, executor: Executor) -> None:
        self._deps = deps
        self._executor = executor

    async def apply(self, session_id: str, event: machine.Event, actor: str = "") -> Session:
        """Apply an event and return the stored session. Raises Conflict if the session's state does not allow the event."""
        for _ in range(_MAX_ATTEMPTS):
            before = await self._deps.store.sessions.get(session_id)
            after, effects = machine.decide(before, event, timestamps.now_ms())
            audit = session_entry(after, type(event).__name__.lower(), actor)
            try:
                stored = await self._deps.store.sessions.update(before, by=actor, audit=audit, **machine.changes(before, after))
            except Conflict:
                continue
            await self._carry_out(stored, effects)
            return stored
        raise _contended(session_id)

    async def update(self, session_id: str, owner: str, actor: str = "", **changes: Any) -> Session:
        """Change fields that are not part of the session's state. Raises Conflict if the session has ended."""
        for _ in range(_MAX_ATTEMPTS):
            before = await self._deps.find_session(session_id, owner)
            if before.state.ended:
                raise Conflict(f"the session {session_id!r} is {before.state} and cannot be changed")
            audit = entry(actor, "change", "session", session_id, owner=before.owner, fields=sorted(changes))
            try:
                stored = await self._deps.store.sessions.update(before, by=actor, audit=audit, **changes)
            except Conflict:
                continue
            live = self._deps.registry.open.get(session_id)
            if live is not None:
                live.session = stored
            return stored
        raise _contended(session_id)

    async def close(self, live: LiveSession, reason: str) -> None:
        """Stop everything that runs in a session and close its environment. Never raises: a failure is logged."""
        live.closing = True
        try:
            async with asyncio.timeout(_CLOSE_WITHIN_S):
                await self._executor.stop_all(live, reason)
                if live.fork_pool is not None:
                    await live.fork_pool.close()
                await live.environment.close()
                self._deps.registry.release(live.id)
        except (TimeoutError, SandboxError, OSError) as error:
            self._deps.log.error("a session could not be closed", session=live.id, reason=str(error) or "it took too long")

    async def close_environment(self, live: LiveSession, reason: str) -> None:
        """Close the environment but keep the session; its next use opens another."""
        await self.close(live, reason)
        if self._deps.registry.open.get(live.id) is live:
            del self._deps.registry.open[live.id]

    async def release_ended(self, live: LiveSession) -> None:
        """Close a session that another server has ended."""
        await self.close(live, SESSION_ENDED)
        self._release(live.id, live)

    async def delete(self, ended: Session, actor: str = "") -> None:
        """Delete an ended session with its snapshot; its id is free afterwards.

        Raises Conflict if it was deleted meanwhile and its id belongs to a new session, which is kept.
        """
        await self._wait_until_removed(ended)
        async with self._deps.registry.opening_lock(ended.id):
            if ended.mode is SessionMode.persistent:
                if (await self._deps.store.sessions.get(ended.id)).created_ms != ended.created_ms:
                    raise Conflict(f"the session {ended.id!r} was replaced by a new session with the same id")
                await self._deps.snapshots.drop(ended.id)
            await self._deps.store.sessions.delete_unchanged(ended, audit=session_entry(ended, "delete", actor))

    async def _carry_out(self, session: Session, effects: tuple[machine.Effect, ...]) -> None:
        live = self._deps.registry.open.get(session.id)
        if live is not None:
            live.session = session
            await self._pause_or_resume(live, effects)
        if machine.Effect.close in effects:
            if live is not None:
                await self.close(live, SESSION_ENDED)
            self._deps.metrics.record_session_end(session.state)
        if machine.Effect.release in effects:
            self._release(session.id, live)

    async def _pause_or_resume(self, live: LiveSession, effects: tuple[machine.Effect, ...]) -> None:
        if machine.Effect.pause in effects:
            try:
                await pause.pause(live, self._executor.slots)
            except BaseException:
                await self.apply(live.id, machine.Resumed(), "platform")
                raise
        if machine.Effect.resume in effects:
            pause.resume(live)

    def _release(self, session_id: str, live: LiveSession | None) -> None:
        """Free its slot on the node. If two release concurrently, the id may belong to a new session by now, which is kept."""
        if self._deps.registry.open.get(session_id) is live:
            self._deps.registry.leave(session_id)
            self._deps.snapshots.forget(session_id)

    async def _wait_until_removed(self, ended: Session) -> None:
        """Wait until everything in an ended session has stopped: its row says that it ended a moment earlier."""
        live = self._deps.registry.open.get(ended.id)
        if live is not None and live.session.created_ms == ended.created_ms:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_WITHIN_S):
                    await live.removed.wait()


def _contended(session_id: str) -> Conflict:
    return Conflict(f"the session {session_id!r} is being changed by other requests; try again")
