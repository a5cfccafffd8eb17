"""`Sessions`: create, find, change and end sessions; its attributes hold the other verbs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import Dependency, Session, SessionMode, SessionState
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.api.context_api import ContextApi
from sandbox_runtime.sessions.api.execution_api import ExecutionApi, TerminalApi
from sandbox_runtime.sessions.api.file_api import FileApi
from sandbox_runtime.sessions.api.monitor_api import MonitorApi
from sandbox_runtime.sessions.api.node_api import NodeApi, NodeReports
from sandbox_runtime.sessions.api.template_api import TemplateApi
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.lifecycle import pause
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.maintenance.janitor import Janitor, SweepReport
from sandbox_runtime.sessions.packages.installer import PackageInstaller
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.sessions.specs import SessionSpec
from sandbox_runtime.store import Page, SessionFilter, Store
from sandbox_runtime.workspace.session_files import FileBounds

_SAVE_WITHIN_S = 30.0


class Sessions:
    """Every method of this object and of its attributes takes the `owner` of the key that was used; "" sees everything.

    They raise NotFound for what is missing or of another owner, Conflict for what the state does not allow, and TooMany for
    what exceeds a limit. `max_sessions` lowers the limit of live sessions for one owner.
    """

    def __init__(
        self,
        deps: SessionDeps,
        lifecycle: Lifecycle,
        executor: Executor,
        installer: PackageInstaller,
        janitor: Janitor,
        bounds: FileBounds,
    ) -> None:
        self._deps = deps
        self._lifecycle = lifecycle
        self._executor = executor
        self._installer = installer
        self._janitor = janitor
        self.executions = ExecutionApi(deps, lifecycle, executor)
        self.terminals = TerminalApi(deps, self.executions, executor)
        self.contexts = ContextApi(deps, lifecycle)
        self.files = FileApi(deps, lifecycle, bounds)
        self.monitor = MonitorApi(deps)
        self.templates = TemplateApi(deps.store, lifecycle.templates)
        self.nodes = NodeApi(deps.store, lifecycle.nodes)
        self.node_reports = NodeReports(deps, lifecycle.transitions, executor)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def store(self) -> Store:
        """For API keys and the audit, which the servers read themselves."""
        return self._deps.store

    async def create(self, spec: SessionSpec, owner: str = "", *, max_sessions: int | None = None) -> Session:
        """Create a session. With dependencies it is returned as "creating" and runs, or fails, once they are installed."""
        creator = self._lifecycle.creator
        if not spec.dependencies:
            return (await creator.create(spec, owner, max_sessions=max_sessions))[0]
        template = await self._lifecycle.templates.get(spec.template)
        self._installer.check(spec.dependencies, spec.index_url, template.runtime)
        session, new = await creator.create(spec, owner, hold=True, max_sessions=max_sessions)
        if new:
            self._track(asyncio.create_task(self._install_and_open(self._deps.registry.open[session.id], spec)))
        return session

    async def get(self, session_id: str, owner: str = "") -> Session:
        return await self._deps.find_session(session_id, owner)

    async def list(self, where: SessionFilter | None = None, limit: int = 50, offset: int = 0, owner: str = "") -> Page[Session]:
        where = where or SessionFilter()
        return await self._deps.store.sessions.list(dataclasses.replace(where, owner=owner) if owner else where, limit, offset)

    async def change(
        self,
        session_id: str,
        owner: str = "",
        *,
        env: Mapping[str, str] | None = None,
        about_json: str | None = None,
        lifetime_s: float | None = None,
    ) -> Session:
        """Change a session; None keeps a value. `env` applies to later executions, `lifetime_s` counts from now."""
        changes: dict[str, Any] = {} if env is None else {"env": env}
        if about_json is not None:
            changes["about_json"] = about_json
        if lifetime_s is not None:
            changes |= {"lifetime_s": lifetime_s, "expires_ms": timestamps.now_ms() + int(lifetime_s * 1000)}
        return await self._lifecycle.transitions.update(session_id, owner, owner, **changes)

    async def terminate(self, session_id: str, owner: str = "") -> Session:
        """End a session and keep its row. An ended session is returned unchanged."""
        session = await self._deps.find_session(session_id, owner)
        if session.state.ended:
            return session
        try:
            return await self._lifecycle.transitions.apply(session_id, machine.Terminated(owner), owner)
        except Conflict:
            session = await self._deps.find_session(session_id, owner)
            if not session.state.ended:
                raise
            return session  # a concurrent request ended it first

    async def delete(self, session_id: str, owner: str = "", *, only_ended: bool = False) -> None:
        """End a session and delete its row, executions and files. only_ended: raise Conflict if it is still live."""
        session = await self._deps.find_session(session_id, owner)
        if only_ended and not session.state.ended:
            raise Conflict(f"the session {session_id!r} has not ended")
        ended = session if session.state.ended else await self.terminate(session_id, owner)
        await self._lifecycle.transitions.delete(ended, owner)

    def is_busy(self, session_id: str) -> bool:
        """Whether an execution of the session runs or waits on this server."""
        live = self._deps.registry.open.get(session_id)
        return live is not None and any(not execution.done.done() for execution in live.executions.values())

    async def pause(self, session_id: str, owner: str = "") -> Session:
        """Stop everything in a session, time limits included, until it is resumed. Raises Unavailable if unsupported here."""
        live = await self._lifecycle.live_sessions.get(session_id, owner)
        live.environment.check_pause()
        async with pause.locked(live):
            return await self._lifecycle.transitions.apply(session_id, machine.Paused(), owner)

    async def resume(self, session_id: str, owner: str = "") -> Session:
        """Continue a paused session. Raises TooMany if the machine has no free slots for what ran in it."""
        session = await self._deps.find_session(session_id, owner)
        live = self._deps.registry.open.get(session_id)
        if live is None:
            if session.state is SessionState.paused:
                raise Unavailable(f"the session {session_id!r} is on node {session.node!r}, which another server runs")
            return await self._lifecycle.transitions.apply(session_id, machine.Resumed(), owner)
        async with pause.locked(live), self._executor.slots.reacquire(live):
            return await self._lifecycle.transitions.apply(session_id, machine.Resumed(), owner)

    async def fork(
        self, session_id: str, count: int = 1, owner: str = "", *, max_sessions: int | None = None
    ) -> tuple[Session, ...]:
        """Return `count` copies of a session, or raise and keep none."""
        live = await self._lifecycle.live_sessions.get(session_id, owner)
        self._lifecycle.creator.check_capacity(live.session.owner, max_sessions, count)
        return await self._lifecycle.forker.fork(live, count, owner)

    async def install(
        self,
        session_id: str,
        dependencies: Sequence[Dependency],
        *,
        index_url: str = "",
        timeout_s: float = 300.0,
        sink: Sink | None = None,
        owner: str = "",
    ) -> Session:
        """Install packages into a session. `sink` receives the output of the package client."""
        live = await self._lifecycle.live_sessions.get(session_id, owner)
        storage.check_capacity(self._deps, live)
        return await self._installer.install(live, dependencies, index_url, timeout_s, sink, owner)

    async def sweep(self) -> SweepReport:
        """Do the periodic maintenance now."""
        await self._janitor.beat()
        await self._janitor.supervise()
        return await self._janitor.sweep()

    async def close(self, reason: str) -> None:
        """Stop all executions and close all sessions. Persistent sessions continue on the next server."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(self._shut_down(live, reason) for live in list(self._deps.registry.open.values())))
        await self._janitor.note_activity()
        self._executor.forget_all()

    async def _shut_down(self, live: LiveSession, reason: str) -> None:
        """Close a session, saving what contexts wrote since the last execution. An ephemeral one is lost."""
        if live.session.mode is SessionMode.persistent:
            with contextlib.suppress(SandboxError, TimeoutError):
                async with asyncio.timeout(_SAVE_WITHIN_S):
                    await self._deps.snapshots.save(live.id, live.environment.files, live.session.owner)
        await self._lifecycle.transitions.close(live, reason)
        if live.session.mode is SessionMode.ephemeral:
            with contextlib.suppress(SandboxError):  # if this write fails, the next server does it
                lost = machine.NodeLost("the server was shut down, and its files were lost")
                await self._lifecycle.transitions.apply(live.id, lost)

    async def _install_and_open(self, live: LiveSession, spec: SessionSpec) -> None:
        transitions, owner = self._lifecycle.transitions, live.session.owner
        try:
            await self._installer.install(live, spec.dependencies, spec.index_url, spec.install_timeout_s)
        except SandboxError as error:
            if spec.fail_on_dependency_error:
                await transitions.apply(live.id, machine.OpenFailed(str(error)), owner)
                return
        await transitions.apply(live.id, machine.Opened(), owner)

    def _track(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
