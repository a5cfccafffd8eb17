"""Live interpreters of sessions: opened, listed, interrupted, started anew, closed. What runs in them are executions."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import NotFound, TooMany
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.registry import LiveContext, LiveSession

_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class ContextView:
    id: str
    session: str
    language: str
    created_ms: int
    executions: int
    busy: bool
    alive: bool
    can_be_copied: bool


class Contexts:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps

    async def open(self, live: LiveSession, actor: str = "") -> ContextView:
        async with live.change_lock:
            live.check_running()
            if len(live.contexts) >= self._deps.options.contexts:
                raise TooMany(f"the session has {len(live.contexts)} contexts; close one first", _RETRY_S)
            context = await self._start(live, ids.context_id())
        live.touch()
        await self._audit(live, actor, "open", context.id)
        return view(live, context)

    def list(self, live: LiveSession) -> tuple[ContextView, ...]:
        return tuple(view(live, context) for context in live.contexts.values())

    def find(self, live: LiveSession, context_id: str) -> LiveContext:
        context = live.contexts.get(context_id)
        if context is None:
            raise NotFound(f"the session {live.id!r} has no context {context_id!r}")
        return context

    def interrupt(self, live: LiveSession, context_id: str) -> ContextView:
        """The cell that runs in it, if there is one; it ends with an error, and the variables stay."""
        context = self.find(live, context_id)
        context.context.interrupt()
        live.touch()
        return view(live, context)

    async def restart(self, live: LiveSession, context_id: str, actor: str = "") -> ContextView:
        """An empty one under the same id. A cell that runs in it ends with the old context."""
        async with live.change_lock:
            context = self.find(live, context_id)
            await live.home.close_context(context.context)
            context = await self._start(live, context_id)
        await self._audit(live, actor, "restart", context_id)
        return view(live, context)

    async def close(self, live: LiveSession, context_id: str, actor: str = "") -> None:
        async with live.change_lock:
            context = self.find(live, context_id)
            del live.contexts[context_id]
            await live.home.close_context(context.context)
        await self._audit(live, actor, "close", context_id)

    async def _audit(self, live: LiveSession, actor: str, action: str, context_id: str) -> None:
        await self._deps.store.audit.add(entry(actor, action, "context", context_id, owner=live.session.owner, session=live.id))

    async def _start(self, live: LiveSession, context_id: str) -> LiveContext:
        options = self._deps.options
        limits = run_request.build_limits(live.session.resources, options.max_execution_s, options)
        context = await live.home.open_context(limits, live.session.env, live.modules)
        live_context = live.contexts[context_id] = LiveContext(context_id, context, timestamps.now_ms())
        return live_context


def view(live: LiveSession, live_context: LiveContext) -> ContextView:
    context = live_context.context
    return ContextView(
        live_context.id,
        live.id,
        "python",
        live_context.created_ms,
        live_context.executions,
        context.busy,
        context.alive,
        context.can_be_copied,
    )
