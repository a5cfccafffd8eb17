"""The verbs, each thin: whoever stands at a door calls these and nothing else of this room."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.engine.terminals import Size, Terminal
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import (
    Artifact,
    AuditEntry,
    BoxRecord,
    BoxState,
    Dependency,
    Execution,
    FileRecord,
    MetricSample,
    Session,
    SessionMode,
    SessionState,
    SessionUsage,
    StorageKind,
)
from sandbox_runtime.model.health import Health
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import output as streams
from sandbox_runtime.sessions.executions.contexts import Contexts, ContextView
from sandbox_runtime.sessions.executions.executor import CANCELLED, Executor
from sandbox_runtime.sessions.executions.output import OutputPiece
from sandbox_runtime.sessions.executions.usage import absolute_path
from sandbox_runtime.sessions.lifecycle import fork as forking
from sandbox_runtime.sessions.lifecycle import pause as pausing
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.maintenance import health, storage
from sandbox_runtime.sessions.maintenance.janitor import Janitor, SweepReport
from sandbox_runtime.sessions.nodes.api import Nodes
from sandbox_runtime.sessions.nodes.reports import Reports
from sandbox_runtime.sessions.packages.installer import PackageInstaller
from sandbox_runtime.sessions.registry import LiveExecution, LiveSession
from sandbox_runtime.sessions.specs import ExecutionSpec, SessionSpec
from sandbox_runtime.sessions.templates import Templates
from sandbox_runtime.store import (
    ArtifactFilter,
    AuditFilter,
    ExecutionFilter,
    Page,
    SessionFilter,
    Store,
)
from sandbox_runtime.workspace.ledger import Charge
from sandbox_runtime.workspace.session_files import FileBounds, SessionFiles

_BOX_STATES = {
    SessionState.creating: BoxState.created,
    SessionState.running: BoxState.running,
    SessionState.paused: BoxState.paused,
}
_MAX_ARTIFACTS = 1000
_SAVE_WITHIN_S = 30.0
MAX_WAIT_S = 3600.0


class Sessions:
    """owner: whose key asked; "" where keys are off, and sees everything. Every verb raises NotFound for what is not there or is
    somebody else's, Conflict for what does not fit the state, TooMany for what is over a bound."""

    def __init__(
        self,
        deps: SessionDeps,
        lifecycle: Lifecycle,
        executions: Executor,
        contexts: Contexts,
        dependencies: PackageInstaller,
        janitor: Janitor,
        bounds: FileBounds,
    ) -> None:
        self._deps = deps
        self._store = deps.store
        self._lifecycle = lifecycle
        self._executions = executions
        self._contexts = contexts
        self._dependencies = dependencies
        self._janitor = janitor
        self._bounds = bounds
        self.templates = Templates(deps.store, lifecycle)
        self.nodes = Nodes(deps.store, lifecycle)
        self.reports = Reports(deps, lifecycle, executions)
        """What nodes elsewhere tell."""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def store(self) -> Store:
        """Keys and the audit are for the doors themselves."""
        return self._store

    # Sessions. most: how many its owner may have that have not ended, where that is less than the settings say.

    async def create(self, spec: SessionSpec, owner: str = "", *, most: int | None = None) -> Session:
        """With packages to install it comes back as "creating" and is running, or has failed, when they are there."""
        if not spec.dependencies:
            return (await self._lifecycle.create(spec, owner, most=most))[0]
        template = await self._lifecycle.template(spec.template)
        self._dependencies.check(spec.dependencies, spec.index_url, template.runtime)
        session, new = await self._lifecycle.create(spec, owner, hold=True, most=most)
        if new:
            self._keep(asyncio.create_task(self._furnish(self._deps.registry.open[session.id], spec)))
        return session

    async def get(self, session_id: str, owner: str = "") -> Session:
        return await self._lifecycle.find(session_id, owner)

    async def list(self, wanted: SessionFilter | None = None, limit: int = 50, offset: int = 0, owner: str = "") -> Page[Session]:
        wanted = wanted or SessionFilter()
        return await self._store.sessions.list(dataclasses.replace(wanted, owner=owner) if owner else wanted, limit, offset)

    async def terminate(self, session_id: str, owner: str = "") -> Session:
        """Ends it; its row stays. One that has ended is left as it is."""
        session = await self._lifecycle.find(session_id, owner)
        if session.state.ended:
            return session
        try:
            return await self._lifecycle.apply(session_id, machine.Terminated(owner), owner)
        except Conflict:
            session = await self._lifecycle.find(session_id, owner)
            if not session.state.ended:
                raise
            return session  # somebody else was quicker

    async def delete(self, session_id: str, owner: str = "", *, only_ended: bool = False) -> None:
        """Ends it; nothing of it stays: row, executions, files. only_ended: Conflict where it has not ended by itself."""
        session = await self._lifecycle.find(session_id, owner)
        if only_ended and not session.state.ended:
            raise Conflict(f"the session {session_id!r} has not ended")
        await self._lifecycle.forget(session if session.state.ended else await self.terminate(session_id, owner), owner)

    async def change(
        self,
        session_id: str,
        owner: str = "",
        *,
        env: Mapping[str, str] | None = None,
        about_json: str | None = None,
        lifetime_s: float | None = None,
    ) -> Session:
        """What is None stays as it is. env: of what is run from now on. lifetime_s: from now on."""
        changes: dict[str, Any] = {} if env is None else {"env": env}
        if about_json is not None:
            changes["about_json"] = about_json
        if lifetime_s is not None:
            changes |= {"lifetime_s": lifetime_s, "expires_ms": timestamps.now_ms() + int(lifetime_s * 1000)}
        return await self._lifecycle.change(session_id, owner, owner, **changes)

    def at_work(self, session_id: str) -> bool:
        """Whether something runs in it, or waits for its turn, on this server."""
        live = self._deps.registry.open.get(session_id)
        return live is not None and any(not one.done.done() for one in live.executions.values())

    async def finish(self, session_id: str, exit_code: int = 0, reason: str = "normal") -> Session:
        """Its place ended by itself, as nodes elsewhere report."""
        return await self._lifecycle.apply(session_id, machine.Finished(exit_code, reason), "node")

    async def pause(self, session_id: str, owner: str = "") -> Session:
        """Everything in it stands still until it is resumed; time limits too. Raises Unavailable where that cannot be done."""
        live = await self._lifecycle.live(session_id, owner)
        live.home.check_pause()
        async with pausing.locked(live):
            return await self._lifecycle.apply(session_id, machine.Paused(), owner)

    async def resume(self, session_id: str, owner: str = "") -> Session:
        """Raises TooMany where the machine has no room for what ran in it."""
        session = await self._lifecycle.find(session_id, owner)
        live = self._deps.registry.open.get(session_id)
        if live is None:
            if session.state is SessionState.paused:
                raise Unavailable(f"the session {session_id!r} is on node {session.node!r}, which another server holds")
            return await self._lifecycle.apply(session_id, machine.Resumed(), owner)
        async with pausing.locked(live), self._executions.slots.reacquire(live):
            return await self._lifecycle.apply(session_id, machine.Resumed(), owner)

    async def fork(self, session_id: str, count: int = 1, owner: str = "", *, most: int | None = None) -> tuple[Session, ...]:
        live = await self._lifecycle.live(session_id, owner)
        self._lifecycle.check_capacity(live.session.owner, most, count)
        return await forking.fork(self._deps, self._lifecycle, live, count, owner)

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
        live = await self._lifecycle.live(session_id, owner)
        storage.check_capacity(self._deps, live)
        return await self._dependencies.install(live, dependencies, index_url, timeout_s, sink, owner)

    # Executions.

    async def submit(self, session_id: str, spec: ExecutionSpec, owner: str = "") -> Execution:
        """Written down and on its way."""
        found = await self._submit(session_id, spec, owner)
        return found.row if isinstance(found, LiveExecution) else found

    async def execute(self, session_id: str, spec: ExecutionSpec, *, wait_s: float = MAX_WAIT_S, owner: str = "") -> Execution:
        """Its end, or how it stands after wait_s: then it goes on, and execution() tells more."""
        live = await self._lifecycle.live(session_id, owner)
        found = await self._executions.start(live, spec, owner)
        return await self._executions.wait(found, wait_s) if isinstance(found, LiveExecution) else found

    async def execution(self, execution_id: str, owner: str = "") -> Execution:
        execution = await self._store.executions.get(execution_id)
        if owner:
            await self._check_owner(execution, owner)
        return execution

    async def _check_owner(self, execution: Execution, owner: str) -> None:
        """Raise NotFound for an execution of another owner, with the words for one that does not exist."""
        try:
            await self._lifecycle.find(execution.session, owner)
        except NotFound:
            raise NotFound(f"there is no execution {execution.id!r}") from None

    async def wait(self, execution_id: str, wait_s: float, owner: str = "") -> Execution:
        execution = await self.execution(execution_id, owner)
        one = self._executions.find(execution_id)
        return execution if one is None or execution.state.ended else await self._executions.wait(one, wait_s)

    async def executions(self, wanted: ExecutionFilter, limit: int = 50, offset: int = 0, owner: str = "") -> Page[Execution]:
        """Of one session: a filter that names none is for whoever sees everything."""
        if wanted.session is not None:
            await self._lifecycle.find(wanted.session, owner)
        elif owner:
            raise InvalidRequest("executions are listed for one session: name it")
        return await self._store.executions.list(wanted, limit, offset)

    async def latest(self, session_id: str, owner: str = "") -> Execution:
        await self._lifecycle.find(session_id, owner)
        found = await self._store.executions.latest(session_id)
        if found is None:
            raise NotFound(f"nothing was executed in the session {session_id!r} yet")
        return found

    async def artifacts(self, execution_id: str, owner: str = "") -> tuple[Artifact, ...]:
        return await self.artifacts_of(await self.execution(execution_id, owner))

    async def artifacts_of(self, execution: Execution) -> tuple[Artifact, ...]:
        """Of one that was found: whose it is has been looked at. By their paths."""
        one = self._executions.find(execution.id)
        if one is not None and one.done.done():
            return one.artifacts
        found = await self._store.artifacts.list(ArtifactFilter(execution=execution.id), limit=_MAX_ARTIFACTS)
        return tuple(sorted(found.items, key=lambda artifact: artifact.path))

    async def cancel(self, execution_id: str, owner: str = "") -> Execution:
        """Returns when it has ended, however it did."""
        await self.execution(execution_id, owner)
        await self._executions.cancel(execution_id, CANCELLED)
        await self._store.audit.add(entry(owner, "cancel", "execution", execution_id))
        return await self._store.executions.get(execution_id)

    async def output(
        self, execution_id: str, stream: str = "both", offset: int = 0, owner: str = ""
    ) -> AsyncIterator[OutputPiece]:
        """From that byte on, until it has ended. stream: stdout, stderr or both."""
        async for piece in self.follow(execution_id, streams.parse_offsets(stream, offset), owner):
            yield piece

    async def follow(self, execution_id: str, offsets: dict[str, int], owner: str = "") -> AsyncIterator[OutputPiece]:
        """As output, with an offset of its own for each stream that is wanted."""
        execution = await self.execution(execution_id, owner)
        one = self._executions.find(execution_id)
        if one is not None:
            async for piece in one.output.follow(offsets):
                yield piece
            return
        for piece in streams.stored_pieces(execution, offsets):
            yield piece

    # Terminals. What appears on one is the output of its execution.

    async def type_in(self, execution_id: str, keys: bytes, owner: str = "") -> None:
        await (await self._terminal(execution_id, owner)).send_keys(keys)

    async def resize(self, execution_id: str, size: Size, owner: str = "") -> None:
        await (await self._terminal(execution_id, owner)).resize(size)

    # Contexts. What runs in one is an execution of the kind cell.

    async def open_context(self, session_id: str, owner: str = "") -> ContextView:
        return await self._contexts.open(await self._lifecycle.live(session_id, owner), owner)

    async def contexts(self, session_id: str, owner: str = "") -> tuple[ContextView, ...]:
        return self._contexts.list(await self._lifecycle.live(session_id, owner))

    async def interrupt(self, session_id: str, context_id: str, owner: str = "") -> ContextView:
        return self._contexts.interrupt(await self._lifecycle.live(session_id, owner), context_id)

    async def restart_context(self, session_id: str, context_id: str, owner: str = "") -> ContextView:
        return await self._contexts.restart(await self._lifecycle.live(session_id, owner), context_id, owner)

    async def close_context(self, session_id: str, context_id: str, owner: str = "") -> None:
        await self._contexts.close(await self._lifecycle.live(session_id, owner), context_id, owner)

    # Files.

    async def files(self, session_id: str, owner: str = "") -> SessionFiles:
        """Whoever changes some of a persistent session calls saved() afterwards."""
        live = await self._lifecycle.live(session_id, owner)
        live.touch()
        quota = _SessionQuota(self._deps, live)
        return SessionFiles(live.home.files, self._bounds, observer=self._deps.recorder.file_recorder(session_id), quota=quota)

    async def files_digest(self, session_id: str, owner: str = "") -> str:
        """The same digest, the same files: names, modes and bytes of all that its programs can write. Raises InvalidRequest
        where that is more than is looked at."""
        live = await self._lifecycle.live(session_id, owner)
        async with live.digest_lock:
            return await SessionFiles(live.home.files, self._bounds).digest(live.digests)

    async def saved(self, session_id: str, owner: str = "") -> None:
        """Files were changed from outside: a persistent session keeps them."""
        live = await self._lifecycle.live(session_id, owner)
        if live.session.mode is SessionMode.persistent:
            await self._deps.snapshots.save(session_id, live.home.files, live.session.owner)
        await self._store.audit.add(entry(owner, "change files", "session", session_id, owner=live.session.owner))

    # Figures. What has gathered on the way to the store is written first, so that whoever asks misses nothing.

    async def usage(self, session_id: str, owner: str = "") -> SessionUsage:
        """What it used in all."""
        await self._lifecycle.find(session_id, owner)
        await self._deps.recorder.write()
        return await self._store.sessions.get_usage(session_id)

    async def samples(
        self, session_id: str, owner: str = "", *, name: str | None = None, since_ms: int = 0
    ) -> tuple[MetricSample, ...]:
        """What was measured, in the order of time: the older, the more time one sample stands for."""
        await self._lifecycle.find(session_id, owner)
        await self._deps.recorder.write()
        return await self._store.samples.list(session_id, name=name, since_ms=since_ms)

    async def file_versions(self, session_id: str, name: str, owner: str = "") -> tuple[FileRecord, ...]:
        """Of a file that was sent in, the newest first; none of one that a program made."""
        await self._lifecycle.find(session_id, owner)
        await self._deps.recorder.write()
        return await self._store.files.versions(session_id, absolute_path(name))

    async def sent_files(self, session_id: str, owner: str = "", limit: int = 1000, offset: int = 0) -> Page[FileRecord]:
        """Those that were sent in and not deleted since."""
        await self._lifecycle.find(session_id, owner)
        await self._deps.recorder.write()
        return await self._store.files.list(session_id, limit, offset)

    # Boxes, health, upkeep.

    async def boxes(
        self, wanted: SessionFilter | None = None, limit: int = 50, offset: int = 0, owner: str = ""
    ) -> Page[BoxRecord]:
        """Each session has one, for as long as it lives and is remembered."""
        page = await self.list(wanted, limit, offset, owner)
        return Page(tuple(box_record(session) for session in page.items), page.total, page.limit, page.offset)

    async def check_storage(self) -> None:
        """Raises where files of persistent sessions could not be kept now."""
        await self._deps.snapshots.check()

    async def health(self, session_id: str, owner: str = "") -> Health:
        """As it is seen now."""
        session = await self._lifecycle.find(session_id, owner)
        live = self._deps.registry.open.get(session_id)
        return health.check_row(session) if live is None else health.check_live(live)

    async def events(self, session_id: str, limit: int = 50, offset: int = 0, owner: str = "") -> Page[AuditEntry]:
        """What happened to it, newest first: changes of its state, of its health, and what was done to mend it."""
        await self._lifecycle.find(session_id, owner)
        return await self._store.audit.list(AuditFilter(kind="session", subject=session_id), limit, offset)

    async def sweep(self) -> SweepReport:
        """What the janitor does every now and then, now."""
        await self._janitor.beat()
        await self._janitor.supervise()
        return await self._janitor.sweep()

    # How it is done.

    async def _terminal(self, execution_id: str, owner: str) -> Terminal:
        execution = await self.execution(execution_id, owner)
        one = self._executions.find(execution_id)
        if one is None or one.terminal is None:
            told = "has ended" if execution.state.ended else "has no terminal"
            raise Conflict(f"the execution {execution_id!r} {told}: nothing can be typed there")
        live = self._deps.registry.open.get(execution.session)
        if live is not None:
            live.check_running()
            live.touch()
        return one.terminal

    async def _submit(self, session_id: str, spec: ExecutionSpec, owner: str) -> LiveExecution | Execution:
        live = await self._lifecycle.live(session_id, owner)
        return await self._executions.submit(live, spec, owner)

    async def _furnish(self, live: LiveSession, spec: SessionSpec) -> None:
        try:
            await self._dependencies.install(live, spec.dependencies, spec.index_url, spec.install_timeout_s)
        except SandboxError as error:
            if spec.fail_on_dependency_error:
                await self._lifecycle.apply(live.id, machine.OpenFailed(str(error)), live.session.owner)
                return
        await self._lifecycle.apply(live.id, machine.Opened(), live.session.owner)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, reason: str) -> None:
        """Everything that runs is stopped and written down. Persistent sessions go on with the next server."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(self._let_go(live, reason) for live in list(self._deps.registry.open.values())))
        await self._janitor.note_activity()
        self._executions.forget_all()

    async def _let_go(self, live: LiveSession, reason: str) -> None:
        """What a context wrote since its last execution is kept as well."""
        if live.session.mode is SessionMode.persistent:
            with contextlib.suppress(SandboxError, TimeoutError):
                async with asyncio.timeout(_SAVE_WITHIN_S):
                    await self._deps.snapshots.save(live.id, live.home.files, live.session.owner)
        await self._lifecycle.close(live, reason)
        if live.session.mode is SessionMode.ephemeral:
            with contextlib.suppress(SandboxError):  # where it cannot be written, the next server finds it
                await self._lifecycle.apply(live.id, machine.Lost("the server was shut down, and its files with it"))


@dataclasses.dataclass(frozen=True, slots=True)
class _SessionQuota:
    """What uploads into a session are charged to."""

    deps: SessionDeps
    live: LiveSession

    def check(self) -> None:
        storage.check_capacity(self.deps, self.live)

    def measure(self) -> None:
        storage.measure(self.deps, self.live)

    def open_upload(self) -> Charge:
        return self.deps.ledger.open(StorageKind.uploads, self.live.session.owner)


def box_record(session: Session) -> BoxRecord:
    return BoxRecord(
        id=session.box or f"box_of_{session.id}"[:128],
        session=session.id,
        template=session.template,
        backend=session.backend,
        node=session.node,
        name=f"sandbox-{session.id}"[:128],
        state=_BOX_STATES.get(session.state, BoxState.exited),
        cpu_cores=session.resources.cpu_cores,
        memory_mb=session.resources.memory_bytes // MIB,
        disk_mb=session.resources.disk_bytes // MIB,
        exit_reason=session.state if session.state.ended else "",
        created_ms=session.created_ms,
        updated_ms=session.updated_ms or timestamps.now_ms(),
        started_ms=session.started_ms,
        exited_ms=session.completed_ms,
    )
