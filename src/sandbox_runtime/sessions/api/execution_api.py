"""Executions and their terminals, as clients use them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from sandbox_runtime.engine.terminals import Size, Terminal
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.model import Artifact, Execution
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.executions.output import OutputPiece, parse_offsets, stored_pieces
from sandbox_runtime.sessions.executions.runner import CANCELLED
from sandbox_runtime.sessions.registry import LiveExecution
from sandbox_runtime.sessions.specs import ExecutionSpec
from sandbox_runtime.store import ArtifactFilter, ExecutionFilter, Page

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

MAX_WAIT_S = 3600.0
_MAX_ARTIFACTS = 1000


class ExecutionApi:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle, executor: Executor) -> None:
        self._deps = deps
        self._lifecycle = lifecycle
        self._executor = executor

    async def submit(self, session_id: str, spec: ExecutionSpec, owner: str = "") -> Execution:
        """Start an execution and return its row as soon as that is stored."""
        live = await self._lifecycle.live_sessions.get(session_id, owner)
        execution = await self._executor.submit(live, spec, owner)
        return execution.row if isinstance(execution, LiveExecution) else execution

    async def run(self, session_id: str, spec: ExecutionSpec, *, wait_s: float = MAX_WAIT_S, owner: str = "") -> Execution:
        """Start an execution and return it when it has ended, or as it is after `wait_s`: then it continues."""
        live = await self._lifecycle.live_sessions.get(session_id, owner)
        execution = await self._executor.start(live, spec, owner)
        return await self._executor.wait(execution, wait_s) if isinstance(execution, LiveExecution) else execution

    async def get(self, execution_id: str, owner: str = "") -> Execution:
        execution = await self._deps.store.executions.get(execution_id)
        if owner:
            await self._check_owner(execution, owner)
        return execution

    async def wait(self, execution_id: str, wait_s: float, owner: str = "") -> Execution:
        """Return the execution when it has ended, or as it is after `wait_s`."""
        row = await self.get(execution_id, owner)
        execution = self._executor.find(execution_id)
        return row if execution is None or row.state.ended else await self._executor.wait(execution, wait_s)

    async def list(self, where: ExecutionFilter, limit: int = 50, offset: int = 0, owner: str = "") -> Page[Execution]:
        """Return a page. An owner must name a session in the filter; raises InvalidRequest otherwise."""
        if where.session is not None:
            await self._deps.find_session(where.session, owner)
        elif owner:
            raise InvalidRequest("executions are listed per session: name a session")
        return await self._deps.store.executions.list(where, limit, offset)

    async def latest(self, session_id: str, owner: str = "") -> Execution:
        """Return the newest execution of a session. Raises NotFound if it has none."""
        await self._deps.find_session(session_id, owner)
        execution = await self._deps.store.executions.latest(session_id)
        if execution is None:
            raise NotFound(f"the session {session_id!r} has no executions")
        return execution

    async def artifacts(self, execution_id: str, owner: str = "") -> tuple[Artifact, ...]:
        return await self.artifacts_of(await self.get(execution_id, owner))

    async def artifacts_of(self, row: Execution) -> tuple[Artifact, ...]:
        """Return the artifacts of an execution whose owner was checked, sorted by path."""
        execution = self._executor.find(row.id)
        if execution is not None and execution.done.done():
            return execution.artifacts
        page = await self._deps.store.artifacts.list(ArtifactFilter(execution=row.id), limit=_MAX_ARTIFACTS)
        return tuple(sorted(page.items, key=lambda artifact: artifact.path))

    async def cancel(self, execution_id: str, owner: str = "") -> Execution:
        """Cancel an execution and return it when it has ended. One that has ended already is returned unchanged."""
        await self.get(execution_id, owner)
        await self._executor.cancel(execution_id, CANCELLED)
        await self._deps.store.audit.add(entry(owner, "cancel", "execution", execution_id))
        return await self._deps.store.executions.get(execution_id)

    async def output(
        self, execution_id: str, stream: str = "both", offset: int = 0, owner: str = ""
    ) -> AsyncIterator[OutputPiece]:
        """Yield output from that byte on until the execution has ended. stream: stdout, stderr or both."""
        async for piece in self.follow(execution_id, parse_offsets(stream, offset), owner):
            yield piece

    async def follow(self, execution_id: str, offsets: dict[str, int], owner: str = "") -> AsyncIterator[OutputPiece]:
        """As `output`, with one offset for each requested stream."""
        row = await self.get(execution_id, owner)
        execution = self._executor.find(execution_id)
        if execution is not None:
            async for piece in execution.output.follow(offsets):
                yield piece
            return
        for piece in stored_pieces(row, offsets):
            yield piece

    async def _check_owner(self, execution: Execution, owner: str) -> None:
        """Raise NotFound for an execution of another owner, with the message for a missing one."""
        try:
            await self._deps.find_session(execution.session, owner)
        except NotFound:
            raise NotFound(f"there is no execution {execution.id!r}") from None


class TerminalApi:
    """Input and size of terminals. What appears on a terminal is the output of its execution."""

    def __init__(self, deps: SessionDeps, executions: ExecutionApi, executor: Executor) -> None:
        self._deps = deps
        self._executions = executions
        self._executor = executor

    async def send_keys(self, execution_id: str, keys: bytes, owner: str = "") -> None:
        await (await self._terminal(execution_id, owner)).send_keys(keys)

    async def resize(self, execution_id: str, size: Size, owner: str = "") -> None:
        await (await self._terminal(execution_id, owner)).resize(size)

    async def _terminal(self, execution_id: str, owner: str) -> Terminal:
        row = await self._executions.get(execution_id, owner)
        execution = self._executor.find(execution_id)
        if execution is None or execution.terminal is None:
            reason = "has ended" if row.state.ended else "has no terminal"
            raise Conflict(f"the execution {execution_id!r} {reason}: it takes no input")
        live = self._deps.registry.open.get(row.session)
        if live is not None:
            live.check_running()
            live.touch()
        return execution.terminal
