"""Sandboxes in this process: each is a session of an open platform."""

from __future__ import annotations

import codecs
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Sequence

import anyio

from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.hosts.port import (
    MAX_LISTED,
    TESTS_CLASS,
    FileView,
    JudgeOutcome,
    RunOutcome,
    RunSpec,
    SandboxSpec,
    SandboxView,
    Sink,
    Solution,
    start_or_undo,
)
from sandbox_runtime.model import Dependency, Execution, ExecutionKind, Options, Resources, Session
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.store import SessionFilter
from sandbox_runtime.workspace.listing import Entry, EntryKind

_QUICK_S = 0.1
"""Runs that end within this time return without streaming their output."""
_QUEUE_S = 300.0


class LocalHost:
    """- `owner`: "" sees every sandbox.
    - `max_sandboxes`: concurrent sandboxes of this owner; None: as in the settings."""

    def __init__(self, platform: Platform, owner: str = "", max_sandboxes: int | None = None) -> None:
        self._platform = platform
        self._owner = owner
        self._max_sandboxes = max_sandboxes

    @property
    def _sessions(self) -> Sessions:
        return self._platform.sessions

    async def create(self, spec: SandboxSpec) -> SandboxView:
        session = SessionSpec(id=spec.id, env=spec.env, network=spec.network, resources=await self._resources(spec))
        return _view(await self._sessions.create(session, self._owner, max_sessions=self._max_sandboxes))

    async def list(self) -> Sequence[SandboxView]:
        page = await self._sessions.list(SessionFilter(states=LIVE_SESSION_STATES), MAX_LISTED, 0, self._owner)
        return sorted((_view(session) for session in page.items), key=lambda view: view.created_ms)

    async def get(self, sandbox_id: str) -> SandboxView:
        return _view(await self._sessions.get(sandbox_id, self._owner))

    async def terminate(self, sandbox_id: str) -> None:
        await self._sessions.terminate(sandbox_id, self._owner)

    async def run(self, sandbox_id: str, spec: RunSpec, sink: Sink | None = None) -> RunOutcome:
        execution = await start_or_undo(
            self._sessions.executions.run(sandbox_id, _execution_spec(spec), wait_s=_QUICK_S, owner=self._owner),
            lambda execution: self._sessions.executions.cancel(execution.id, self._owner),
        )
        if execution.state.ended:
            return _to_outcome(execution)
        try:
            return _to_outcome(await self._follow(execution, spec, sink))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._sessions.executions.cancel(execution.id, self._owner)
            raise

    async def _follow(self, execution: Execution, spec: RunSpec, sink: Sink | None) -> Execution:
        add_bytes = _decode(sink)
        if add_bytes is not None:
            async for piece in self._sessions.executions.output(execution.id, owner=self._owner):
                add_bytes(piece.stream, piece.data)
        return await self._sessions.executions.wait(execution.id, spec.timeout_s + _QUEUE_S, self._owner)

    async def open_context(self, sandbox_id: str) -> str:
        return (await self._sessions.contexts.open(sandbox_id, self._owner)).id

    async def contexts(self, sandbox_id: str) -> Sequence[str]:
        return [view.id for view in await self._sessions.contexts.list(sandbox_id, self._owner)]

    async def fork(self, sandbox_id: str) -> SandboxView:
        return _view((await self._sessions.fork(sandbox_id, 1, self._owner, max_sessions=self._max_sandboxes))[0])

    async def install(
        self, sandbox_id: str, packages: Sequence[tuple[str, str]], timeout_s: float, sink: Sink | None = None
    ) -> Sequence[str]:
        dependencies = [Dependency(name, version) for name, version in packages]
        session = await self._sessions.install(
            sandbox_id, dependencies, timeout_s=timeout_s, sink=_decode(sink), owner=self._owner
        )
        return _view(session).packages

    async def read(self, sandbox_id: str, name: str, max_bytes: int) -> bytes:
        part = await (await self._sessions.files.open(sandbox_id, self._owner)).read(name, 0, max_bytes)
        if not part.is_end:
            raise InvalidRequest(f"{name!r} has {part.size_bytes} bytes; the limit is {max_bytes}")
        return part.content

    async def write(self, sandbox_id: str, name: str, content: bytes, mode: int = 0o644) -> FileView:
        files = await self._sessions.files.open(sandbox_id, self._owner)
        written = await files.write(name, content, mode=mode)
        await self._sessions.files.save(sandbox_id, self._owner)
        return _file(written, name)

    async def remove(self, sandbox_id: str, name: str) -> None:
        await (await self._sessions.files.open(sandbox_id, self._owner)).delete(name, recursive=True)
        await self._sessions.files.save(sandbox_id, self._owner)

    async def stat(self, sandbox_id: str, name: str) -> FileView:
        return _file(await (await self._sessions.files.open(sandbox_id, self._owner)).stat(name), name)

    async def files(self, sandbox_id: str, folder: str = "", *, recursive: bool = False) -> tuple[Sequence[FileView], bool]:
        files = await self._sessions.files.open(sandbox_id, self._owner)
        listing = await files.list(folder, recursive=recursive, limit=MAX_LISTED)
        before = f"{folder}/" if folder else ""
        return [_file(entry, before + entry.name) for entry in listing.entries], listing.truncated

    async def changes(self, sandbox_id: str) -> AsyncIterator[Sequence[str]]:
        async with (await self._sessions.files.open(sandbox_id, self._owner)).watch() as watch:
            async for changed in watch:
                yield [change.name for change in changed]

    async def judge(self, solution: Solution) -> JudgeOutcome:
        options = Options(
            dataset="mcp", language=solution.language, run_timeout_s=solution.timeout_s, extra={"run_all_cases": True}
        )
        verdict = await self._platform.judge.submit(
            "mcp", 0, solution.fenced, options, provided=solution.row, dataset_type=TESTS_CLASS
        )
        cases = tuple({"passed": case.passed, "reason": str(case.reason or "")} for case in verdict.cases)
        return JudgeOutcome(verdict.accepted, str(verdict.reason), verdict.message, cases)

    async def _resources(self, spec: SandboxSpec) -> Resources | None:
        requested = {"cpu_cores": spec.cpu_cores, "memory_bytes": spec.memory_bytes, "disk_bytes": spec.disk_bytes}
        changes = {name: value for name, value in requested.items() if value is not None}
        if not changes:
            return None
        template = await self._sessions.templates.get_active(self._platform.settings.session_template)
        return dataclasses.replace(template.resources, **changes)  # type: ignore[arg-type]


