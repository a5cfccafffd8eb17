"""Contexts: the live interpreters of a session. Code runs in one as an execution of the kind cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import NotFound, TooMany
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.registry import LiveContext, LiveSession

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class ContextView:
    id: str
    session: str
    language: str
    created_ms: int
    executions: int
    """Executions started in it so far."""
    busy: bool
    alive: bool
    can_be_copied: bool


class ContextApi:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle) -> None:
        self._deps = deps
        self._live_sessions = lifecycle.live_sessions

    async def open(self, session_id: str, owner: str = "") -> ContextView:
        """Start an interpreter. Raises TooMany if the session has as many as allowed."""
        live = await self._live_sessions.get(session_id, owner)
        async with live.change_lock:
            live.check_running()
            if len(live.contexts) >= self._deps.options.max_contexts:
                raise TooMany(f"the session has {len(live.contexts)} contexts; close one first", _RETRY_S)
            context = await self._start(live, ids.context_id())
        live.touch()
        await self._audit(live, owner, "open", context.id)
        return _view(live, context)

    async def list(self, session_id: str, owner: str = "") -> tuple[ContextView, ...]:
        live = await self._live_sessions.get(session_id, owner)
        return tuple(_view(live, context) for context in live.contexts.values())

    async def interrupt(self, session_id: str, context_id: str, owner: str = "") -> ContextView:
        """Interrupt the running cell, if any: it ends with an error, and the variables stay."""
        live = await self._live_sessions.get(session_id, owner)
        context = _find(live, context_id)
        context.interpreter.interrupt()
        live.touch()
        return _view(live, context)

    async def restart(self, session_id: str, context_id: str, owner: str = "") -> ContextView:
        """Replace the interpreter by an empty one under the same id. A running cell ends with the old one."""
        live = await self._live_sessions.get(session_id, owner)
        async with live.change_lock:
            await live.environment.close_context(_find(live, context_id).interpreter)
            context = await self._start(live, context_id)
        await self._audit(live, owner, "restart", context_id)
        return _view(live, context)

    async def close(self, session_id: str, context_id: str, owner: str = "") -> None:
        live = await self._live_sessions.get(session_id, owner)
        async with live.change_lock:
            context = _find(live, context_id)
            del live.contexts[context_id]
            await live.environment.close_context(context.interpreter)
        await self._audit(live, owner, "close", context_id)

    async def _start(self, live: LiveSession, context_id: str) -> LiveContext:
        options = self._deps.options
        limits = run_request.build_limits(live.session.resources, options.max_execution_s, options)
        interpreter = await live.environment.open_context(limits, live.session.env, live.modules)
        context = live.contexts[context_id] = LiveContext(context_id, interpreter, timestamps.now_ms())
        return context

    async def _audit(self, live: LiveSession, actor: str, action: str, context_id: str) -> None:
        await self._deps.store.audit.add(entry(actor, action, "context", context_id, owner=live.session.owner, session=live.id))


def _find(live: LiveSession, context_id: str) -> LiveContext:
    context = live.contexts.get(context_id)
    if context is None:
        raise NotFound(f"the session {live.id!r} has no context {context_id!r}")
    return context


def _view(live: LiveSession, context: LiveContext) -> ContextView:
    return ContextView(
        id=context.id,
        session=live.id,
        language="python",
        created_ms=context.created_ms,
        executions=context.executions,
        busy=context.interpreter.busy,
        alive=context.interpreter.alive,
        can_be_copied=context.interpreter.can_be_copied,
    )
