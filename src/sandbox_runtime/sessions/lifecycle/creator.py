"""Creates sessions: chooses a node, reserves capacity, opens the environment and writes the row.

With an environment from the warm pool a session is created with a single write. Otherwise its row says "creating" while an
environment is opened.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, SandboxError, TooMany
from sandbox_runtime.model import NodeVisit, Resources, Session, SessionMode, SessionState, Template
from sandbox_runtime.sessions import ids, machine
from sandbox_runtime.sessions.audit import session_entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.lifecycle.environment_opener import EnvironmentOpener
from sandbox_runtime.sessions.lifecycle.placement import Placement, PlacementKind, PlacementRequest, choose
from sandbox_runtime.sessions.lifecycle.template_cache import TemplateCache
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.nodes.local_nodes import LocalNodes
from sandbox_runtime.sessions.nodes.node import Environment, NodeHost
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.sessions.specs import SessionSpec
from sandbox_runtime.store import SessionFilter

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.live_sessions import LiveSessions

_RETRY_S = 5.0


class SessionCreator:
    def __init__(
        self,
        deps: SessionDeps,
        templates: TemplateCache,
        nodes: LocalNodes,
        environments: EnvironmentOpener,
        transitions: Transitions,
        live_sessions: LiveSessions,
    ) -> None:
        self._deps = deps
        self._templates = templates
        self._nodes = nodes
        self._environments = environments
        self._transitions = transitions
        self._live_sessions = live_sessions

    async def create(
        self, spec: SessionSpec, owner: str = "", *, hold: bool = False, max_sessions: int | None = None
    ) -> tuple[Session, bool]:
        """Return the session and whether it is new; an agent may get its running persistent session again.

        - hold: a new session stays "creating" until Opened is applied.
        - max_sessions: see `check_capacity`.
        """
        options, started_at = self._deps.options, asyncio.get_running_loop().time()
        template = await self._templates.get(spec.template)
        resources = run_request.resolve_resources(spec.resources, template)
        run_request.check_resources(resources, options)
        network = run_request.resolve_network(spec.network, options)
        kind = self._environments.want(template, spec.mode, resources, network)
        placement = await self._place(spec, owner, template, resources, ready=self._environments.pool.has(kind))
        if placement.kind is PlacementKind.reused:
            live = await self._live_sessions.get(placement.session, owner)
            live.touch()
            return live.session, False
        session = self._new_row(spec, owner, template, resources, self._deps.hosts[placement.node])
        self._admit(session, max_sessions)
        try:
            # The row says "running" a moment before the environment is registered: readers of the row wait for this lock.
            async with self._deps.registry.opening_lock(session.id):
                session = await self._store(session, self._environments.pool.take(kind), hold=hold)
        except BaseException:
            self._deps.registry.leave(session.id)
            raise
        self._record(session, placement.kind, asyncio.get_running_loop().time() - started_at)
        if session.agent:
            await self._deps.store.agents.record_visit(NodeVisit(session.agent, session.node, session.created_ms))
        return session, True

    async def adopt(self, session: Session, environment: Environment, origin: str, actor: str = "") -> LiveSession:
        """Store and register a fork of the session `origin` with its environment."""
        self._admit(session)
        try:
            audit = session_entry(session, "fork", actor, of=origin)
            stored = await self._deps.store.sessions.add(session, by=actor, audit=audit)
        except BaseException:
            self._deps.registry.leave(session.id)
            raise
        self._record(stored, PlacementKind.cold, 0.0)
        return self._live_sessions.add(stored, environment)

    def check_capacity(self, owner: str, max_sessions: int | None = None, count: int = 1) -> None:
        """Raise TooMany if `count` more sessions do not fit. max_sessions: a limit of this owner below that of the options."""
        registry, options = self._deps.registry, self._deps.options
        if registry.count + count > options.max_sessions:
            raise TooMany(f"the server has {registry.count} sessions, its maximum; end one, or try again later", _RETRY_S)
        owned = registry.owned_by(owner)
        allowed = options.max_per_owner if max_sessions is None else min(max_sessions, options.max_per_owner)
        if owned + count > allowed:
            raise TooMany(f"this owner has {owned} of {allowed} sessions; end one first", _RETRY_S)

    async def _place(self, spec: SessionSpec, owner: str, template: Template, resources: Resources, *, ready: bool) -> Placement:
        history: list[str] = []
        running: tuple[Session, ...] = ()
        if spec.agent:
            history = [visit.node for visit in await self._deps.store.agents.visits(spec.agent)]
        if spec.agent and spec.mode is SessionMode.persistent and not (spec.id or spec.require_new):
            running = await self._running_sessions(spec, owner)
        return choose(
            PlacementRequest(
                mode=spec.mode,
                template=template.id,
                resources=resources,
                nodes=self._nodes.current(),
                ready=tuple(self._deps.hosts) if ready else (),
                history=history,
                running=running,
            )
        )

    async def _running_sessions(self, spec: SessionSpec, owner: str) -> tuple[Session, ...]:
        """Return the agent's running sessions that could be reused."""
        where = SessionFilter(agent=spec.agent, owner=owner, states=(SessionState.running,), mode=spec.mode)
        page = await self._deps.store.sessions.list(where, limit=50)
        return tuple(session for session in page.items if spec.network in ("", session.network))

    def _new_row(self, spec: SessionSpec, owner: str, template: Template, resources: Resources, host: NodeHost) -> Session:
        options, now_ms = self._deps.options, timestamps.now_ms()
        lifetime_s = options.lifetime_s if spec.lifetime_s is None else spec.lifetime_s
        return Session(
            id=spec.id or ids.session_id(),
            owner=owner,
            agent=spec.agent,
            template=template.id,
            mode=spec.mode,
            resources=resources,
            env={**template.env, **spec.env},
            timeout_s=template.timeout_s if spec.timeout_s is None else spec.timeout_s,
            idle_timeout_s=options.idle_s if spec.idle_timeout_s is None else spec.idle_timeout_s,
            lifetime_s=lifetime_s,
            runtime=template.runtime,
            backend=host.backend,
            node=host.id,
            workspace="/workspace",
            network=run_request.resolve_network(spec.network, options),
            about_json=spec.about_json,
            created_ms=now_ms,
            last_activity_ms=now_ms,
            expires_ms=None if lifetime_s is None else now_ms + int(lifetime_s * 1000),
        )

    def _admit(self, session: Session, max_sessions: int | None = None) -> None:
        """Reserve capacity and storage. A later failure calls `registry.leave`, so an id in use must be refused here."""
        if session.id in self._deps.registry:
            raise Conflict(f"the session {session.id!r} already exists")
        self.check_capacity(session.owner, max_sessions)
        storage.admit(self._deps, session)
        self._deps.registry.enter(session.id, session.owner)

    async def _store(self, session: Session, environment: Environment | None, *, hold: bool) -> Session:
        """Write the row and register the session, opening an environment if none was ready."""
        store = self._deps.store.sessions
        if environment is None or hold:
            session = await self._insert_creating(session, environment)
            environment = environment or await self._open_environment(session)
            if hold:
                return self._live_sessions.add(session, environment).session
        after, _ = machine.decide(session, machine.Opened(ids.box_id()), timestamps.now_ms())
        try:
            if session.updated_ms:  # the row exists
                stored = await store.update(session, audit=session_entry(after, "opened"), **machine.changes(session, after))
            else:
                stored = await store.add(after, by=session.owner, audit=session_entry(after, "create"))
        except BaseException:
            await environment.close()
            raise
        return self._live_sessions.add(stored, environment).session

    async def _insert_creating(self, session: Session, environment: Environment | None) -> Session:
        try:
            return await self._deps.store.sessions.add(session, by=session.owner, audit=session_entry(session, "create"))
        except BaseException:
            if environment is not None:
                await environment.close()
            raise

    async def _open_environment(self, session: Session) -> Environment:
        try:
            return await self._environments.open(session)
        except SandboxError as error:
            await self._transitions.apply(session.id, machine.OpenFailed(str(error)), session.owner)
            raise

    def _record(self, session: Session, kind: PlacementKind, took_s: float) -> None:
        self._deps.metrics.record_session(session.mode, kind, took_s)