def _decode(sink: Sink | None) -> Callable[[str, bytes], None] | None:
    """Return a sink for bytes. Characters split across pieces are decoded once complete."""
    if sink is None:
        return None
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    return lambda stream, piece: sink(stream, decoders[stream].decode(piece))


def _execution_spec(spec: RunSpec) -> ExecutionSpec:
    if spec.context:
        return ExecutionSpec(code=spec.code, kind=ExecutionKind.cell, context=spec.context, timeout_s=spec.timeout_s)
    if spec.argv:
        return ExecutionSpec(
            code=spec.argv[0],
            args=spec.argv[1:],
            kind=ExecutionKind.command,
            language="shell",
            stdin=spec.stdin,
            env=spec.env,
            timeout_s=spec.timeout_s,
        )
    return ExecutionSpec(code=spec.code, language=spec.language, stdin=spec.stdin, env=spec.env, timeout_s=spec.timeout_s)


def _to_outcome(execution: Execution) -> RunOutcome:
    return RunOutcome(
        id=execution.id,
        state=execution.state,
        exit_code=execution.exit_code,
        stdout=execution.stdout,
        stderr=execution.stderr,
        dropped_bytes=execution.stdout_dropped_bytes + execution.stderr_dropped_bytes,
        error=execution.error,
        ending=execution.ending or "",
        wall_s=(execution.metering.duration_ms if execution.metering else 0.0) / 1000,
        displays=tuple(json.loads(execution.displays_json)) if execution.displays_json else (),
    )


def _view(session: Session) -> SandboxView:
    return SandboxView(
        id=session.id,
        state=session.state,
        created_ms=session.created_ms,
        updated_ms=session.updated_ms or session.created_ms,
        env=session.env,
        cpu_cores=session.resources.cpu_cores,
        memory_bytes=session.resources.memory_bytes,
        disk_bytes=session.resources.disk_bytes,
        network=session.network,
        packages=tuple(f"{package.name}{package.version}" for package in session.installation.installed),
    )


def _file(entry: Entry, name: str) -> FileView:
    return FileView(name, entry.size_bytes, entry.kind is EntryKind.folder, entry.mode, entry.modified_ns // 1_000_000)
