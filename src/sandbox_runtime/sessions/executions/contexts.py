"""Live interpreters of sessions: opened, listed, interrupted, started anew, closed. What runs in them are executions."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import NotFound, TooMany
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import Ground
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
    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def open(self, live: LiveSession, actor: str = "") -> ContextView:
        async with live.guard:
            live.check_running()
            if len(live.contexts) >= self._ground.options.contexts:
                raise TooMany(f"the session has {len(live.contexts)} contexts; close one first", _RETRY_S)
            made = await self._started(live, ids.context_id())
        live.touch()
        await self._note(live, actor, "open", made.id)
        return view(live, made)

    def list(self, live: LiveSession) -> tuple[ContextView, ...]:
        return tuple(view(live, one) for one in live.contexts.values())

    def find(self, live: LiveSession, context_id: str) -> LiveContext:
        found = live.contexts.get(context_id)
        if found is None:
            raise NotFound(f"the session {live.id!r} has no context {context_id!r}")
        return found

    def interrupt(self, live: LiveSession, context_id: str) -> ContextView:
        """The cell that runs in it, if there is one; it ends with an error, and the variables stay."""
        found = self.find(live, context_id)
        found.context.interrupt()
        live.touch()
        return view(live, found)

    async def restart(self, live: LiveSession, context_id: str, actor: str = "") -> ContextView:
        """An empty one under the same id. A cell that runs in it ends with the old one."""
        async with live.guard:
            found = self.find(live, context_id)
            await live.home.close_context(found.context)
            made = await self._started(live, context_id)
        await self._note(live, actor, "restart", context_id)
        return view(live, made)

    async def close(self, live: LiveSession, context_id: str, actor: str = "") -> None:
        async with live.guard:
            found = self.find(live, context_id)
            del live.contexts[context_id]
            await live.home.close_context(found.context)
        await self._note(live, actor, "close", context_id)

    async def _note(self, live: LiveSession, actor: str, action: str, context_id: str) -> None:
        await self._ground.store.audit.add(entry(actor, action, "context", context_id, owner=live.session.owner, session=live.id))

    async def _started(self, live: LiveSession, context_id: str) -> LiveContext:
        options = self._ground.options
        limits = run_request.limits_of(live.session.resources, options.longest_s, options)
        context = await live.home.open_context(limits, live.session.env, live.modules)
        made = live.contexts[context_id] = LiveContext(context_id, context, timestamps.now_ms())
        return made


def view(live: LiveSession, one: LiveContext) -> ContextView:
    context = one.context
    return ContextView(
        one.id, live.id, "python", one.created_ms, one.executions, context.busy, context.alive, context.can_be_copied
    )
