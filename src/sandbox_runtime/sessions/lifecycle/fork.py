"""Forks of a live session: copies of its files and of its interpreters with their state.

Files are copied into a new environment, interpreters are forked into boxes on it, with new random seeds. The original keeps
running. Nothing may execute in it meanwhile, because a half-finished execution cannot be copied.
"""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.engine.contexts import copy
from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.model import Session, SessionMode, SessionState
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.lifecycle.environment_opener import EnvironmentOpener
from sandbox_runtime.sessions.lifecycle.fork_pool import ForkPool, PreparedFork
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveSession
from sandbox_runtime.workspace.session_files import SessionFiles

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.creator import SessionCreator

MAX_CONCURRENT = 4
MAX_POOLS = 8
"""Sessions for which an environment is kept ready for the next fork."""


class Forker:
    def __init__(
        self, deps: SessionDeps, creator: SessionCreator, environments: EnvironmentOpener, transitions: Transitions
    ) -> None:
        self._deps = deps
        self._creator = creator
        self._environments = environments
        self._transitions = transitions

    async def fork(self, live: LiveSession, count: int, actor: str = "") -> tuple[Session, ...]:
        """Return `count` new sessions. If one fork fails, none is kept."""
        max_forks = self._deps.options.max_forks
        if not 1 <= count <= max_forks:
            raise InvalidRequest(f"a session can be forked 1 to {max_forks} times at once, not {count}")
        async with live.change_lock:
            live.check_running()
            _check_idle(live)
            turn = live.slots.reserve()
            try:
                forks = await self._fork_all(live, count, actor)
            finally:
                live.slots.abandon(turn)
            self._prepare_next(live)
        live.touch()
        return tuple(fork.session for fork in forks)

    async def _fork_all(self, live: LiveSession, count: int, actor: str) -> list[LiveSession]:
        forks: list[LiveSession] = []
        try:
            while len(forks) < count:
                batch = [self._fork_one(live, actor) for _ in range(min(MAX_CONCURRENT, count - len(forks)))]
                results = await asyncio.gather(*batch, return_exceptions=True)
                forks += [result for result in results if isinstance(result, LiveSession)]
                for failure in results:
                    if isinstance(failure, BaseException):
                        raise failure
        except BaseException:
            await asyncio.gather(*(self._undo(fork) for fork in forks))
            raise
        return forks

    async def _fork_one(self, live: LiveSession, actor: str) -> LiveSession:
        originals = _alive_contexts(live)
        prepared = await live.fork_pool.take(len(originals)) if live.fork_pool is not None else None
        prepared = prepared or await self._open(live.session, len(originals))
        environment, session = prepared.environment, _fork_row(live.session)
        try:
            storage.admit(self._deps, session, live.environment.used_bytes())
            pairs = zip(originals, prepared.contexts, strict=True)
            contexts = {original.id: LiveContext(original.id, context, timestamps.now_ms()) for original, context in pairs}
            await asyncio.gather(
                _copy_contexts(live, contexts), SessionFiles(live.environment.files).copy_to(SessionFiles(environment.files))
            )
            if session.mode is SessionMode.persistent:
                await self._deps.snapshots.save(session.id, environment.files, session.owner)
            fork = await self._creator.adopt(session, environment, live.id, actor)
        except BaseException:
            self._deps.registry.release(session.id)
            await environment.close()
            raise
        fork.contexts = contexts
        return fork

    async def _undo(self, fork: LiveSession) -> None:
        await self._transitions.close(fork, "a fork failed")
        self._deps.registry.leave(fork.id)
        await self._deps.store.sessions.delete(fork.id)

    def _prepare_next(self, live: LiveSession) -> None:
        if not live.contexts or live.closing:
            return
        if live.fork_pool is None:
            live.fork_pool = ForkPool(lambda contexts: self._open(live.session, contexts), self._deps.options.fork_pool_idle_s)
        open_sessions = self._deps.registry.open.values()
        waiting = sum(session.fork_pool is not None and session.fork_pool.waiting for session in open_sessions)
        if waiting < MAX_POOLS:
            live.fork_pool.prepare(len(_alive_contexts(live)))

    async def _open(self, session: Session, contexts: int) -> PreparedFork:
        """Open an environment with that many empty contexts."""
        options = self._deps.options
        limits = run_request.build_limits(session.resources, options.max_execution_s, options)
        environment = await self._environments.take_or_open(session)
        try:
            opened = await asyncio.gather(*(environment.open_context(limits, session.env) for _ in range(contexts)))
            for context in opened:
                await context.prepare_for_copy()
        except BaseException:
            await environment.close()
            raise
        return PreparedFork(environment, tuple(opened))


def _check_idle(live: LiveSession) -> None:
    if live.executions:
        raise Conflict(f"the session {live.id!r} has {len(live.executions)} running or waiting executions; wait for them to end")


def _alive_contexts(live: LiveSession) -> list[LiveContext]:
    return [context for context in live.contexts.values() if context.interpreter.alive]


async def _copy_contexts(live: LiveSession, contexts: dict[str, LiveContext]) -> None:
    for context_id, target in contexts.items():
        original = live.contexts[context_id]
        turn = original.slots.reserve()
        try:
            await turn  # another copy of this context may be under way
            await copy(original.interpreter, target.interpreter)
        finally:
            original.slots.abandon(turn)


def _fork_row(session: Session) -> Session:
    now_ms = timestamps.now_ms()
    lifetime_s = session.lifetime_s
    return dataclasses.replace(
        session,
        id=ids.session_id_like(session.id),
        agent="",
        state=SessionState.running,
        box=ids.box_id(),
        created_ms=now_ms,
        updated_ms=now_ms,
        started_ms=now_ms,
        last_activity_ms=now_ms,
        expires_ms=None if lifetime_s is None else now_ms + int(lifetime_s * 1000),
        version=0,
    )
