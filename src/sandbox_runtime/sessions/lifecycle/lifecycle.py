"""How sessions come to be, are found, and end: the loop around the machine.

Every change of state goes one way: read the row, let the machine decide, write the row if nobody else did meanwhile, then carry
out what the decision asks for. A home that stood ready makes a session with a single write; otherwise the row says "creating"
while its home is being opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import secrets
from typing import Any
from weakref import WeakValueDictionary

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError, TooMany, Unavailable
from sandbox_runtime.model import AuditEntry, Node, NodeVisit, PoolSizes, Resources, Session, SessionMode, SessionState, Template
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import ids, machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.lifecycle import pause
from sandbox_runtime.sessions.lifecycle.environment_opener import EnvironmentOpener
from sandbox_runtime.sessions.lifecycle.placement import Placement, PlacementKind, PlacementRequest, choose
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentPool
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.nodes.node import Home, Host
from sandbox_runtime.sessions.registry import LiveSession, Slots
from sandbox_runtime.sessions.specs import SessionSpec
from sandbox_runtime.store import SessionFilter

_DECIDE_TRIES = 5
_RETRY_S = 5.0
_TEMPLATE_KNOWN_S = 2.0
_CLOSE_WITHIN_S = 60.0
SESSION_ENDED = "its session ended"


class Lifecycle:
    def __init__(self, deps: SessionDeps, pool: EnvironmentPool, executions: Executor) -> None:
        self._deps = deps
        self._pool = pool
        self._executions = executions
        self.homes = EnvironmentOpener(deps.hosts)
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Of sessions whose homes are being opened: each is there for as long as somebody holds it or waits for it."""
        self._templates: dict[str, tuple[Template, float]] = {}
        self.nodes: dict[str, Node] = {}
        """The rows of the nodes that this server opens homes on, as the janitor last saw them."""

    async def create(
        self, spec: SessionSpec, owner: str = "", *, hold: bool = False, most: int | None = None
    ) -> tuple[Session, bool]:
        """Return the session and whether it is new.

        hold: it stays "creating" until Opened is applied. most: see check_capacity.
        """
        options, begun = self._deps.options, asyncio.get_running_loop().time()
        template = await self.template(spec.template)
        resources = run_request.resolve_resources(spec.resources, template)
        run_request.check_resources(resources, options)
        network = run_request.resolve_network(spec.network, options)
        kind = self._pool.want(template, spec.mode, resources, self._sizes(template), network)
        place = await self._place(spec, owner, template, resources, ready=self._pool.has(kind))
        if place.kind is PlacementKind.reused:
            live = await self.live(place.session, owner)
            live.touch()
            return live.session, False
        session = self._new(spec, owner, template, resources, self._deps.hosts[place.node])
        self._admit(session, most)
        try:
            # Its row says "running" a moment before its home can be found: whoever reads that row meanwhile waits.
            async with self._turn_of(session.id):
                session = await self._settle(session, self._pool.take(kind), hold=hold)
        except BaseException:
            self._deps.registry.leave(session.id)
            raise
        self._made(session, place.kind, asyncio.get_running_loop().time() - begun)
        if session.agent:
            await self._deps.store.agents.record_visit(NodeVisit(session.agent, session.node, session.created_ms))
        return session, True

    async def warm(self, template: str) -> None:
        """Have homes of this template stand ready for the first who comes."""
        found = await self.template(template)
        for mode in SessionMode:
            self._pool.want(found, mode, found.resources, self._sizes(found), self._deps.options.network)

    def forget_template(self, name: str) -> None:
        """It was changed."""
        self._templates.pop(name, None)

    async def template(self, name: str) -> Template:
        """As it was a moment ago at the most: other servers may change templates too."""
        name, now = name or self._deps.options.template, asyncio.get_running_loop().time()
        template, until = self._templates.get(name, (None, 0.0))
        if template is None or until < now:
            template = await self._deps.store.templates.get(name)
            self._templates[name] = (template, now + _TEMPLATE_KNOWN_S)
        if not template.active:
            raise Conflict(f"the template {template.id!r} is switched off")
        return template

    async def find(self, session_id: str, owner: str = "") -> Session:
        """What its owner may see of it: to everybody else it does not exist."""
        live = self._deps.registry.open.get(session_id)
        session = await self._deps.store.sessions.get(session_id)
        if owner and session.owner != owner:
            raise NotFound(f"there is no session {session_id!r}")
        if live is not None and live.active_ms > (session.last_activity_ms or 0):
            return dataclasses.replace(session, last_activity_ms=live.active_ms)
        return session

    async def live(self, session_id: str, owner: str = "") -> LiveSession:
        """A running session whose home is open here; that of a persistent one is opened where it is not."""
        live = self._deps.registry.open.get(session_id)
        if live is None:
            live = await self._open_again(await self.find(session_id, owner))
        if owner and live.session.owner != owner:
            raise NotFound(f"there is no session {session_id!r}")
        live.check_running()
        return live

    async def apply(self, session_id: str, event: machine.Event, actor: str = "") -> Session:
        """Raises Conflict where the session's state does not allow it."""
        for _ in range(_DECIDE_TRIES):
            before = await self._deps.store.sessions.get(session_id)
            after, effects = machine.decide(before, event, timestamps.now_ms())
            try:
                stored = await self._deps.store.sessions.update(
                    before, by=actor, audit=_told(after, type(event).__name__.lower(), actor), **machine.changes(before, after)
                )
            except Conflict:
                continue
            await self._carry_out(stored, effects)
            return stored
        raise Conflict(f"the session {session_id!r} changes all the time; try again")

    async def change(self, session_id: str, owner: str, actor: str = "", **changes: Any) -> Session:
        """Fields that have no part in its state. Raises Conflict for a session that has ended."""
        for _ in range(_DECIDE_TRIES):
            before = await self.find(session_id, owner)
            if before.state.ended:
                raise Conflict(f"the session {session_id!r} is {before.state}: it changes no more")
            told = entry(actor, "change", "session", session_id, owner=before.owner, fields=sorted(changes))
            try:
                stored = await self._deps.store.sessions.update(before, by=actor, audit=told, **changes)
            except Conflict:
                continue
            live = self._deps.registry.open.get(session_id)
            if live is not None:
                live.session = stored
            return stored
        raise Conflict(f"the session {session_id!r} changes all the time; try again")

    async def adopt(self, session: Session, home: Home, of: str, actor: str = "") -> LiveSession:
        """A copy of another session, with its home."""
        self._admit(session)
        try:
            stored = await self._deps.store.sessions.add(session, by=actor, audit=_told(session, "fork", actor, of=of))
        except BaseException:
            self._deps.registry.leave(session.id)
            raise
        self._made(stored, PlacementKind.cold, 0.0)
        return self._hold(stored, home)

    async def take_home(self, session: Session) -> Home:
        """For a session like this one: one that stands ready, or a new one."""
        with contextlib.suppress(NotFound, Conflict):  # its template may be gone, and homes with it
            template = await self.template(session.template)
            sizes, network = self._sizes(template), session.network or self._deps.options.network
            home = self._pool.take(self._pool.want(template, session.mode, session.resources, sizes, network))
            if home is not None:
                return home
        return await self.homes.open(session)

    async def close(self, live: LiveSession, reason: str) -> None:
        """End whatever runs in it, and its home. Bounded: a home that does not close is told in the log."""
        live.closing = True
        try:
            async with asyncio.timeout(_CLOSE_WITHIN_S):
                await self._executions.stop_all(live, reason)
                if live.spare is not None:
                    await live.spare.close()
                await live.home.close()
                self._deps.registry.release(live.id)
        except (TimeoutError, SandboxError, OSError) as error:
            self._deps.log.error("a session could not be closed", session=live.id, reason=str(error) or "it took too long")

    async def drop(self, live: LiveSession, reason: str) -> None:
        """Its home, and not the session: whoever uses that next opens it again."""
        await self.close(live, reason)
        if self._deps.registry.open.get(live.id) is live:
            del self._deps.registry.open[live.id]

    async def release_ended(self, live: LiveSession) -> None:
        """One that somebody else ended."""
        await self.close(live, SESSION_ENDED)
        self._release(live.id, live)

    async def forget(self, ended: Session, actor: str = "") -> None:
        """Nothing of it stays, and its name is free afterwards. Somebody else may have forgotten it meanwhile, and the name may
        be that of a new session by now: that one stays, and this is a Conflict."""
        await self._until_gone(ended)
        async with self._turn_of(ended.id):
            if ended.mode is SessionMode.persistent:
                if (await self._deps.store.sessions.get(ended.id)).created_ms != ended.created_ms:
                    raise Conflict(f"the session {ended.id!r} is another one by now")
                await self._deps.snapshots.drop(ended.id)
            await self._deps.store.sessions.delete_unchanged(ended, audit=_told(ended, "delete", actor))

    def node_rows(self) -> list[Node]:
        """The nodes as they are now: what is counted here is known better than the rows say."""
        rows = []
        for key, host in self._deps.hosts.items():
            if key in self.nodes:
                cpu, memory = host.usage()
                rows.append(dataclasses.replace(self.nodes[key], cpu_usage=cpu, memory_usage=memory, **self.allocated(key)))
        return rows

    def allocated(self, node: str) -> dict[str, Any]:
        """Of sessions whose homes are open; the row of each promises what it may use."""
        resources = [live.session.resources for live in self._deps.registry.open.values() if live.session.node == node]
        return {
            "boxes": self._deps.registry.count,
            "allocated_cpu_cores": round(sum(one.cpu_cores for one in resources), 1),
            "allocated_memory_mb": sum(one.memory_bytes for one in resources) // MIB,
        }

    def _sizes(self, template: Template) -> PoolSizes:
        options = self._deps.options
        own = template.pool
        chosen = own if own.ephemeral or own.persistent or own.minimum else options.pool
        return options.pools.get(template.id, chosen)

    async def _place(self, spec: SessionSpec, owner: str, template: Template, resources: Resources, *, ready: bool) -> Placement:
        store = self._deps.store
        history: list[str] = []
        running: tuple[Session, ...] = ()
        if spec.agent:
            history = [visit.node for visit in await store.agents.visits(spec.agent)]
        if spec.agent and spec.mode is SessionMode.persistent and not (spec.id or spec.require_new):
            wanted = SessionFilter(agent=spec.agent, owner=owner, states=(SessionState.running,), mode=spec.mode)
            found = (await store.sessions.list(wanted, limit=50)).items
            running = tuple(one for one in found if spec.network in ("", one.network))
        return choose(
            PlacementRequest(
                mode=spec.mode,
                template=template.id,
                resources=resources,
                nodes=self.node_rows(),
                ready=tuple(self._deps.hosts) if ready else (),
                history=history,
                running=running,
            )
        )

    def _new(self, spec: SessionSpec, owner: str, template: Template, resources: Resources, host: Host) -> Session:
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

    def check_capacity(self, owner: str, most: int | None = None, count: int = 1) -> None:
        """For so many sessions more. most: a bound for this owner that is narrower than everybody's."""
        registry, options = self._deps.registry, self._deps.options
        if registry.count + count > options.max_sessions:
            raise TooMany(f"there are {registry.count} sessions already; end one, or try again later", _RETRY_S)
        owned, allowed = registry.owned_by(owner), options.max_per_owner if most is None else min(most, options.max_per_owner)
        if owned + count > allowed:
            raise TooMany(f"{owned} sessions of this owner run already, of {allowed}; end one first", _RETRY_S)

    def _admit(self, session: Session, most: int | None = None) -> None:
        """Whoever fails later leaves the directory again: a name that somebody has must not get that far."""
        if session.id in self._deps.registry:
            raise Conflict(f"the session {session.id!r} exists already")
        self.check_capacity(session.owner, most)
        storage.admit(self._deps, session)
        self._deps.registry.enter(session.id, session.owner)

    async def _settle(self, session: Session, home: Home | None, *, hold: bool) -> Session:
        """With a home at hand one write is enough."""
        store = self._deps.store.sessions
        if home is None or hold:
            session = await self._add(session, home)
            home = home or await self._open_home(session)
            if hold:
                return self._hold(session, home).session
        after, _ = machine.decide(session, machine.Opened(box_id()), timestamps.now_ms())
        try:
            if session.updated_ms:  # it was written before
                stored = await store.update(session, audit=_told(after, "opened"), **machine.changes(session, after))
            else:
                stored = await store.add(after, by=session.owner, audit=_told(after, "create"))
        except BaseException:
            await home.close()
            raise
        return self._hold(stored, home).session

    async def _add(self, session: Session, home: Home | None) -> Session:
        try:
            return await self._deps.store.sessions.add(session, by=session.owner, audit=_told(session, "create"))
        except BaseException:
            if home is not None:
                await home.close()
            raise

    async def _open_home(self, session: Session) -> Home:
        try:
            return await self.homes.open(session)
        except SandboxError as error:
            await self.apply(session.id, machine.OpenFailed(str(error)), session.owner)
            raise

    def _hold(self, session: Session, home: Home) -> LiveSession:
        options = self._deps.options
        live = LiveSession(session, home, Slots(options.max_parallel, options.queue), active_ms=timestamps.now_ms())
        self._deps.registry.open[session.id] = live
        return live

    def _made(self, session: Session, way: PlacementKind, took_s: float) -> None:
        self._deps.metrics.record_session(session.mode, way, took_s)

    async def _open_again(self, session: Session) -> LiveSession:
        """One that outlived the server that held it."""
        if session.state is not SessionState.running:
            raise Conflict(f"the session {session.id!r} is {session.state}, not running")
        if session.node not in self._deps.hosts:
            raise Unavailable(f"the session {session.id!r} is on node {session.node!r}, which another server holds")
        async with self._turn_of(session.id):
            live = self._deps.registry.open.get(session.id)
            return await self._reopened(session) if live is None else live

    def _turn_of(self, session_id: str) -> asyncio.Lock:
        return self._opening.setdefault(session_id, asyncio.Lock())

    async def _reopened(self, session: Session) -> LiveSession:
        if session.mode is not SessionMode.persistent:
            await self.apply(session.id, machine.Lost("its files are gone: the server that held them ended"))
            raise Conflict(f"the session {session.id!r} is lost: the server that held it ended")
        storage.admit(self._deps, session, self._deps.snapshots.size_bytes(session.id))
        try:
            home = await self.take_home(session)
        except BaseException:
            self._deps.registry.release(session.id)
            raise
        try:
            await self._deps.snapshots.restore(session.id, home.files)
        except BaseException:
            self._deps.registry.release(session.id)
            await home.close()
            raise
        self._deps.registry.enter(session.id, session.owner)
        return self._hold(session, home)

    async def _carry_out(self, session: Session, effects: tuple[machine.Effect, ...]) -> None:
        live = self._deps.registry.open.get(session.id)
        if live is not None:
            live.session = session
            await self._halt_or_go_on(live, effects)
        if machine.Effect.close in effects:
            if live is not None:
                await self.close(live, SESSION_ENDED)
            self._deps.metrics.record_session_end(session.state)
        if machine.Effect.release in effects:
            self._release(session.id, live)

    async def _halt_or_go_on(self, live: LiveSession, effects: tuple[machine.Effect, ...]) -> None:
        if machine.Effect.halt in effects:
            try:
                await pause.suspend(live, self._executions.slots)
            except BaseException:
                await self.apply(live.id, machine.Resumed(), "platform")
                raise
        if machine.Effect.go_on in effects:
            pause.resume(live)

    def _release(self, session_id: str, live: LiveSession | None) -> None:
        """Its place. Another session may have its name by now, where two let go of the same one at once."""
        if self._deps.registry.open.get(session_id) is live:
            self._deps.registry.leave(session_id)
            self._deps.snapshots.forget(session_id)

    async def _until_gone(self, ended: Session) -> None:
        """The row of a session says that it has ended a moment before everything in it has."""
        live = self._deps.registry.open.get(ended.id)
        if live is not None and live.session.created_ms == ended.created_ms:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_WITHIN_S):
                    await live.removed.wait()


def _told(session: Session, action: str, actor: str | None = None, **details: str) -> AuditEntry:
    facts = {"state": session.state, "template": session.template, "mode": session.mode, **details}
    return entry(session.owner if actor is None else actor, action, "session", session.id, owner=session.owner, **facts)


def box_id() -> str:
    return f"box_{secrets.token_hex(8)}"
