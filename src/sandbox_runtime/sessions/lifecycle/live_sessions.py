"""Live sessions: those whose environments are open on this server. Persistent ones are opened again when they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, Unavailable
from sandbox_runtime.model import Session, SessionMode, SessionState
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.nodes.node import Environment
from sandbox_runtime.sessions.registry import LiveSession, Slots

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.environment_opener import EnvironmentOpener


class LiveSessions:
    def __init__(self, deps: SessionDeps, transitions: Transitions, environments: EnvironmentOpener) -> None:
        self._deps = deps
        self._transitions = transitions
        self._environments = environments

    async def get(self, session_id: str, owner: str = "") -> LiveSession:
        """Return a running session with an open environment; open that of a persistent session if needed.

        Raises NotFound if the session is missing or of another owner, Conflict if it is not running, and Unavailable if it is on
        the node of another server.
        """
        live = self._deps.registry.open.get(session_id)
        if live is None:
            live = await self._reopen(await self._deps.find_session(session_id, owner))
        if owner and live.session.owner != owner:
            raise NotFound(f"there is no session {session_id!r}")
        live.check_running()
        return live

    def add(self, session: Session, environment: Environment) -> LiveSession:
        """Register a session with its open environment."""
        options = self._deps.options
        slots = Slots(options.max_parallel, options.max_queue)
        live = self._deps.registry.open[session.id] = LiveSession(session, environment, slots, active_ms=timestamps.now_ms())
        return live

    async def _reopen(self, session: Session) -> LiveSession:
        if session.state is not SessionState.running:
            raise Conflict(f"the session {session.id!r} is {session.state}, not running")
        if session.node not in self._deps.hosts:
            raise Unavailable(f"the session {session.id!r} is on node {session.node!r}, which another server runs")
        async with self._deps.registry.opening_lock(session.id):
            live = self._deps.registry.open.get(session.id)
            return await self._restore(session) if live is None else live

    async def _restore(self, session: Session) -> LiveSession:
        """Open a persistent session from its snapshot. An ephemeral one is lost with the server that held it."""
        if session.mode is not SessionMode.persistent:
            await self._transitions.apply(session.id, machine.NodeLost("its files were lost: the server that held them ended"))
            raise Conflict(f"the session {session.id!r} is lost: the server that held it ended")
        storage.admit(self._deps, session, self._deps.snapshots.size_bytes(session.id))
        try:
            environment = await self._environments.take_or_open(session)
        except BaseException:
            self._deps.registry.release(session.id)
            raise
        try:
            await self._deps.snapshots.restore(session.id, environment.files)
        except BaseException:
            self._deps.registry.release(session.id)
            await environment.close()
            raise
        self._deps.registry.enter(session.id, session.owner)
        return self.add(session, environment)
