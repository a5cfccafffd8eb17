"""What nodes elsewhere tell of sessions and executions that run there.

Each report may come twice, late or not at all: what has ended stays as it ended. Of what runs on this server nobody else can tell
the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import Artifact, Execution, ExecutionState, Session, SessionState
from sandbox_runtime.model.execution import truncate_text
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

ACTOR = "node"
_BOX_NAME = "sandbox-"
_IN_FLIGHT = (ExecutionState.pending, ExecutionState.running)


class Reports:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle, executor: Executor) -> None:
        self._deps = deps
        self._lifecycle = lifecycle
        self._executor = executor

    async def find_session(self, box: str, name: str = "") -> str:
        """The session of a box, by the box's id or by its name, which has the session's id in it."""
        row = await self._deps.store.boxes.find(box)
        if row is not None and row.session:
            return row.session
        for text in (name, box):
            if text.startswith(_BOX_NAME):
                return text.removeprefix(_BOX_NAME)
        raise NotFound(f"there is no box {box!r}")

    async def report_ready(self, session_id: str, box: str) -> Session:
        """Its box can be used: the session runs. One that runs already is left as it is."""
        session = await self._deps.store.sessions.get(session_id)
        if session.state is SessionState.running:
            return session
        return await self._lifecycle.apply(session_id, machine.Opened(box), ACTOR)

    async def report_exit(self, session_id: str, exit_code: int, reason: str) -> Session:
        """Its box is gone. A session that had ended is left as it is."""
        session = await self._deps.store.sessions.get(session_id)
        if session.state.ended:
            return session
        return await self._lifecycle.apply(session_id, machine.Finished(exit_code, reason), ACTOR)

    async def report_heartbeat(self, execution_id: str) -> None:
        await self._deps.store.executions.get(execution_id)
        await self._deps.store.executions.record_heartbeat((execution_id,), timestamps.now_ms())

    async def report_running(self, execution_id: str, started_ms: int | None) -> Execution:
        self._check_remote(execution_id)
        now_ms = timestamps.now_ms()
        return await self._deps.store.executions.update_if(
            execution_id,
            _IN_FLIGHT,
            by=ACTOR,
            state=ExecutionState.running,
            started_ms=started_ms or now_ms,
            heartbeat_ms=now_ms,
        )

    async def report_end(self, execution_id: str, state: ExecutionState, **fields: Any) -> tuple[Execution, bool]:
        """How it ended, and whether that is news. Conflict where it had ended in another way."""
        row = await self._deps.store.executions.get(execution_id)
        if row.state.ended:
            if row.state is not state:
                raise Conflict(f"the execution {execution_id!r} has ended as {row.state}, not as {state}")
            return row, False
        self._check_remote(execution_id)
        audit = entry(ACTOR, "report", "execution", execution_id, state=state)
        row = await self._deps.store.executions.update_if(
            execution_id,
            _IN_FLIGHT,
            by=ACTOR,
            audit=audit,
            state=state,
            **{"completed_ms": timestamps.now_ms(), **_truncate_output(fields)},
        )
        return row, True

    async def report_artifacts(self, execution_id: str, artifacts: Sequence[Artifact]) -> None:
        await self._deps.store.executions.get(execution_id)
        await self._deps.store.artifacts.add_all(artifacts)
        execution = self._executor.find(execution_id)
        if execution is not None:
            execution.artifacts = tuple(sorted((*execution.artifacts, *artifacts), key=lambda artifact: artifact.path))

    def _check_remote(self, execution_id: str) -> None:
        execution = self._executor.find(execution_id)
        if execution is not None and not execution.done.done():
            raise Conflict(f"the execution {execution_id!r} runs on this server, which tells its end itself")


def _truncate_output(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("stdout", "stderr"):
        if name in fields:
            fields[name], fields[f"{name}_dropped_bytes"] = truncate_text(fields[name])
    return fields
