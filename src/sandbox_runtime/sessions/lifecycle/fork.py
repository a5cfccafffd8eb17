"""Forks of a live session: copies of its files and of its interpreters with their state.

Files are copied into a new environment, interpreters are forked into boxes on it, with new random seeds. The original keeps
running. Nothing may execute in it meanwhile, because a half-finished execution cannot be copied.
"""

from __future__ import annotations

import asyncio
import dataclasses

from sandbox_runtime import timestamps
from sandbox_runtime.engine.contexts import copy
from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.model import Session, SessionMode, SessionState
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.lifecycle.fork_pool import Spare, Spot
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle, box_id
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveSession
from sandbox_runtime.workspace.session_files import SessionFiles

MAX_CONCURRENT = 4
MAX_POOLS = 8
"""Sessions for whose next fork a place is kept ready."""


async def fork(deps: SessionDeps, lifecycle: Lifecycle, live: LiveSession, count: int, actor: str = "") -> tuple[Session, ...]:
    """All of them or, where one fails, none."""
    if not 1 <= count <= deps.options.forks:
        raise InvalidRequest(f"a session can be forked 1 to {deps.options.forks} times at once, not {count}")
    async with live.change_lock:
        live.check_running()
        _check_idle(live)
        turn = live.slots.reserve()
        try:
            copies = await _make_copies(deps, lifecycle, live, count, actor)
        finally:
            live.slots.abandon(turn)
        _prepare_next(deps, lifecycle, live)
    live.touch()
    return tuple(copy.session for copy in copies)


def _check_idle(live: LiveSession) -> None:
    if live.executions:
        raise Conflict(f"{len(live.executions)} executions of the session {live.id!r} run or wait; let them end first")


async def _make_copies(deps: SessionDeps, lifecycle: Lifecycle, live: LiveSession, count: int, actor: str) -> list[LiveSession]:
    copies: list[LiveSession] = []
    try:
        while len(copies) < count:
            batch = [_make_copy(deps, lifecycle, live, actor) for _ in range(min(MAX_CONCURRENT, count - len(copies)))]
            results = await asyncio.gather(*batch, return_exceptions=True)
            copies += [session for session in results if isinstance(session, LiveSession)]
            for failure in results:
                if isinstance(failure, BaseException):
                    raise failure
    except BaseException:
        await asyncio.gather(*(_undo(deps, lifecycle, session) for session in copies))
        raise
    return copies


async def _undo(deps: SessionDeps, lifecycle: Lifecycle, copy: LiveSession) -> None:
    await lifecycle.close(copy, "a fork failed")
    deps.registry.leave(copy.id)
    await deps.store.sessions.delete(copy.id)


def _prepare_next(deps: SessionDeps, lifecycle: Lifecycle, live: LiveSession) -> None:
    if not live.contexts or live.closing:
        return
    if live.spare is None:
        live.spare = Spare(lambda contexts: _prepared(deps, lifecycle, live.session, contexts), deps.options.spare_s)
    waiting = sum(session.spare is not None and session.spare.waits for session in deps.registry.open.values())
    if waiting < MAX_POOLS:
        live.spare.prepare(len(_alive_contexts(live)))


async def _make_copy(deps: SessionDeps, lifecycle: Lifecycle, live: LiveSession, actor: str) -> LiveSession:
    alive = _alive_contexts(live)
    prepared = await live.spare.take(len(alive)) if live.spare is not None else None
    prepared = prepared or await _prepared(deps, lifecycle, live.session, len(alive))
    home, session = prepared.home, _copy_row(live.session)
    try:
        storage.admit(deps, session, live.home.used_bytes())
        pairs = zip(alive, prepared.contexts, strict=True)
        contexts = {original.id: LiveContext(original.id, context, timestamps.now_ms()) for original, context in pairs}
        await asyncio.gather(_copy_contexts(live, contexts), SessionFiles(live.home.files).copy_to(SessionFiles(home.files)))
        if session.mode is SessionMode.persistent:
            await deps.snapshots.save(session.id, home.files, session.owner)
        copy_session = await lifecycle.adopt(session, home, live.id, actor)
    except BaseException:
        deps.registry.release(session.id)
        await home.close()
        raise
    copy_session.contexts = contexts
    return copy_session


def _alive_contexts(live: LiveSession) -> list[LiveContext]:
    return [context for context in live.contexts.values() if context.context.alive]


async def _prepared(deps: SessionDeps, lifecycle: Lifecycle, session: Session, contexts: int) -> Spot:
    """A home with an empty context for each of the original's."""
    limits = run_request.build_limits(session.resources, deps.options.max_execution_s, deps.options)
    home = await lifecycle.take_home(session)
    try:
        opened = await asyncio.gather(*(home.open_context(limits, session.env) for _ in range(contexts)))
        for context in opened:
            await context.prepare_for_copy()
    except BaseException:
        await home.close()
        raise
    return Spot(home, tuple(opened))


async def _copy_contexts(live: LiveSession, contexts: dict[str, LiveContext]) -> None:
    for key, target in contexts.items():
        original = live.contexts[key]
        turn = original.slots.reserve()
        try:
            await turn  # another copy of this context may be under way
            await copy(original.context, target.context)
        finally:
            original.slots.abandon(turn)


def _copy_row(session: Session) -> Session:
    now_ms = timestamps.now_ms()
    lifetime_s = session.lifetime_s
    return dataclasses.replace(
        session,
        id=ids.session_id_like(session.id),
        agent="",
        state=SessionState.running,
        box=box_id(),
        created_ms=now_ms,
        updated_ms=now_ms,
        started_ms=now_ms,
        last_activity_ms=now_ms,
        expires_ms=None if lifetime_s is None else now_ms + int(lifetime_s * 1000),
        version=0,
    )
