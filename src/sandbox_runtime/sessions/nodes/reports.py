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
from sandbox_runtime.model.execution import keep
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions.executor import Executions
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

ACTOR = "node"
_BOX_NAME = "sandbox-"
_UNDER_WAY = (ExecutionState.pending, ExecutionState.running)


class Reports:
    def __init__(self, ground: Ground, lifecycle: Lifecycle, executions: Executions) -> None:
        self._ground = ground
        self._lifecycle = lifecycle
        self._executions = executions

    async def session_of(self, box: str, name: str = "") -> str:
        """The session of a box, by the box's id or by its name, which has the session's id in it."""
        row = await self._ground.store.boxes.find(box)
        if row is not None and row.session:
            return row.session
        for word in (name, box):
            if word.startswith(_BOX_NAME):
                return word.removeprefix(_BOX_NAME)
        raise NotFound(f"there is no box {box!r}")

    async def ready(self, session_id: str, box: str) -> Session:
        """Its box can be used: the session runs. One that runs already is left as it is."""
        session = await self._ground.store.sessions.get(session_id)
        if session.state is SessionState.running:
            return session
        return await self._lifecycle.apply(session_id, machine.Opened(box), ACTOR)

    async def exited(self, session_id: str, exit_code: int, reason: str) -> Session:
        """Its box is gone. A session that had ended is left as it is."""
        session = await self._ground.store.sessions.get(session_id)
        if session.state.ended:
            return session
        return await self._lifecycle.apply(session_id, machine.Finished(exit_code, reason), ACTOR)

    async def beat(self, execution_id: str) -> None:
        await self._ground.store.executions.get(execution_id)
        await self._ground.store.executions.record_heartbeat((execution_id,), timestamps.now_ms())

    async def running(self, execution_id: str, started_ms: int | None) -> Execution:
        self._refuse_ours(execution_id)
        now_ms = timestamps.now_ms()
        return await self._ground.store.executions.update_if(
            execution_id,
            _UNDER_WAY,
            by=ACTOR,
            state=ExecutionState.running,
            started_ms=started_ms or now_ms,
            heartbeat_ms=now_ms,
        )

    async def ended(self, execution_id: str, state: ExecutionState, **fields: Any) -> tuple[Execution, bool]:
        """How it ended, and whether that is news. Conflict where it had ended in another way."""
        known = await self._ground.store.executions.get(execution_id)
        if known.state.ended:
            if known.state is not state:
                raise Conflict(f"the execution {execution_id!r} has ended as {known.state}, not as {state}")
            return known, False
        self._refuse_ours(execution_id)
        told = entry(ACTOR, "report", "execution", execution_id, state=state)
        new = await self._ground.store.executions.update_if(
            execution_id,
            _UNDER_WAY,
            by=ACTOR,
            audit=told,
            state=state,
            **{"completed_ms": timestamps.now_ms(), **_bounded(fields)},
        )
        return new, True

    async def left(self, execution_id: str, found: Sequence[Artifact]) -> None:
        await self._ground.store.executions.get(execution_id)
        await self._ground.store.artifacts.add_all(found)
        one = self._executions.found(execution_id)
        if one is not None:
            one.artifacts = tuple(sorted((*one.artifacts, *found), key=lambda artifact: artifact.path))

    def _refuse_ours(self, execution_id: str) -> None:
        one = self._executions.found(execution_id)
        if one is not None and not one.done.done():
            raise Conflict(f"the execution {execution_id!r} runs on this server, which tells its end itself")


def _bounded(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("stdout", "stderr"):
        if name in fields:
            fields[name], fields[f"{name}_dropped_bytes"] = keep(fields[name])
    return fields
