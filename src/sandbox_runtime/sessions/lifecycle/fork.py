"""Copies of a live session: its files, its interpreters with everything in them, and nothing of what it does from then on.

Files are copied into a home of their own, interpreters are forked into boxes on it, where their random numbers begin anew. The
original goes on; what runs in it at that moment would be copied half way, so there must be nothing.
"""

from __future__ import annotations

import asyncio
import dataclasses

from sandbox_runtime import timestamps
from sandbox_runtime.engine.contexts import copy
from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.model import Session, SessionMode, SessionState
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.lifecycle.fork_pool import Spare, Spot
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle, box_id
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveSession
from sandbox_runtime.workspace.session_files import SessionFiles

AT_ONCE = 4
MOST_SPARES = 8
"""Sessions for whose next fork a place is kept ready."""


async def fork(ground: Ground, lifecycle: Lifecycle, live: LiveSession, count: int, actor: str = "") -> tuple[Session, ...]:
    """All of them or, where one fails, none."""
    if not 1 <= count <= ground.options.forks:
        raise InvalidRequest(f"a session can be forked 1 to {ground.options.forks} times at once, not {count}")
    async with live.guard:
        live.check_running()
        _refuse_where_busy(live)
        turn = live.slots.reserve()
        try:
            made = await _copies(ground, lifecycle, live, count, actor)
        finally:
            live.slots.abandon(turn)
        _prepare_next(ground, lifecycle, live)
    live.touch()
    return tuple(one.session for one in made)


def _refuse_where_busy(live: LiveSession) -> None:
    if live.executions:
        raise Conflict(f"{len(live.executions)} executions of the session {live.id!r} run or wait; let them end first")


async def _copies(ground: Ground, lifecycle: Lifecycle, live: LiveSession, count: int, actor: str) -> list[LiveSession]:
    made: list[LiveSession] = []
    try:
        while len(made) < count:
            batch = [_one(ground, lifecycle, live, actor) for _ in range(min(AT_ONCE, count - len(made)))]
            results = await asyncio.gather(*batch, return_exceptions=True)
            made += [one for one in results if isinstance(one, LiveSession)]
            for failure in results:
                if isinstance(failure, BaseException):
                    raise failure
    except BaseException:
        await asyncio.gather(*(_undo(ground, lifecycle, one) for one in made))
        raise
    return made


async def _undo(ground: Ground, lifecycle: Lifecycle, one: LiveSession) -> None:
    await lifecycle.close(one, "a fork failed")
    ground.directory.leave(one.id)
    await ground.store.sessions.delete(one.id)


def _prepare_next(ground: Ground, lifecycle: Lifecycle, live: LiveSession) -> None:
    if not live.contexts or live.ending:
        return
    if live.spare is None:
        live.spare = Spare(lambda contexts: _spot(ground, lifecycle, live.session, contexts), ground.options.spare_s)
    waiting = sum(one.spare is not None and one.spare.waits for one in ground.directory.open.values())
    if waiting < MOST_SPARES:
        live.spare.prepare(len(_alive(live)))


async def _one(ground: Ground, lifecycle: Lifecycle, live: LiveSession, actor: str) -> LiveSession:
    alive = _alive(live)
    spot = await live.spare.take(len(alive)) if live.spare is not None else None
    spot = spot or await _spot(ground, lifecycle, live.session, len(alive))
    home, session = spot.home, _row(live.session)
    try:
        storage.admit(ground, session, live.home.used_bytes())
        made = zip(alive, spot.contexts, strict=True)
        contexts = {one.id: LiveContext(one.id, context, timestamps.now_ms()) for one, context in made}
        await asyncio.gather(_continued(live, contexts), SessionFiles(live.home.files).copy_to(SessionFiles(home.files)))
        if session.mode is SessionMode.persistent:
            await ground.snapshots.save(session.id, home.files, session.owner)
        copied = await lifecycle.adopt(session, home, live.id, actor)
    except BaseException:
        ground.directory.release(session.id)
        await home.close()
        raise
    copied.contexts = contexts
    return copied


def _alive(live: LiveSession) -> list[LiveContext]:
    return [one for one in live.contexts.values() if one.context.alive]


async def _spot(ground: Ground, lifecycle: Lifecycle, session: Session, contexts: int) -> Spot:
    """A home with an empty context for each of the original's."""
    limits = run_request.limits_of(session.resources, ground.options.longest_s, ground.options)
    home = await lifecycle.take_home(session)
    try:
        opened = await asyncio.gather(*(home.open_context(limits, session.env) for _ in range(contexts)))
        for context in opened:
            await context.expect_copy()
    except BaseException:
        await home.close()
        raise
    return Spot(home, tuple(opened))


async def _continued(live: LiveSession, contexts: dict[str, LiveContext]) -> None:
    for key, target in contexts.items():
        original = live.contexts[key]
        turn = original.slots.reserve()
        try:
            await turn  # another copy of the same is being made
            await copy(original.context, target.context)
        finally:
            original.slots.abandon(turn)


def _row(session: Session) -> Session:
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
